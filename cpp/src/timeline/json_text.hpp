// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace chakra::timeline {

/// Appends nanoseconds as microseconds with exactly three decimals.
void append_microseconds(std::string& out, std::uint64_t nanoseconds);

}  // namespace chakra::timeline
