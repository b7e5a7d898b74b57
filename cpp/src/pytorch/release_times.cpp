// SPDX-License-Identifier: MIT
#include "pytorch/release_times.hpp"

#include <algorithm>

namespace chakra::pytorch {

namespace {

// Work that starts no later than this after its call is still on its way, not queued behind anything.
constexpr std::int64_t release_after_call_ns = 20'000;

// Latest end of what a work waits for on its own and on other streams; -1 for nothing.
std::vector<std::int64_t> device_ready_times(const PieceInputs& in) {
  std::vector<std::int64_t> ready(in.launches.work.size(), -1);
  for (std::size_t w = 0; w < ready.size(); ++w) {
    const std::uint32_t previous = in.launches.work[w].previous;
    if (previous != no_row) ready[w] = in.launches.work[previous].end_ns;
  }
  for (const StreamWait& wait : in.stream_waits.waits) {
    ready[wait.target] = std::max(ready[wait.target], in.launches.work[wait.source].end_ns);
  }
  return ready;
}

// Start of the next waiting call on the same lane after each frame, or the end of the lane.
std::vector<std::int64_t> release_limits(const PieceInputs& in) {
  std::vector<std::uint8_t> waits(in.tree.frames.size(), 0);
  for (const CpuWait& wait : in.cpu_waits.waits) waits[wait.frame] = 1;
  std::vector<std::int64_t> limits(in.tree.frames.size(), 0);
  for (std::uint32_t lane = 0; lane < in.tree.lane_count(); ++lane) {
    std::int64_t limit = 0;
    for (std::uint32_t f = in.tree.lane_begin[lane]; f < in.tree.lane_begin[lane + 1]; ++f) {
      limit = std::max(limit, in.tree.frames[f].end_ns);
    }
    for (std::uint32_t f = in.tree.lane_begin[lane + 1]; f-- > in.tree.lane_begin[lane];) {
      limits[f] = limit;
      if (waits[f] != 0) limit = in.tree.frames[f].start_ns;
    }
  }
  return limits;
}

std::int64_t median(std::vector<std::int64_t>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

ReleaseTimes find_release_times(const PieceInputs& in) {
  const std::vector<std::int64_t> ready = device_ready_times(in);
  const std::vector<std::int64_t> limits = release_limits(in);
  ReleaseTimes out;
  out.of_frame.assign(in.tree.frames.size(), -1);
  std::vector<std::int64_t> latencies;
  std::vector<std::uint8_t> waits_itself(in.tree.frames.size(), 0);
  for (const CpuWait& wait : in.cpu_waits.waits) waits_itself[wait.frame] = 1;
  for (std::uint32_t f = 0; f < in.tree.frames.size(); ++f) {
    const auto launched = in.launches.launched_by(f);
    if (launched.empty() || ready[launched.front()] > in.tree.frames[f].start_ns) continue;
    latencies.push_back(in.launches.work[launched.front()].start_ns - in.tree.frames[f].start_ns);
  }
  out.launch_latency_ns = median(latencies);
  for (std::uint32_t f = 0; f < in.tree.frames.size(); ++f) {
    const auto launched = in.launches.launched_by(f);
    if (launched.empty()) continue;
    const Frame& call = in.tree.frames[f];
    const std::int64_t start = in.launches.work[launched.front()].start_ns;
    std::int64_t release = call.end_ns;
    if (ready[launched.front()] > call.start_ns) {
      release = std::min({call.end_ns, call.start_ns + out.launch_latency_ns, start});
    } else if (start <= call.end_ns + release_after_call_ns) {
      release = std::min(start, waits_itself[f] != 0 ? call.end_ns : limits[f]);
    }
    out.of_frame[f] = std::max(release, call.start_ns);
  }
  return out;
}

}  // namespace chakra::pytorch
