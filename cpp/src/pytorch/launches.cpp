// SPDX-License-Identifier: MIT
#include "pytorch/launches.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "chakra_core/errors.hpp"

namespace chakra::pytorch {

namespace {

// Frames by an id of theirs, then start: an index for "the last one with this id that starts by then".
class FrameIndex {
 public:
  struct Entry {
    std::uint64_t id;
    std::int64_t start_ns;
    std::uint32_t frame;
  };

  void add(std::uint64_t id, std::int64_t start_ns, std::uint32_t frame) { entries_.push_back({id, start_ns, frame}); }

  void sort() {
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      if (a.id != b.id) return a.id < b.id;
      return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.frame < b.frame;
    });
  }

  std::span<const Entry> find(std::uint64_t id) const {
    const auto first = std::lower_bound(entries_.begin(), entries_.end(), id,
                                        [](const Entry& e, std::uint64_t i) { return e.id < i; });
    const auto last =
        std::upper_bound(first, entries_.end(), id, [](std::uint64_t i, const Entry& e) { return i < e.id; });
    return {first, last};
  }

 private:
  std::vector<Entry> entries_;
};

// Entries that start by the time; they are sorted by start.
std::size_t started_by(std::span<const FrameIndex::Entry> entries, std::int64_t time_ns) {
  const auto end = std::upper_bound(entries.begin(), entries.end(), time_ns,
                                    [](std::int64_t t, const FrameIndex::Entry& e) { return t < e.start_ns; });
  return static_cast<std::size_t>(end - entries.begin());
}

bool encloses(const CallTree& tree, std::uint32_t outer, std::uint32_t inner) {
  for (std::uint32_t frame = inner; frame != no_row; frame = tree.frames[frame].parent) {
    if (frame == outer) return true;
  }
  return false;
}

class Pairing {
 public:
  Pairing(const DeviceTrace& trace, const CallTree& tree, OnError on_error)
      : trace_(trace), tree_(tree), on_error_(on_error) {
    for (std::uint32_t f = 0; f < tree.frames.size(); ++f) {
      const Frame& frame = tree.frames[f];
      const DeviceEvent& event = trace.events[frame.event];
      if (frame.is_op) {
        if (event.external_id != 0) ops_by_external_id_.add(event.external_id, frame.start_ns, f);
      } else if (event.correlation != 0) {
        calls_by_correlation_.add(event.correlation, frame.start_ns, f);
      } else if (event.external_id != 0) {
        calls_by_external_id_.add(event.external_id, frame.start_ns, f);
      }
    }
    calls_by_correlation_.sort();
    calls_by_external_id_.sort();
    ops_by_external_id_.sort();
  }

  void link(DeviceWork& work, Launches& out) const {
    const DeviceEvent& event = trace_.events[work.event];
    if (event.correlation != 0) {
      by_correlation(event, work, out);
    } else {
      by_external_id(event, work, out);
    }
    if (work.call != no_row) {
      work.parent_op = tree_.frames[work.call].op;
    }
    if (work.call == no_row) ++out.orphans;
    if (work.call != no_row && work.parent_op == no_row) ++out.without_op;
  }

 private:
  void by_correlation(const DeviceEvent& event, DeviceWork& work, Launches& out) const {
    const auto calls = calls_by_correlation_.find(event.correlation);
    const std::size_t candidates = lacks_time(event) ? calls.size() : started_by(calls, work.start_ns);
    if (candidates == 0) {
      work.orphan = Orphan::call_not_in_trace;
      return;
    }
    work.call = calls[candidates - 1].frame;
    if (candidates > 1 && !encloses(tree_, calls[candidates - 2].frame, work.call)) {
      ++out.ambiguous;
      if (on_error_ == OnError::strict) refuse(event, calls[candidates - 2].frame, work.call);
    }
  }

  void by_external_id(const DeviceEvent& event, DeviceWork& work, Launches& out) const {
    work.orphan = Orphan::no_correlation;
    if (event.external_id == 0) return;
    const auto calls = calls_by_external_id_.find(event.external_id);
    const std::size_t candidates = started_by(calls, work.start_ns);
    if (candidates > 0) {
      work.call = calls[candidates - 1].frame;
      work.orphan = Orphan::none;
      ++out.by_external_id;
      return;
    }
    const auto ops = ops_by_external_id_.find(event.external_id);
    const std::size_t op_candidates = started_by(ops, work.start_ns);
    if (op_candidates > 0) work.parent_op = ops[op_candidates - 1].frame;
  }

  [[noreturn]] void refuse(const DeviceEvent& event, std::uint32_t first, std::uint32_t second) const {
    const auto describe = [this](std::uint32_t frame) {
      const DeviceEvent& call = trace_.events[tree_.frames[frame].event];
      return "'" + std::string(trace_.strings.view(call.name)) + "' at " + std::to_string(call.start_ns) + " ns";
    };
    throw LinkError(trace_.path + ": correlation " + std::to_string(event.correlation) + " of device event '" +
                    std::string(trace_.strings.view(event.name)) + "' names two calls, " + describe(first) + " and " +
                    describe(second) + "; link with on_error=\"recover\" to take the later one");
  }

