// SPDX-License-Identifier: MIT
#include "sim/event_queue.hpp"

#include <algorithm>

namespace chakra::sim {

void EventQueue::advance() {
  buckets_[0].clear();
  next_ = 0;
  const auto lowest = static_cast<std::size_t>(std::countr_zero(occupied_)) + 1;
  std::vector<Event>& bucket = buckets_[lowest];
  occupied_ &= occupied_ - 1;
  const auto first =
      std::min_element(bucket.begin(), bucket.end(), [](const Event& a, const Event& b) { return a.tick < b.tick; });
  now_ = first->tick;
  for (const Event& event : bucket) {
    const auto target = static_cast<std::size_t>(std::bit_width(event.tick ^ now_));
    buckets_[target].push_back(event);
    occupied_ |= target == 0 ? 0 : std::uint64_t{1} << (target - 1);
  }
  bucket.clear();
}

}  // namespace chakra::sim
