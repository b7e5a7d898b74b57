// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "wire/little_endian.hpp"

namespace chakra::wire {

/// At most 32 bytes of text as four words with zeros behind the text. All that is done with them takes the same steps
/// whatever the length, which comes in an order that the processor cannot foresee.
class ShortText {
 public:
  static constexpr std::size_t most_bytes = 32;

  ShortText() = default;
  /// `size` is at most `most_bytes`; as many bytes from `at` on must be readable.
  ShortText(const char* at, std::size_t size) noexcept : size_(size) {
    const char* const mask = text_then_zeros.data() + most_bytes - size;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      words_[i] = load_little_endian(at + 8 * i) & load_little_endian(mask + 8 * i);
    }
  }

  bool is_ascii() const noexcept {
    return ((words_[0] | words_[1] | words_[2] | words_[3]) & 0x8080808080808080ULL) == 0;
  }
  std::uint64_t hash() const noexcept {
    constexpr std::uint64_t multiplier = 0x9E3779B97F4A7C15ULL;
    const std::uint64_t even = (words_[0] ^ size_) * multiplier + words_[2];
    const std::uint64_t odd = (words_[1] ^ std::rotl(words_[3], 29)) * (multiplier ^ 0xFFFF0000);
    return (even ^ std::rotl(odd, 32)) * multiplier;
  }
  bool operator==(const ShortText&) const = default;

 private:
  static constexpr std::array<char, 2 * most_bytes> text_then_zeros = [] {
    std::array<char, 2 * most_bytes> mask{};
    for (std::size_t i = 0; i < most_bytes; ++i) {
      mask[i] = '\xFF';
    }
    return mask;
  }();

  std::array<std::uint64_t, most_bytes / 8> words_{};
  std::size_t size_ = 0;
};

}  // namespace chakra::wire
