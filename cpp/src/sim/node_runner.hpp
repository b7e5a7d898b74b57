// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "chakra_core/feeder.hpp"
#include "chakra_core/simulator.hpp"
#include "sim/collective_runner.hpp"
#include "sim/communication_log.hpp"
#include "sim/compute_times.hpp"
#include "sim/group_table.hpp"
#include "sim/kernel.hpp"
#include "sim/lane_plan.hpp"
#include "sim/rank_clock.hpp"
#include "sim/ready_lanes.hpp"
#include "sim/remote_memory.hpp"
#include "sim/tie_watch.hpp"
#include "sim/transport.hpp"

namespace chakra::sim {

/// Runs the nodes of all ranks: takes them from the feeders, gives them a slot of their lane, hands
/// them to what carries them out, and completes them.
class NodeRunner final : public CollectiveListener {
 public:
  NodeRunner(std::span<const TracePtr> traces, const SimulationConfig& config, const GroupTable& groups,
             const LanePlans& plans, std::uint32_t copies, Kernel& kernel, Transport& transport,
             CollectiveRunner& collectives, TieWatch& ties, CommunicationLog& log, SimulationResult& result,
             Progress* progress);

  /// Issues the nodes that are ready at the start, rank by rank.
  void start();
  /// An action of kind rank_start, late_issue, node_end or collective_end.
  void act(std::uint32_t rank, const Action& action);
  void collective_ended(std::uint32_t rank, NodeIndex row) override {
    complete(rank, row, TieWatch::Origin::collective);
  }
  /// A send or a receive node is over.
  void message_ended(std::uint32_t rank, NodeIndex row);

  /// Every rank is through. Nodes on a cycle count as done in parity mode.
  bool finished() const;
  /// Communication nodes that took their recorded time where none is recorded.
  std::uint64_t untimed_communication() const noexcept { return untimed_communication_; }
  /// Fills the per-rank columns. Throws DependencyError for a cycle, unless parity ignores it.
  void collect();

  // For the report of a stall.
  std::uint32_t ranks() const noexcept { return static_cast<std::uint32_t>(ranks_.size()); }
  const Trace& trace(std::uint32_t rank) const noexcept { return *traces_[rank]; }
  bool is_unfinished(std::uint32_t rank) const noexcept { return !ranks_[rank].is_through(); }
  std::size_t remaining(std::uint32_t rank) const noexcept { return ranks_[rank].feeder.remaining(); }
  std::vector<NodeIndex> running(std::uint32_t rank) const;
  std::vector<NodeIndex> ready(std::uint32_t rank) const { return ranks_[rank].ready.rows(); }
  /// Collectives that wait for one that the host launched before them.
  std::vector<NodeIndex> held(std::uint32_t rank) const;
  std::string lane_name(std::uint32_t rank, NodeIndex row) const;
  /// `rank 1: node 5 "grad" (COMM_SEND_NODE)`
  std::string describe(std::uint32_t rank, NodeIndex row) const;
  std::string describe_node(std::uint32_t rank, NodeIndex row) const;

 private:
  /// Collectives of a group that have to begin in the order of their launch.
  struct Turns {
    std::uint32_t next = 0;
    std::map<std::uint32_t, NodeIndex> held = {};  ///< ready before their turn
  };

  struct Rank {
    Rank(const TracePtr& trace, const LanePlan& lanes)
        : feeder(trace), plan(&lanes), ready(lanes.slots), running(trace->size()) {}
    bool is_through() const noexcept { return running_count == 0 && held_count == 0 && ready.empty(); }

    Feeder feeder;
    const LanePlan* plan;
    ReadyLanes ready;
    std::map<std::uint32_t, Turns> turns = {};  ///< by group
    std::size_t held_count = 0;
    std::vector<bool> running;  ///< by row
    std::size_t running_count = 0;
    RankClock clock = {};
    std::uint64_t charged_ns = 0;  ///< parity: durations that are not exposed communication
    std::uint64_t finish_ns = 0;
    std::size_t first_node = 0;  ///< in the node columns
  };

  void complete(std::uint32_t rank, NodeIndex row, TieWatch::Origin origin);
  void take_ready(std::uint32_t rank);
  void make_ready(std::uint32_t rank, NodeIndex row);
  void touch_lane(std::uint32_t rank, NodeIndex row);
  bool comes_in_turn(std::uint32_t rank, NodeIndex row);
  void walk(std::uint32_t rank);
  void check_finished(Rank& rank);

  void start_rank(std::uint32_t rank);
  void start_late(std::uint32_t rank);
  void issue(std::uint32_t rank, NodeIndex row);
  bool is_delayed(std::uint32_t rank, NodeIndex row);
  void issue_late(std::uint32_t rank, NodeIndex row);
  void begin(std::uint32_t rank, NodeIndex row);
  void finish_now(std::uint32_t rank, NodeIndex row);
  void run_for(std::uint32_t rank, NodeIndex row, std::uint64_t duration_ns);
  void issue_recorded(std::uint32_t rank, NodeIndex row);
  void issue_compute(std::uint32_t rank, NodeIndex row);
  void issue_send(std::uint32_t rank, NodeIndex row);
  void issue_receive(std::uint32_t rank, NodeIndex row);
  void issue_collective(std::uint32_t rank, NodeIndex row);
  void issue_memory(std::uint32_t rank, NodeIndex row);
  std::uint64_t recorded_ns(const Trace& trace, NodeIndex row) const;
  std::uint64_t given_or_recorded_ns(std::uint32_t rank, NodeIndex row) const;
  std::uint64_t slowed_ns(std::uint32_t rank, NodeIndex row, std::uint64_t duration_ns) const;
  std::uint64_t roofline_ns(std::uint32_t rank, NodeIndex row) const;
  std::uint32_t peer(std::uint32_t rank, NodeIndex row, IntegerAttribute attribute) const;
  MatchKey match_key(std::uint32_t rank, NodeIndex row, std::uint32_t src, std::uint32_t dst) const;
  std::uint64_t required(std::uint32_t rank, NodeIndex row, IntegerAttribute attribute) const;
  std::uint32_t group_of(std::uint32_t rank, NodeIndex row) const;
  [[noreturn]] void fail(std::uint32_t rank, NodeIndex row, const std::string& problem) const;
  void record_start(std::uint32_t rank, NodeIndex row);
  void record_end(std::uint32_t rank, NodeIndex row);

  std::span<const TracePtr> traces_;
  const SimulationConfig& config_;
  const GroupTable& groups_;
  Kernel& kernel_;
  Transport& transport_;
  CollectiveRunner& collectives_;
  TieWatch& ties_;
  CommunicationLog& log_;
  SimulationResult& result_;
  Progress* progress_;
  RemoteMemory memory_;
  const LanePlans& plans_;
  std::uint32_t copies_;  ///< ranks that each one simulated stands for
  ComputeTimes compute_times_;
  std::map<std::pair<std::uint32_t, NodeIndex>, std::uint64_t> delays_;  ///< of nodes that were not issued yet
  std::vector<Rank> ranks_;
  std::uint64_t untimed_communication_ = 0;
};

}  // namespace chakra::sim
