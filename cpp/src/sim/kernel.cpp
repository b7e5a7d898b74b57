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

std::uint64_t Kernel::later(std::uint64_t delay) const {
  const std::uint64_t tick = now() + delay;
  if (tick < now()) {
    throw SimulationError("simulated time exceeds 2^64 ns: " + std::to_string(delay) + " ns after " +
                          std::to_string(now()) + " ns; look for a node with an absurd duration or size");
  }
  return tick;
}

void Kernel::act_after(std::uint32_t rank, std::uint64_t delay, const Action& action) {
  const std::uint64_t tick = later(delay);
  const std::uint32_t node = actions_.take({action, none});
  Agenda& agenda = agendas_[rank];
  const auto begin = agenda.batches.begin() + static_cast<std::ptrdiff_t>(agenda.first);
  auto place = agenda.batches.end();
  if (place != begin && std::prev(place)->tick >= tick) {
    place = std::lower_bound(begin, place, tick, [](const Batch& batch, std::uint64_t t) { return batch.tick < t; });
    if (place->tick == tick) {
      if (place->head == none) {
        place->head = node;
      } else {
        actions_[place->tail].next = node;
      }
      place->tail = node;
      return;
    }
  }
  agenda.batches.insert(place, {tick, node, node});
  queue_.push({tick, rank, EventKind::batch});
}

}  // namespace chakra::sim