  const DeviceTrace& trace_;
  const CallTree& tree_;
  OnError on_error_;
  FrameIndex calls_by_correlation_;
  FrameIndex calls_by_external_id_;
  FrameIndex ops_by_external_id_;
};

std::vector<DeviceWork> collect_work(const DeviceTrace& trace, const CallTree& tree, Launches& out) {
  std::map<std::pair<std::int32_t, std::int64_t>, std::uint32_t> stream_index;
  std::vector<DeviceWork> work;
  for (std::uint32_t row = 0; row < trace.events.size(); ++row) {
    const DeviceEvent& event = trace.events[row];
    if (!is_device_work(event.kind)) continue;
    const auto [found, is_new] =
        stream_index.try_emplace({event.device, event.stream}, static_cast<std::uint32_t>(out.streams.size()));
    if (is_new) {
      out.streams.emplace_back();
      out.streams.back().device = event.device;
      out.streams.back().stream = event.stream;
    }
    DeviceWork item;
    item.start_ns = event.start_ns - tree.origin_ns;
    item.end_ns = event.end_ns() - tree.origin_ns;
    item.event = row;
    item.stream = found->second;
    work.push_back(item);
  }
  return work;
}

// An event without a recorded time is placed, empty, at the end of its launch call.
void place_untimed(const DeviceTrace& trace, const CallTree& tree, std::vector<DeviceWork>& work) {
  for (DeviceWork& item : work) {
    if (!lacks_time(trace.events[item.event])) continue;
    item.start_ns = item.end_ns = item.call == no_row ? 0 : tree.frames[item.call].end_ns;
  }
}

void order_streams(const CallTree& tree, Launches& out) {
  std::vector<std::uint32_t> last(out.streams.size(), no_row);
  for (std::uint32_t w = 0; w < out.work.size(); ++w) {
    DeviceWork& item = out.work[w];
    item.previous = std::exchange(last[item.stream], w);
    out.streams[item.stream].order.push_back(w);
  }
  const auto launch_time = [&](std::uint32_t w) {
    const DeviceWork& item = out.work[w];
    return item.call == no_row ? item.start_ns : tree.frames[item.call].start_ns;
  };
  for (StreamWork& stream : out.streams) {
    stream.launched = stream.ended = stream.order;
    std::stable_sort(stream.launched.begin(), stream.launched.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return launch_time(a) < launch_time(b); });
    std::stable_sort(stream.ended.begin(), stream.ended.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return out.work[a].end_ns < out.work[b].end_ns; });
    for (const std::uint32_t w : stream.launched) stream.launch_ns.push_back(launch_time(w));
    for (const std::uint32_t w : stream.ended) stream.end_ns.push_back(out.work[w].end_ns);
  }
}

void index_by_call(const CallTree& tree, Launches& out) {
  out.first_launched.assign(tree.frames.size() + 1, 0);
  for (const DeviceWork& item : out.work) {
    if (item.call != no_row) ++out.first_launched[item.call + 1];
  }
  std::partial_sum(out.first_launched.begin(), out.first_launched.end(), out.first_launched.begin());
  out.launched_work.resize(out.first_launched.back());
  std::vector<std::uint32_t> next(out.first_launched.begin(), out.first_launched.end() - 1);
  for (std::uint32_t w = 0; w < out.work.size(); ++w) {
    if (out.work[w].call != no_row) out.launched_work[next[out.work[w].call]++] = w;
  }
}

}  // namespace

std::uint32_t StreamWork::last_launched_before(std::int64_t time_ns) const noexcept {
  const auto found = std::lower_bound(launch_ns.begin(), launch_ns.end(), time_ns);
  return found == launch_ns.begin() ? no_row : launched[static_cast<std::size_t>(found - launch_ns.begin()) - 1];
}

std::uint32_t StreamWork::first_launched_from(std::int64_t time_ns) const noexcept {
  const auto found = std::lower_bound(launch_ns.begin(), launch_ns.end(), time_ns);
  return found == launch_ns.end() ? no_row : launched[static_cast<std::size_t>(found - launch_ns.begin())];
}

std::uint32_t StreamWork::last_ended_by(std::int64_t time_ns) const noexcept {
  const auto found = std::upper_bound(end_ns.begin(), end_ns.end(), time_ns);
  return found == end_ns.begin() ? no_row : ended[static_cast<std::size_t>(found - end_ns.begin()) - 1];
}

std::int64_t StreamWork::outstanding(std::int64_t time_ns) const noexcept {
  const auto begun = std::lower_bound(launch_ns.begin(), launch_ns.end(), time_ns) - launch_ns.begin();
  const auto done = std::upper_bound(end_ns.begin(), end_ns.end(), time_ns) - end_ns.begin();
  return static_cast<std::int64_t>(begun - done);
}

Launches pair_launches(const DeviceTrace& trace, const CallTree& tree, OnError on_error) {
  Launches out;
  out.work = collect_work(trace, tree, out);
  const Pairing pairing(trace, tree, on_error);
  for (DeviceWork& item : out.work) pairing.link(item, out);
  place_untimed(trace, tree, out.work);
  std::stable_sort(out.work.begin(), out.work.end(),
                   [](const DeviceWork& a, const DeviceWork& b) { return a.start_ns < b.start_ns; });
  order_streams(tree, out);
  index_by_call(tree, out);
  return out;
}

}  // namespace chakra::pytorch
