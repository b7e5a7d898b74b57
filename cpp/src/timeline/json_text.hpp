// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace chakra::timeline {

/// Appends a JSON string with its quotes. Bytes that are no UTF-8 become U+FFFD.
void append_json_string(std::string& out, std::string_view text);

/// Appends nanoseconds as microseconds with exactly three decimals.
void append_microseconds(std::string& out, std::uint64_t nanoseconds);

}  // namespace chakra::timeline
