// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <unordered_map>

#include "chakra_core/trace.hpp"
#include "sim/group_table.hpp"

namespace chakra::sim {

/// The order in which a rank's host launched the collectives of each group, for those that no stream
/// runs. The workers of gloo and MPI take them in this order, which all ranks share; which worker wakes
/// up first differs from rank to rank.
struct LaunchOrder {
  struct Turn {
    std::uint32_t group;
    std::uint32_t number;  ///< from 0 on, within the group
  };
  std::unordered_map<NodeIndex, Turn> turns;  ///< of collectives, by row
};

/// The dependencies of the trace say what was recorded of its communication: it was converted from PyTorch.
bool is_converted(const Trace& trace);

/// Empty unless the trace is converted.
LaunchOrder find_launch_order(const Trace& trace, const GroupTable& groups);

}  // namespace chakra::sim
