// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "wire/decode.hpp"

namespace chakra::wire {

/// Decodes a Node message that is written as all known writers do: only fields of the schema, each singular field with
/// its own wire type, attributes as name and then value. Returns false for anything else, whether legal or not; `node`
/// then holds nothing of use and decode_any() is to say what the message is. Where it returns true, both agree.
bool decode_usual(std::string_view message, DecodedNode& node);

}  // namespace chakra::wire
