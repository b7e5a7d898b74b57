// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>

#include "pytorch/synchronisation.hpp"

namespace chakra::pytorch {

namespace {

// Recorded waits (cuda_sync events) say both sides.
class RecordedStreamWaits {
 public:
  RecordedStreamWaits(const DeviceTrace& trace, const CallTree& tree, const SyncIndex& syncs, const Launches& launches)
      : trace_(trace), tree_(tree), syncs_(syncs), launches_(launches) {}

  void visit(std::uint32_t f, StreamWaits& out) const {
    const std::uint32_t row = syncs_.sync_of(f);
    if (row == no_row || trace_.events[row].sync == no_row) return;
    const DeviceEvent& event = trace_.events[row];
    const SyncArguments& arguments = trace_.syncs[event.sync];
    const std::uint32_t record = syncs_.call_of(arguments.wait_on_record);
    std::uint32_t source = no_row;
    std::uint32_t target = no_row;
    for (const StreamWork& stream : launches_.streams) {
      if (event.device >= 0 && stream.device != event.device) continue;
      if (stream.stream == arguments.wait_on_stream && record != no_row) {
        source = stream.last_launched_before(tree_.frames[record].start_ns);
      }
      if (stream.stream == event.stream) target = stream.first_launched_from(tree_.frames[f].start_ns);
    }
    if (source == no_row || target == no_row) {
      ++out.without_work;
    } else if (launches_.work[source].end_ns > launches_.work[target].start_ns) {
      ++out.dropped;
    } else {
      out.waits.push_back({source, target, StreamWaitKind::event});
    }
  }

 private:
  const DeviceTrace& trace_;
  const CallTree& tree_;
  const SyncIndex& syncs_;
  const Launches& launches_;
};

// Launches of one lane in order of time, with a jump to the last one on another stream.
struct LaneLaunches {
  std::vector<std::uint32_t> frames;
  std::vector<std::uint32_t> work;
  std::vector<std::uint32_t> other;  // index of the last launch on another stream than this one's, or no_row
};

// Without identifiers, waits are told by where they stand among the launches of their thread.
class PositionalStreamWaits {
 public:
  PositionalStreamWaits(const DeviceTrace& trace, const CallTree& tree, const Launches& launches,
                        const std::vector<std::uint8_t>& is_comm)
      : trace_(trace), tree_(tree), launches_(launches), is_comm_(is_comm) {
    waited_.assign(launches.work.size(), 0);
    collect_lanes();
    find_comm_frames();
    for (const StreamWork& stream : launches.streams) {
      std::vector<std::uint32_t>& queue = comm_queues_.emplace_back();
      for (const std::uint32_t w : stream.launched) {
        if (is_comm[w] != 0) queue.push_back(w);
      }
    }
    heads_.assign(comm_queues_.size(), 0);
  }

  void visit(std::uint32_t f, StreamWaits& out) {
    const std::uint32_t root = comm_root_[f];
    const std::uint32_t launch = root == no_row ? no_row : comm_launch_[root];
    if (launch == no_row) {
      const std::uint32_t target = next_launch(f);
      if (root != no_row && wait_for_last_launch(f, target, out)) return;
      wait_for_oldest(f, target, out);
    } else if (f < launch) {
      if (waits_before_[root]++ == 0) wait_before_comm(f, comm_work(launch), out);
    } else if (waits_after_[root]++ > 0) {
      wait_after_comm(f, comm_work(launch), out);
    }
  }

 private:
  void collect_lanes() {
    lanes_.resize(tree_.lane_count());
    for (std::uint32_t f = 0; f < tree_.frames.size(); ++f) {
      const auto launched = launches_.launched_by(f);
      if (launched.empty()) continue;
      LaneLaunches& lane = lanes_[tree_.frames[f].lane];
      std::uint32_t other = no_row;
      if (!lane.work.empty()) {
        const auto last = static_cast<std::uint32_t>(lane.work.size() - 1);
        other = stream_of(lane.work[last]) != stream_of(launched.front()) ? last : lane.other[last];
      }
      lane.frames.push_back(f);
      lane.work.push_back(launched.front());
      lane.other.push_back(other);
    }
  }

