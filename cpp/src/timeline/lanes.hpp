// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace chakra::timeline {

/// Slices of one lane, as indices into the columns, by ascending start (the longer one first where
/// starts are equal). Any two of them are apart, or one holds the other.
using Lane = std::vector<std::uint32_t>;

/// Splits the slices of one track into lanes. The first lane takes every slice that nests with what it
/// already has; the others are sequential. `slices` are indices into the columns.
std::vector<Lane> split_into_lanes(Lane slices, std::span<const std::uint64_t> start_ns,
                                   std::span<const std::uint64_t> end_ns);

}  // namespace chakra::timeline
