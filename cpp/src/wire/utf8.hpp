// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace chakra::wire {

/// Well-formed UTF-8 as the Unicode standard defines it (table 3-7): no surrogates, no overlong forms.
bool is_utf8(std::string_view text) noexcept;

/// The text with U+FFFD for every byte that does not belong to a well-formed sequence.
std::string replace_invalid_utf8(std::string_view text);

}  // namespace chakra::wire