  void find_comm_frames() {
    comm_root_.assign(tree_.frames.size(), no_row);
    comm_launch_.assign(tree_.frames.size(), no_row);
    waits_before_.assign(tree_.frames.size(), 0);
    waits_after_.assign(tree_.frames.size(), 0);
    std::vector<std::uint8_t> comm_name(trace_.strings.size(), 0);
    for (std::uint32_t name = 0; name < comm_name.size(); ++name) {
      const std::string_view text = trace_.strings.view(name);
      comm_name[name] = text == "record_param_comms" || text.starts_with("c10d::") || text.starts_with("nccl:");
    }
    for (std::uint32_t f = 0; f < tree_.frames.size(); ++f) {
      const Frame& frame = tree_.frames[f];
      if (frame.parent != no_row) comm_root_[f] = comm_root_[frame.parent];
      if (comm_root_[f] == no_row && frame.is_op && comm_name[trace_.events[frame.event].name] != 0) comm_root_[f] = f;
      if (comm_root_[f] == no_row || comm_launch_[comm_root_[f]] != no_row) continue;
      if (comm_work(f) != no_row) comm_launch_[comm_root_[f]] = f;
    }
  }

  std::uint32_t stream_of(std::uint32_t work) const { return launches_.work[work].stream; }

  std::uint32_t comm_work(std::uint32_t frame) const {
    for (const std::uint32_t w : launches_.launched_by(frame)) {
      if (is_comm_[w] != 0) return w;
    }
    return no_row;
  }

  // First work that the thread launches after the frame.
  std::uint32_t next_launch(std::uint32_t f) const {
    const LaneLaunches& lane = lanes_[tree_.frames[f].lane];
    const auto found = std::upper_bound(lane.frames.begin(), lane.frames.end(), f);
    return found == lane.frames.end() ? no_row : lane.work[static_cast<std::size_t>(found - lane.frames.begin())];
  }

  // Last work that the thread launched before the frame, on another stream than `stream` (no_row: on any).
  std::uint32_t last_launch(std::uint32_t f, std::uint32_t stream) const {
    const LaneLaunches& lane = lanes_[tree_.frames[f].lane];
    const auto found = std::lower_bound(lane.frames.begin(), lane.frames.end(), f);
    if (found == lane.frames.begin()) return no_row;
    auto index = static_cast<std::uint32_t>(found - lane.frames.begin() - 1);
    if (stream_of(lane.work[index]) == stream) index = lane.other[index];
    return index == no_row ? no_row : lane.work[index];
  }

  void wait_before_comm(std::uint32_t f, std::uint32_t target, StreamWaits& out) {
    const std::uint32_t source = last_launch(f, stream_of(target));
    if (source == no_row) {
      ++out.without_work;
    } else {
      add(source, target, StreamWaitKind::pre_comm, out);
    }
  }

  void wait_after_comm(std::uint32_t f, std::uint32_t source, StreamWaits& out) {
    const std::uint32_t target = next_launch(f);
    if (target != no_row && stream_of(target) != stream_of(source) && ends_before(source, target)) {
      waited_[source] = 1;
      add(source, target, StreamWaitKind::sync_comm, out);
    }
  }

  // A frame without a communication launch of its own is the wait for an earlier one.
  bool wait_for_last_launch(std::uint32_t f, std::uint32_t target, StreamWaits& out) {
    const std::uint32_t source = last_launch(f, no_row);
    if (source == no_row || target == no_row || is_comm_[source] == 0 || waited_[source] != 0) return false;
    if (!ends_before(source, target)) return false;
    waited_[source] = 1;
    add(source, target, StreamWaitKind::wait_comm, out);
    return true;
  }

