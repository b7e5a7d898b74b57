// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// UTF-8 as the Unicode standard defines it (table 3-7): no surrogates, no overlong forms.
namespace chakra::wire {

/// A code point and the number of bytes it takes; valid is false for a maximal ill-formed part, to be replaced as one.
struct Utf8Step {
  std::uint32_t code_point = 0;
  std::uint32_t length = 1;
  bool valid = false;
};

/// Decodes the first code point of `text`, which must not be empty.
Utf8Step decode_utf8(std::string_view text) noexcept;

/// Offset of the first byte that is not well-formed UTF-8; npos if there is none.
std::size_t find_invalid_utf8(std::string_view text) noexcept;

bool is_utf8(std::string_view text) noexcept;

/// The text with U+FFFD for every maximal ill-formed part, as Python's errors="replace" has it.
std::string replace_invalid_utf8(std::string_view text);

void append_utf8(std::string& out, std::uint32_t code_point);

}  // namespace chakra::wire
