// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "chakra_core/attribute.hpp"
#include "wire/decode.hpp"

/// Parts of a Node message without an Attribute or IoInfo in between, for whoever writes many: the same bytes as those
/// of encode.hpp. All is appended.
namespace chakra::wire {

/// `kind`: one that is a varint of the value's bits (int32, int64, uint32, uint64, bool).
void append_integer_attribute(std::string& message, std::string_view name, AttributeKind kind, std::uint64_t bits);
void append_string_attribute(std::string& message, std::string_view name, std::string_view text);
void append_inputs(std::string& message, const IoView& info);
void append_outputs(std::string& message, const IoView& info);

}  // namespace chakra::wire
