// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>

#include "pytorch/synchronisation.hpp"

namespace chakra::pytorch {

namespace {

// The CUDA launch queue holds 1022 launches; a launch that finds fewer than this is not blocked by it.
constexpr std::int64_t queue_nearly_full = 1000;
constexpr std::int64_t blocked_call_ns = 50'000;

bool contains(std::string_view text, std::string_view part) noexcept {
  return text.find(part) != std::string_view::npos;
}

class CpuWaitFinder {
 public:
  CpuWaitFinder(const DeviceTrace& trace, const CallTree& tree, const std::vector<CallRole>& roles,
                const SyncIndex& syncs, const Launches& launches)
      : trace_(trace), tree_(tree), roles_(roles), syncs_(syncs), launches_(launches) {}

  CpuWaits run() {
    for (std::uint32_t lane = 0; lane < tree_.lane_count(); ++lane) {
      last_launch_ = no_row;
      last_record_ns_ = -1;
      for (std::uint32_t f = tree_.lane_begin[lane]; f < tree_.lane_begin[lane + 1]; ++f) visit(f);
    }
    return std::move(out_);
  }

 private:
  void visit(std::uint32_t f) {
    const std::size_t before = out_.waits.size();
    switch (roles_[f]) {
      case CallRole::stream_synchronize:
        wait_for_stream(f, synchronised_stream(f));
        break;
      case CallRole::device_synchronize:
        wait_for_device(f);
        break;
      case CallRole::event_synchronize:
        wait_for_event(f);
        break;
      case CallRole::event_record:
        last_record_ns_ = tree_.frames[f].start_ns;
        break;
      default:
        break;
    }
    const auto launched = launches_.launched_by(f);
    if (launched.empty()) return;
    if (out_.waits.size() == before) wait_in_launch(f, launched.front());
    last_launch_ = launched.back();
  }

  std::uint32_t stream_index(std::int32_t device, std::int64_t stream) const {
    for (std::uint32_t s = 0; s < launches_.streams.size(); ++s) {
      const StreamWork& work = launches_.streams[s];
      if (work.stream == stream && (device < 0 || work.device == device)) return s;
    }
    return no_row;
  }

  std::uint32_t synchronised_stream(std::uint32_t f) const {
    const std::uint32_t sync = syncs_.sync_of(f);
    if (sync != no_row && trace_.events[sync].stream >= 0) {
      return stream_index(trace_.events[sync].device, trace_.events[sync].stream);
    }
    return last_launch_ == no_row ? no_row : launches_.work[last_launch_].stream;
  }

  void wait_for_stream(std::uint32_t f, std::uint32_t stream) {
    if (stream == no_row) return;
    add(f, launches_.streams[stream].last_launched_before(tree_.frames[f].start_ns), CpuWaitKind::stream);
  }

  void wait_for_device(std::uint32_t f) {
    const std::uint32_t sync = syncs_.sync_of(f);
    std::int32_t device = sync == no_row ? -1 : trace_.events[sync].device;
    if (device < 0 && last_launch_ != no_row) device = launches_.streams[launches_.work[last_launch_].stream].device;
    for (const StreamWork& stream : launches_.streams) {
      if (device >= 0 && stream.device != device) continue;
      add(f, stream.last_launched_before(tree_.frames[f].start_ns), CpuWaitKind::device);
    }
  }

  void wait_for_event(std::uint32_t f) {
    const std::uint32_t sync = syncs_.sync_of(f);
    if (sync != no_row && trace_.events[sync].sync != no_row) {
      const SyncArguments& arguments = trace_.syncs[trace_.events[sync].sync];
      const std::uint32_t record = syncs_.call_of(arguments.wait_on_record);
      if (record == no_row) {
        ++out_.unknown_record;
        return;
      }
      const std::uint32_t stream = stream_index(trace_.events[sync].device, arguments.wait_on_stream);
      if (stream == no_row) return;
      add(f, launches_.streams[stream].last_launched_before(tree_.frames[record].start_ns), CpuWaitKind::event);
      return;
    }
    add_event_by_time(f);
  }

  // Without identifiers: the latest work launched before this thread's last record that ended while the call waited.
  void add_event_by_time(std::uint32_t f) {
    const Frame& call = tree_.frames[f];
    std::uint32_t best = no_row;
    for (const StreamWork& stream : launches_.streams) {
      if (last_record_ns_ < 0) break;
      const std::uint32_t launched = stream.last_launched_before(last_record_ns_);
      if (launched == no_row) continue;
      std::uint32_t candidate = stream.last_ended_by(call.end_ns);
      if (candidate == no_row) continue;
      if (launches_.work[candidate].end_ns > launches_.work[launched].end_ns) candidate = launched;
      const std::int64_t end = launches_.work[candidate].end_ns;
      if (end < call.start_ns || end > call.end_ns) continue;
      if (best == no_row || end > launches_.work[best].end_ns) best = candidate;
    }
    if (best == no_row) {
      ++out_.unknown_source;
    } else {
      add(f, best, CpuWaitKind::event);
    }
  }

