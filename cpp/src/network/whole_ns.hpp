// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>

namespace chakra {

/// Cuts to whole ns; 2^64 - 1 for everything beyond. Precondition: not negative, no NaN.
constexpr std::uint64_t whole_ns(double ns) noexcept {
  constexpr double limit = 18446744073709551616.0;
  return ns < limit ? static_cast<std::uint64_t>(ns) : std::numeric_limits<std::uint64_t>::max();
}

}  // namespace chakra
