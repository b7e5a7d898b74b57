// SPDX-License-Identifier: MIT
#include "timeline/lanes.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>

namespace chakra::timeline {

std::vector<Lane> split_into_lanes(Lane slices, std::span<const std::uint64_t> start_ns,
                                   std::span<const std::uint64_t> end_ns) {
  std::sort(slices.begin(), slices.end(), [&](std::uint32_t left, std::uint32_t right) {
    return std::tuple(start_ns[left], end_ns[right], left) < std::tuple(start_ns[right], end_ns[left], right);
  });
  std::vector<Lane> lanes(1);
  std::vector<std::uint64_t> open_ends;  // of the first lane, innermost last
  using Busy = std::pair<std::uint64_t, std::size_t>;
  std::priority_queue<Busy, std::vector<Busy>, std::greater<>> overflow;  // end of each other lane's last slice
  for (const std::uint32_t slice : slices) {
    const std::uint64_t start = start_ns[slice];
    const std::uint64_t end = end_ns[slice];
    while (!open_ends.empty() && open_ends.back() <= start) {
      open_ends.pop_back();
    }
    if (open_ends.empty() || end <= open_ends.back()) {
      open_ends.push_back(end);
      lanes.front().push_back(slice);
      continue;
    }
    std::size_t lane = lanes.size();
    if (!overflow.empty() && overflow.top().first <= start) {
      lane = overflow.top().second;
      overflow.pop();
    } else {
      lanes.emplace_back();
    }
    lanes[lane].push_back(slice);
    overflow.emplace(end, lane);
  }
  return lanes;
}

}  // namespace chakra::timeline