  void wait_in_launch(std::uint32_t f, std::uint32_t work) {
    const Frame& call = tree_.frames[f];
    const DeviceWork& item = launches_.work[work];
    const DeviceEvent& event = trace_.events[item.event];
    const StreamWork& stream = launches_.streams[item.stream];
    if (event.kind == DeviceEventKind::memcpy) {
      const std::string_view name = trace_.strings.view(event.name);
      const bool pageable = contains(name, "Pageable");
      const bool waits = roles_[f] == CallRole::memcpy_block || (contains(name, "DtoH") && pageable);
      if (waits && item.end_ns <= call.end_ns && !contains(name, "DtoD")) {
        add(f, work, CpuWaitKind::memcpy);
        return;
      }
      if (contains(name, "HtoD") && pageable && item.previous != no_row && item.end_ns > call.end_ns) {
        const std::int64_t end = launches_.work[item.previous].end_ns;
        if (end >= call.start_ns && end <= call.end_ns) {
          add(f, item.previous, CpuWaitKind::memcpy_previous);
          return;
        }
      }
    }
    if (call.end_ns - call.start_ns <= blocked_call_ns) return;
    if (stream.outstanding(call.start_ns) < queue_nearly_full) return;
    const std::uint32_t freed = stream.last_ended_by(call.end_ns);
    if (freed != no_row && launches_.work[freed].end_ns >= call.start_ns) add(f, freed, CpuWaitKind::queue);
  }

  void add(std::uint32_t f, std::uint32_t work, CpuWaitKind kind) {
    if (work == no_row) return;
    if (launches_.work[work].end_ns > tree_.frames[f].end_ns) {
      ++out_.dropped;
      return;
    }
    out_.waits.push_back({f, work, kind});
  }

  const DeviceTrace& trace_;
  const CallTree& tree_;
  const std::vector<CallRole>& roles_;
  const SyncIndex& syncs_;
  const Launches& launches_;
  CpuWaits out_;
  std::uint32_t last_launch_ = no_row;  // of the lane that is walked
  std::int64_t last_record_ns_ = -1;    // likewise
};

}  // namespace

std::string_view to_string(CpuWaitKind kind) noexcept {
  constexpr std::array<std::string_view, cpu_wait_kind_count> names = {"stream", "device",          "event",
                                                                       "memcpy", "memcpy previous", "queue"};
  return names[static_cast<std::size_t>(kind)];
}

SyncIndex::SyncIndex(const DeviceTrace& trace, const CallTree& tree) : trace_(trace), tree_(tree) {
  for (std::uint32_t row = 0; row < trace.events.size(); ++row) {
    const DeviceEvent& event = trace.events[row];
    if (event.correlation == 0) continue;
    if (event.kind == DeviceEventKind::sync) sync_by_correlation_.push_back({event.correlation, row});
    if (event.kind == DeviceEventKind::runtime_call) {
      call_by_correlation_.push_back({event.correlation, tree.frame_of_event[row]});
    }
  }
  const auto by_correlation = [](const Entry& a, const Entry& b) {
    return a.correlation != b.correlation ? a.correlation < b.correlation : a.row < b.row;
  };
  std::sort(sync_by_correlation_.begin(), sync_by_correlation_.end(), by_correlation);
  std::sort(call_by_correlation_.begin(), call_by_correlation_.end(), by_correlation);
}

std::uint32_t SyncIndex::find(const std::vector<Entry>& entries, std::uint64_t correlation) {
  if (correlation == 0) return no_row;
  const auto found = std::lower_bound(entries.begin(), entries.end(), correlation,
                                      [](const Entry& e, std::uint64_t c) { return e.correlation < c; });
  return found == entries.end() || found->correlation != correlation ? no_row : found->row;
}

std::uint32_t SyncIndex::sync_of(std::uint32_t frame) const {
  return find(sync_by_correlation_, trace_.events[tree_.frames[frame].event].correlation);
}

std::uint32_t SyncIndex::call_of(std::uint64_t correlation) const { return find(call_by_correlation_, correlation); }

CpuWaits find_cpu_waits(const DeviceTrace& trace, const CallTree& tree, const std::vector<CallRole>& roles,
                        const SyncIndex& syncs, const Launches& launches) {
  return CpuWaitFinder(trace, tree, roles, syncs, launches).run();
}

}  // namespace chakra::pytorch