  void wait_for_oldest(std::uint32_t f, std::uint32_t target, StreamWaits& out) {
    if (target == no_row) {
      ++out.without_work;
      return;
    }
    std::uint32_t best = no_row;
    for (std::size_t s = 0; s < comm_queues_.size(); ++s) {
      const std::vector<std::uint32_t>& queue = comm_queues_[s];
      while (heads_[s] < queue.size() && waited_[queue[heads_[s]]] != 0) ++heads_[s];
      if (heads_[s] == queue.size()) continue;
      const std::uint32_t head = queue[heads_[s]];
      if (!ends_before(head, target)) continue;
      if (best == no_row || launches_.work[head].start_ns < launches_.work[best].start_ns) best = head;
    }
    if (best != no_row) {
      waited_[best] = 1;
      add(best, target, StreamWaitKind::wait_comm, out);
      return;
    }
    const std::uint32_t source = last_launch(f, stream_of(target));
    if (source != no_row && ends_before(source, target)) {
      add(source, target, StreamWaitKind::other, out);
    } else {
      ++out.unknown_source;
    }
  }

  bool ends_before(std::uint32_t source, std::uint32_t target) const {
    return launches_.work[source].end_ns <= launches_.work[target].start_ns;
  }

  void add(std::uint32_t source, std::uint32_t target, StreamWaitKind kind, StreamWaits& out) const {
    if (!ends_before(source, target)) {
      ++out.dropped;
    } else if (stream_of(source) != stream_of(target)) {
      out.waits.push_back({source, target, kind});
    }
  }

  const DeviceTrace& trace_;
  const CallTree& tree_;
  const Launches& launches_;
  const std::vector<std::uint8_t>& is_comm_;
  std::vector<LaneLaunches> lanes_;
  std::vector<std::uint32_t> comm_root_;    // outermost communication frame around a frame
  std::vector<std::uint32_t> comm_launch_;  // of a root: the frame that launches its first communication kernel
  std::vector<std::uint32_t> waits_before_;
  std::vector<std::uint32_t> waits_after_;
  std::vector<std::vector<std::uint32_t>> comm_queues_;  // per stream, in launch order
  std::vector<std::size_t> heads_;
  std::vector<std::uint8_t> waited_;
};

}  // namespace

std::string_view to_string(StreamWaitKind kind) noexcept {
  constexpr std::array<std::string_view, stream_wait_kind_count> names = {"event", "pre-comm", "wait-comm", "sync-comm",
                                                                          "other"};
  return names[static_cast<std::size_t>(kind)];
}

StreamWaits find_stream_waits(const DeviceTrace& trace, const CallTree& tree, const std::vector<CallRole>& roles,
                              const SyncIndex& syncs, const Launches& launches,
                              const std::vector<std::uint8_t>& is_comm) {
  std::vector<std::uint32_t> calls;
  for (std::uint32_t f = 0; f < tree.frames.size(); ++f) {
    if (roles[f] == CallRole::stream_wait_event) calls.push_back(f);
  }
  std::stable_sort(calls.begin(), calls.end(), [&tree](std::uint32_t a, std::uint32_t b) {
    return tree.frames[a].start_ns < tree.frames[b].start_ns;
  });
  StreamWaits out;
  if (syncs.any()) {
    const RecordedStreamWaits recorded(trace, tree, syncs, launches);
    for (const std::uint32_t f : calls) recorded.visit(f, out);
  } else if (!calls.empty()) {
    PositionalStreamWaits positional(trace, tree, launches, is_comm);
    for (const std::uint32_t f : calls) positional.visit(f, out);
  }
  std::stable_sort(out.waits.begin(), out.waits.end(), [](const StreamWait& a, const StreamWait& b) {
    return a.target != b.target ? a.target < b.target : a.source < b.source;
  });
  const auto equal = [](const StreamWait& a, const StreamWait& b) {
    return a.target == b.target && a.source == b.source;
  };
  out.waits.erase(std::unique(out.waits.begin(), out.waits.end(), equal), out.waits.end());
  return out;
}

}  // namespace chakra::pytorch
