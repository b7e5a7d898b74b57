// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <span>

#include "chakra_core/simulator.hpp"
#include "sim/group_table.hpp"
#include "sim/lane_plan.hpp"

namespace chakra::sim {

/// One rank was simulated for all, and a phase turns out to be different for some of them.
class NotAlike final : public std::exception {
 public:
  const char* what() const noexcept override { return "the ranks are not alike"; }
};

/// Whether all ranks do the same at the same time, if only their collectives turn out to take the same time for all
/// members (WholePhases sees to that): one rank stands for all of them.
///
/// So it is if all traces are the same but for the names of groups; if nothing is sent but in collectives, and no
/// memory server is shared; if the groups that stand in the same place of the traces divide the ranks among them, and
/// the ways between neighbours in these groups are the same. Linear in the nodes of all distinct traces.
bool are_alike(std::span<const TracePtr> traces, const SimulationConfig& config, const GroupTable& groups,
               const LanePlans& plans);

/// Turns the result of the first rank into one of all of them, but for `node_places`.
void repeat_for_all(SimulationResult& result, std::span<const TracePtr> traces, const GroupTable& groups);

}  // namespace chakra::sim
