// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "sim/chunk.hpp"
#include "sim/collective_runner.hpp"
#include "sim/group_table.hpp"
#include "sim/node_runner.hpp"
#include "sim/transport.hpp"
#include "sim/whole_phases.hpp"

namespace chakra::sim {

/// Why nothing can go on: for each rank the nodes that are left and what each waits for, and both
/// sides of messages that did not meet. Bounded, whatever the size of the simulation.
std::string stall_report(const NodeRunner& nodes, const CollectiveRunner& collectives, const WholePhases& phases,
                         const Transport& transport, const ChunkPool& chunks, const GroupTable& groups);

}  // namespace chakra::sim
