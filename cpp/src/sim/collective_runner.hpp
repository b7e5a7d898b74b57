// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chakra_core/simulator.hpp"
#include "collective/plan.hpp"
#include "sim/chunk.hpp"
#include "sim/collective_node.hpp"
#include "sim/communication_log.hpp"
#include "sim/group_table.hpp"
#include "sim/kernel.hpp"
#include "sim/tie_watch.hpp"

namespace chakra::sim {

/// Told when the last chunk of a rank's collective is through.
class CollectiveListener {
 public:
  virtual void collective_ended(std::uint32_t rank, NodeIndex row) = 0;

 protected:
  ~CollectiveListener() = default;
};

/// Brings collectives on their way: chunks, their phases, and the queues of each rank and dimension
/// in which chunks wait for one of the slots.
class CollectiveRunner final : public PhaseListener {
 public:
  CollectiveRunner(const SimulationConfig& config, const GroupTable& groups, std::uint32_t copies, Kernel& kernel,
                   ChunkPool& chunks, TieWatch& ties, CommunicationLog& log, CollectiveListener& listener);

  void set_executor(PhaseExecutor& executor) noexcept { executor_ = &executor; }

  /// Throws SimulationError for a collective that cannot be run, or that differs from what other
  /// members of the group run in the same place of the group's order.
  void issue(const CollectiveNode& node);
  void phase_ended(std::uint32_t chunk) override;

  /// Nothing else can happen: lets a waiting chunk begin beyond the slots where another member is in
  /// its phase already, so that both sides serve the dimension in one order. False: there is none.
  bool admit_blocked();

  /// Collectives of a group that some members have issued and others not, in words.
  std::vector<std::string> open_collectives() const;
  std::uint32_t group_of_collective(std::uint32_t collective) const noexcept { return runs_[collective].group; }
  NodeIndex row_of_collective(std::uint32_t collective) const noexcept { return runs_[collective].row; }

  std::uint64_t empty_collectives() const noexcept { return empty_; }
  std::uint64_t tiny_collectives() const noexcept { return tiny_; }
  std::uint64_t substituted_phases() const noexcept { return substituted_; }

 private:
  /// A rank's collective.
  struct Run {
    std::uint32_t rank;
    NodeIndex row;
    std::uint32_t group;
    std::uint32_t place;   ///< of the rank in the state of the group
    std::uint32_t logged;  ///< the collective in the log
    std::uint32_t chunks_left;
  };
  struct Queue {
    std::uint32_t running = 0;
    std::uint32_t head = none;  ///< chunks that wait
    std::uint32_t tail = none;
    // The chunk that came last.
    std::uint64_t arrived = ~std::uint64_t{0};
    std::uint64_t registered = 0;
    std::uint64_t family = 0;
  };
  /// What all members of a group must agree on: the k-th collective of each is the same one.
  struct Agreement {
    CollectiveNode first;
    std::string involved_dims;
    std::uint64_t first_chunk = 0;  ///< chunks of the group before it
    std::uint64_t chunks = 0;
    std::uint64_t tag = 0;
    std::uint32_t joined = 0;
  };
  struct GroupState {
    std::vector<std::uint64_t> issued;  ///< by place: collectives (parity: chunks) so far
    std::deque<Agreement> open;         ///< from collective number `closed` on
    std::uint64_t closed = 0;
    std::uint64_t chunks = 0;
    /// Place, dimension, queue. Those of other groups are apart: their order may differ from rank to rank.
    std::vector<Queue> queues;
  };
  struct Numbering {
    std::uint64_t first_chunk = 0;
    std::uint64_t tag = 0;
  };

  /// Members of a group that are simulated, and where a member is among them: one stands for all, or all are.
  std::uint32_t members(std::uint32_t group) const noexcept { return is_folded_ ? 1 : groups_[group].size(); }
  std::uint32_t place(std::uint32_t position) const noexcept { return is_folded_ ? 0 : position; }

  CollectiveRequest request(const CollectiveNode& node) const;
  Numbering join(const CollectiveNode& node, std::uint32_t place, std::uint64_t chunks);
  void check_agreement(const CollectiveNode& node, const Agreement& agreement, std::uint64_t number) const;
  std::uint64_t parity_tag(const CollectiveNode& node, std::uint32_t place);
  void create_chunk(const CollectiveNode& node, const std::vector<Phase>& plan, std::uint32_t run, std::uint64_t number,
                    std::uint64_t tag);
  void choose_queues(Chunk& chunk, CollectiveType type, std::uint64_t number);
  std::uint32_t next_in_half(const Chunk& chunk, const Phase& phase, std::uint64_t number);
  Queue& queue(const Chunk& chunk, const Phase& phase) noexcept;
  void enqueue(std::uint32_t index);
  void check_order(Queue& queue, std::uint64_t family, std::uint64_t registered);
  void start_waiting(Queue& queue);
  void begin(std::uint32_t index);
  void remove_waiting(Queue& queue, std::uint32_t index);

  const SimulationConfig& config_;
  const GroupTable& groups_;
  bool is_folded_;
  Kernel& kernel_;
  ChunkPool& chunks_;
  TieWatch& ties_;
  CommunicationLog& log_;
  CollectiveListener& listener_;
  PhaseExecutor* executor_ = nullptr;
  Planner planner_;
  std::size_t dimensions_;
  std::uint32_t slots_;  ///< running chunks a queue
  SlotPool<Run> runs_;
  std::vector<Phase> plan_;              ///< of the chunks that are being created
  std::vector<Queue> queues_;            ///< parity: rank, dimension, queue; for all groups
  std::vector<std::uint32_t> pointers_;  ///< parity: rank, dimension, half
  std::vector<std::uint8_t> trees_;      ///< parity: rank, implementation list, dimension; the next tree
  std::vector<std::uint64_t> created_;   ///< parity: chunks of each rank
  std::vector<GroupState> group_states_;
  std::uint64_t next_tag_ = 0;
  std::uint64_t cause_ = 0;  ///< of the phases that begin now
  std::uint64_t issues_ = 0;
  std::uint64_t empty_ = 0;
  std::uint64_t tiny_ = 0;
  std::uint64_t substituted_ = 0;
};

}  // namespace chakra::sim
