// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "chakra_core/simulator.hpp"
#include "sim/collective_node.hpp"
#include "sim/group_table.hpp"
#include "sim/phase_loads.hpp"
#include "sim/slot_pool.hpp"

namespace chakra::sim {

/// Keeps the books of what was communicated: by collective, by group, and by dimension of the network. What it says
/// does not depend on how phases are carried out.
class CommunicationLog {
 public:
  /// `copies`: ranks that each one simulated stands for.
  CommunicationLog(const SimulationConfig& config, const GroupTable& groups, std::uint32_t copies);

  /// A rank, which has this place among the simulated members of the group, issues a collective. Returns its number.
  std::uint32_t issued(const CollectiveNode& node, std::uint32_t place, std::uint64_t now);
  /// A member of the collective is through.
  void ended(std::uint32_t collective, std::uint64_t now);
  /// A rank begins or ends a phase of one of the collective's chunks.
  void phase_begun(std::uint32_t collective, const Phase& phase, std::uint64_t now);
  void phase_ended(std::uint32_t collective, const Phase& phase, std::uint64_t now);
  /// A message outside of collectives.
  void sent(std::uint32_t src, std::uint32_t dst, std::uint64_t bytes) { loads_.add(src, dst, 1, bytes, totals_); }

  /// The message, which was sent at `start`, is there.
  void landed(std::uint32_t src, std::uint32_t dst, std::uint64_t bytes, std::uint64_t start, std::uint64_t now);

  /// Fills the columns of collectives, groups and dimensions.
  void collect(SimulationResult& result);

 private:
  struct Activity {
    std::uint64_t start = ~std::uint64_t{0};
    std::uint64_t end = 0;
    std::uint64_t link_bytes = 0;
  };
  struct Collective {
    std::uint32_t group = 0;
    std::uint32_t number = 0;
    CollectiveType type = CollectiveType::all_reduce;
    std::uint32_t first_rank = 0;
    NodeIndex row = 0;
    std::uint32_t members = 0;  ///< simulated
    std::uint32_t joined = 0;
    std::uint32_t through = 0;
    std::uint64_t size = 0;
    std::uint64_t start = 0;
    std::uint64_t all_in = 0;
    std::vector<Activity> activity = {};  ///< by dimension; only if recorded
  };
  struct GroupState {
    std::vector<std::uint32_t> issued;  ///< by place
    std::deque<std::uint32_t> open;     ///< collectives from number `closed` on
    std::uint32_t closed = 0;           ///< that all members have issued
  };
  struct Totals {
    std::uint64_t collectives = 0;
    std::uint64_t bytes = 0;
    std::uint64_t duration_ns = 0;
  };

  template <class Change>
  void change_activity(std::uint32_t collective, const Phase& phase, const Change& change);
  void add_activity(std::uint32_t collective, std::uint32_t dimension, const Activity& activity);
  std::uint32_t open(const CollectiveNode& node, std::uint32_t number, std::uint64_t now);
  void close(const Collective& collective, std::uint64_t now);
  void fill_dimensions(SimulationResult& result) const;

  const SimulationConfig& config_;
  const GroupTable& groups_;
  std::uint32_t copies_;
  PhaseLoads loads_;
  std::vector<DimensionLoad> totals_;   ///< by dimension
  std::vector<DimensionLoad> message_;  ///< of the one that landed last
  std::vector<GroupState> states_;      ///< by group
  SlotPool<Collective> open_;
  std::map<std::pair<std::uint32_t, CollectiveType>, Totals> group_totals_;
  CollectiveColumns columns_;
  ActivityColumns activity_;
};

/// Puts the columns of collectives and their activity in order.
void sort_communication(SimulationResult& result);

}  // namespace chakra::sim
