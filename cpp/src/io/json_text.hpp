// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace chakra::io {

/// Appends a JSON string with its quotes. Bytes that are no UTF-8 become U+FFFD.
void append_json_string(std::string& out, std::string_view text);

/// The same for text that is known to be UTF-8.
void append_json_utf8(std::string& out, std::string_view text);

/// Appends the shortest text that reads back as the same double, always with a point or an exponent. Only for finite
/// values.
void append_json_double(std::string& out, double value);

}  // namespace chakra::io
