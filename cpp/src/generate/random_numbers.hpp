// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace chakra::generate {

/// SplitMix64: the same numbers on every machine, which the distributions of the standard library do not promise.
class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t value = state_ += 0x9e3779b97f4a7c15U;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31);
  }

  /// Less than `bound`, which is not 0. Off an even distribution by at most bound / 2^64.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

 private:
  std::uint64_t state_;
};

}  // namespace chakra::generate
