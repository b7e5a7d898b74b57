// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "chakra_core/trace.hpp"

namespace chakra::detail {

/// Rows of one minimal cycle for each strongly connected component that has a cycle, in dependency order
/// (each row waits for the next), beginning with its smallest row. `follow` says which dependencies count. At most
/// `most` cycles, ascending.
std::vector<std::vector<NodeIndex>> minimal_cycles(const Trace& trace, bool follow_data, bool follow_ctrl,
                                                   std::size_t most);

/// "1 -> 2 -> 1" in ids; a long cycle is shortened.
std::string describe_cycle(const Trace& trace, const std::vector<NodeIndex>& cycle);
std::string describe_cycle(const std::vector<NodeId>& cycle);

std::vector<NodeId> ids_of(const Trace& trace, const std::vector<NodeIndex>& rows);

}  // namespace chakra::detail
