// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "chakra_core/trace.hpp"

namespace chakra::sim {

/// The ready nodes of a rank: gives out the one with the smallest id among those whose lane has a free
/// slot, in O(log nodes) whatever the number of lanes.
class ReadyLanes {
 public:
  /// With the slots of each lane.
  explicit ReadyLanes(const std::vector<std::uint32_t>& slots);

  void add(NodeId id, NodeIndex row, std::uint32_t lane);
  std::optional<NodeIndex> pop();
  void occupy(std::uint32_t lane) { --free_[lane]; }
  void release(std::uint32_t lane);

  bool empty() const noexcept { return size_ == 0; }
  /// Rows that are ready, by ascending id.
  std::vector<NodeIndex> rows() const;

 private:
  struct Entry {
    NodeId id;
    NodeIndex row;
    std::uint32_t lane;
  };
  using Heap = std::vector<Entry>;  ///< smallest id on top

  static void push(Heap& heap, const Entry& entry);
  static Entry take(Heap& heap);
  void offer(std::uint32_t lane);

  /// Of each lane that has a free slot the smallest node is here; nodes of full lanes may be.
  Heap candidates_;
  std::vector<Heap> waiting_;  ///< by lane: found full
  std::vector<std::uint32_t> free_;
  std::size_t size_ = 0;
};

}  // namespace chakra::sim
