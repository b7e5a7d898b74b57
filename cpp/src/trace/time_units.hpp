// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace chakra::detail {

/// Nanoseconds as the whole microseconds that the schema's times are; halves are rounded up.
constexpr std::uint64_t rounded_micros(std::uint64_t ns) noexcept { return ns / 1000 + (ns % 1000 >= 500 ? 1 : 0); }

}  // namespace chakra::detail
