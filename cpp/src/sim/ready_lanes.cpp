// SPDX-License-Identifier: MIT
#include "sim/ready_lanes.hpp"

#include <algorithm>

namespace chakra::sim {

namespace {

constexpr auto later_id = [](const auto& a, const auto& b) { return a.id > b.id; };

}  // namespace

ReadyLanes::ReadyLanes(const std::vector<std::uint32_t>& slots) : waiting_(slots.size()), free_(slots) {}

void ReadyLanes::push(Heap& heap, const Entry& entry) {
  heap.push_back(entry);
  std::push_heap(heap.begin(), heap.end(), later_id);
}

ReadyLanes::Entry ReadyLanes::take(Heap& heap) {
  std::pop_heap(heap.begin(), heap.end(), later_id);
  const Entry entry = heap.back();
  heap.pop_back();
  return entry;
}

void ReadyLanes::add(NodeId id, NodeIndex row, std::uint32_t lane) {
  push(candidates_, {id, row, lane});
  ++size_;
}

std::optional<NodeIndex> ReadyLanes::pop() {
  while (!candidates_.empty()) {
    const Entry entry = take(candidates_);
    if (free_[entry.lane] == 0) {
      push(waiting_[entry.lane], entry);
      continue;
    }
    // The taker may leave the slot free.
    offer(entry.lane);
    --size_;
    return entry.row;
  }
  return std::nullopt;
}

void ReadyLanes::release(std::uint32_t lane) {
  ++free_[lane];
  offer(lane);
}

void ReadyLanes::offer(std::uint32_t lane) {
  if (!waiting_[lane].empty()) push(candidates_, take(waiting_[lane]));
}

std::vector<NodeIndex> ReadyLanes::rows() const {
  Heap all = candidates_;
  for (const Heap& heap : waiting_) all.insert(all.end(), heap.begin(), heap.end());
  std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.id < b.id; });
  std::vector<NodeIndex> rows;
  for (const Entry& entry : all) rows.push_back(entry.row);
  return rows;
}

}  // namespace chakra::sim
