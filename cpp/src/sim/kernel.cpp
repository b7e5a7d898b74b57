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

void Kernel::add(std::uint32_t rank, std::uint64_t tick, std::uint64_t registered, Action action) {
  const std::uint32_t node = actions_.take();
  ActionNode& added = actions_[node];
  // Field by field: a copy of a temporary waits for the temporary to be written.
  added.action.b = action.b;
  added.action.a = action.a;
  added.action.kind = action.kind;
  added.registered = registered;
  added.next = none;
  Agenda& agenda = agendas_[rank];
  std::vector<Batch>& batches = agenda.batches;
  if (agenda.first == batches.size() || batches.back().tick < tick) {
    batches.push_back({tick, node, node});
  } else {
    const auto begin = batches.begin() + static_cast<std::ptrdiff_t>(agenda.first);
    const auto place = std::lower_bound(begin, batches.end(), tick,
                                        [](const Batch& batch, std::uint64_t t) { return batch.tick < t; });
    if (place->tick == tick) return insert(*place, node);
    batches.insert(place, {tick, node, node});
  }
  queue_.push({tick, rank, EventKind::batch});
}

/// Nearly everything is appended.
void Kernel::insert(Batch& batch, std::uint32_t node) {
  const std::uint64_t registered = actions_[node].registered;
  if (batch.head == none) {
    batch.head = batch.tail = node;
  } else if (actions_[batch.tail].registered <= registered) {
    actions_[batch.tail].next = node;
    batch.tail = node;
  } else {
    std::uint32_t before = none;
    std::uint32_t after = batch.head;
    while (actions_[after].registered <= registered) {
      before = after;
      after = actions_[after].next;
    }
    actions_[node].next = after;
    (before == none ? batch.head : actions_[before].next) = node;
  }
}

}  // namespace chakra::sim
