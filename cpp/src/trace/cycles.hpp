// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "chakra_core/trace.hpp"

namespace chakra::detail {

/// Rows of one minimal cycle for each strongly connected component that has a cycle, in dependency order
/// (each row waits for the next). `follow` says which dependencies count. At most `most` cycles.
std::vector<std::vector<NodeIndex>> minimal_cycles(const Trace& trace, bool follow_data, bool follow_ctrl,
                                                   std::size_t most);

}  // namespace chakra::detail
