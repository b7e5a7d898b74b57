// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

#include "chakra_core/trace.hpp"

namespace chakra::detail {

/// The nodes of a trace in the order of their ids. Both empty where the rows are in that order already.
struct IdOrder {
  std::span<const NodeIndex> row_of_rank;
  std::span<const std::uint32_t> rank_of_row;
};

/// Made on first use, and kept by the trace. Safe to call from any number of threads.
IdOrder id_order(const Trace& trace);

/// Trace::children() with ranks in the order of ids for rows, on both sides: neighbours in the walk of a feeder are
/// neighbours in memory whatever the order of the file. Made on first use, and kept by the trace.
Adjacency children_by_id(const Trace& trace, DependencyKind kind);

}  // namespace chakra::detail
