// SPDX-License-Identifier: MIT
#include "wire/utf8.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace chakra::wire {

namespace {

bool is_between(unsigned char byte, unsigned low, unsigned high) noexcept { return byte >= low && byte <= high; }

/// Length of the well-formed sequence that starts at `at`, 0 if there is none.
std::size_t sequence_length(const unsigned char* at, std::size_t left) noexcept {
  const unsigned char lead = at[0];
  if (lead < 0x80) {
    return 1;
  }
  if (is_between(lead, 0xC2, 0xDF)) {
    return left >= 2 && is_between(at[1], 0x80, 0xBF) ? 2 : 0;
  }
  if (is_between(lead, 0xE0, 0xEF)) {
    const unsigned low = lead == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = lead == 0xED ? 0x9F : 0xBF;
    return left >= 3 && is_between(at[1], low, high) && is_between(at[2], 0x80, 0xBF) ? 3 : 0;
  }
  if (is_between(lead, 0xF0, 0xF4)) {
    const unsigned low = lead == 0xF0 ? 0x90 : 0x80;
    const unsigned high = lead == 0xF4 ? 0x8F : 0xBF;
    return left >= 4 && is_between(at[1], low, high) && is_between(at[2], 0x80, 0xBF) && is_between(at[3], 0x80, 0xBF)
               ? 4
               : 0;
  }
  return 0;
}

std::size_t skip_ascii(const unsigned char* bytes, std::size_t at, std::size_t size) noexcept {
  constexpr std::uint64_t high_bits = 0x8080808080808080ULL;
  while (at + 8 <= size) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, 8);
    if ((word & high_bits) != 0) {
      break;
    }
    at += 8;
  }
  return at;
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t at = 0;
  while ((at = skip_ascii(bytes, at, text.size())) < text.size()) {
    const std::size_t length = sequence_length(bytes + at, text.size() - at);
    if (length == 0) {
      return false;
    }
    at += length;
  }
  return true;
}

std::string replace_invalid_utf8(std::string_view text) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  std::string mended;
  mended.reserve(text.size() + 8);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(bytes + at, text.size() - at);
    if (length == 0) {
      mended += "\xEF\xBF\xBD";
      ++at;
    } else {
      mended.append(text, at, length);
      at += length;
    }
  }
  return mended;
}

}  // namespace chakra::wire
