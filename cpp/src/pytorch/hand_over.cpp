// SPDX-License-Identifier: MIT
#include "pytorch/hand_over.hpp"

#include <algorithm>

namespace chakra::pytorch {

namespace {

struct Interval {
  std::int64_t start_ns;
  std::int64_t end_ns;
};

// Merged times in which a lane runs an op or a call; annotations span waits and do not count.
struct Activity {
  std::vector<Interval> intervals;

  // Index of the first interval that ends after the time.
  std::size_t first_ending_after(std::int64_t time_ns) const {
    return static_cast<std::size_t>(
        std::upper_bound(intervals.begin(), intervals.end(), time_ns,
                         [](std::int64_t t, const Interval& interval) { return t < interval.end_ns; }) -
        intervals.begin());
  }
};

Activity lane_activity(const CallTree& tree, std::uint32_t lane) {
  Activity activity;
  for (std::uint32_t f = tree.lane_begin[lane]; f < tree.lane_begin[lane + 1]; ++f) {
    const Frame& frame = tree.frames[f];
    if (frame.is_annotation) continue;
    if (activity.intervals.empty() || frame.start_ns > activity.intervals.back().end_ns) {
      activity.intervals.push_back({frame.start_ns, frame.end_ns});
    } else {
      activity.intervals.back().end_ns = std::max(activity.intervals.back().end_ns, frame.end_ns);
    }
  }
  return activity;
}

// The activity explains the gap [a, b]: it ends inside, from its first to its last moment it takes at least half of
// the gap (a thread that loads data in between is still the one that is waited for), and it is idle in b.
bool explains(const Activity& activity, std::int64_t a, std::int64_t b, std::int64_t& end_ns) {
  const std::size_t next = activity.first_ending_after(b);
  if (next < activity.intervals.size() && activity.intervals[next].start_ns < b) return false;
  if (next == 0) return false;
  end_ns = activity.intervals[next - 1].end_ns;
  if (end_ns <= a || 2 * (b - end_ns) > b - a) return false;
  const std::int64_t begin_ns = activity.intervals[activity.first_ending_after(a)].start_ns;
  return 2 * (end_ns - std::max(a, begin_ns)) >= b - a;
}

}  // namespace

std::vector<HandOver> find_hand_overs(const CallTree& tree) {
  std::vector<Activity> activities(tree.lane_count());
  std::vector<std::uint32_t> lanes;
  for (std::uint32_t lane = 0; lane < tree.lane_count(); ++lane) {
    if (tree.lane_has_cpu_op[lane] == 0) continue;
    activities[lane] = lane_activity(tree, lane);
    lanes.push_back(lane);
  }
  std::vector<HandOver> found;
  for (const std::uint32_t lane : lanes) {
    std::int64_t idle_from = 0;
    for (const Interval& interval : activities[lane].intervals) {
      HandOver best{lane, idle_from, interval.start_ns, no_row, 0};
      for (const std::uint32_t other : lanes) {
        std::int64_t end = 0;
        if (other == lane || interval.start_ns <= idle_from) continue;
        if (!explains(activities[other], idle_from, interval.start_ns, end)) continue;
        if (best.source_lane == no_row || end > best.source_end_ns) {
          best.source_lane = other;
          best.source_end_ns = end;
        }
      }
      if (best.source_lane != no_row) found.push_back(best);
      idle_from = interval.end_ns;
    }
  }
  return found;
}

}  // namespace chakra::pytorch
