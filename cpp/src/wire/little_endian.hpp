// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace chakra::wire {

/// Eight bytes as a number, the first in the lowest bits.
inline std::uint64_t load_little_endian(const char* at) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof(word));
  return std::endian::native == std::endian::little ? word : __builtin_bswap64(word);
}

/// The lowest `count` bytes of a word; `count` at most 8.
constexpr std::uint64_t low_bytes(std::uint64_t count) noexcept {
  return count >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * count)) - 1;
}

}  // namespace chakra::wire
