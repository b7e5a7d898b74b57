// SPDX-License-Identifier: MIT
#include "sim/kernel.hpp"

#include <algorithm>
#include <string>

#include "chakra_core/errors.hpp"

namespace chakra::sim {

void Kernel::Agenda::pop_front() {
  ++first;
  if (first == batches.size()) {
    batches.clear();
    first = 0;
  } else if (first >= 32 && 2 * first >= batches.size()) {
    batches.erase(batches.begin(), batches.begin() + static_cast<std::ptrdiff_t>(first));
    first = 0;
  }
}

void Kernel::throw_time_exceeded(std::uint64_t delay) const {
  throw SimulationError("simulated time exceeds 2^64 ns: " + std::to_string(delay) + " ns after " +
                        std::to_string(now()) + " ns; look for a node with an absurd duration or size");
}

void Kernel::act_after(std::uint32_t rank, std::uint64_t delay, const Action& action) {
  const std::uint64_t tick = later(delay);
  const std::uint32_t node = actions_.take({action, none});
  Agenda& agenda = agendas_[rank];
  std::vector<Batch>& batches = agenda.batches;
  if (agenda.first == batches.size() || batches.back().tick < tick) {
    batches.push_back({tick, node, node});
  } else {
    const auto begin = batches.begin() + static_cast<std::ptrdiff_t>(agenda.first);
    const auto place = std::lower_bound(begin, batches.end(), tick,
                                        [](const Batch& batch, std::uint64_t t) { return batch.tick < t; });
    if (place->tick == tick) return append(*place, node);
    batches.insert(place, {tick, node, node});
  }
  queue_.push({tick, rank, EventKind::batch});
}

void Kernel::append(Batch& batch, std::uint32_t node) {
  if (batch.head == none) {
    batch.head = node;
  } else {
    actions_[batch.tail].next = node;
  }
  batch.tail = node;
}

}  // namespace chakra::sim
