// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace chakra::io {

/// Bytes as text in the standard alphabet of RFC 4648, padded.
void append_base64(std::string& out, std::string_view bytes);

/// Also takes the alphabet for URLs and missing padding, as protobuf's JSON does. nullopt for anything else.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace chakra::io
