// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "chakra_core/errors.hpp"
#include "chakra_core/timeline.hpp"
#include "io/output_file.hpp"
#include "timeline/lanes.hpp"
#include "timeline/sink.hpp"

namespace chakra {

namespace {

void check_columns(const TimelineProcess& process) {
  const std::size_t slices = process.rows.size();
  if (process.trace == nullptr) {
    throw ChakraError("timeline: '" + process.name + "' has no trace");
  }
  if (process.track.size() != slices || process.start_ns.size() != slices || process.end_ns.size() != slices) {
    throw ChakraError("timeline: the columns of '" + process.name + "' have unequal lengths: rows " +
                      std::to_string(slices) + ", track " + std::to_string(process.track.size()) + ", start_ns " +
                      std::to_string(process.start_ns.size()) + ", end_ns " + std::to_string(process.end_ns.size()));
  }
  if (slices > std::numeric_limits<std::uint32_t>::max()) {
    throw ChakraError("timeline: '" + process.name + "' has more than 2^32 - 1 slices");
  }
}

/// What is wrong with a slice; empty if nothing is.
std::string problem_of(const TimelineProcess& process, std::size_t index) {
  if (process.rows[index] >= process.trace->size()) {
    return "row " + std::to_string(process.rows[index]) + " of a trace of " + std::to_string(process.trace->size()) +
           " rows";
  }
  if (process.track[index] >= process.tracks.size()) {
    return "track " + std::to_string(process.track[index]) + " of " + std::to_string(process.tracks.size());
  }
  if (process.end_ns[index] < process.start_ns[index]) {
    return "an end at " + std::to_string(process.end_ns[index]) + " ns before its start at " +
           std::to_string(process.start_ns[index]) + " ns";
  }
  return {};
}

/// Slices of each track of the process.
std::vector<timeline::Lane> group_by_track(const TimelineProcess& process) {
  std::vector<timeline::Lane> slices(process.tracks.size());
  for (std::size_t index = 0; index < process.rows.size(); ++index) {
    const std::string problem = problem_of(process, index);
    if (!problem.empty()) {
      throw ChakraError("timeline: slice " + std::to_string(index) + " of '" + process.name + "' has " + problem);
    }
    slices[process.track[index]].push_back(static_cast<std::uint32_t>(index));
  }
  return slices;
}

void count_slice(Progress* progress) {
  if (progress == nullptr) {
    return;
  }
  if (progress->cancel.load(std::memory_order_relaxed)) {
    throw Cancelled();
  }
  progress->done.fetch_add(1, std::memory_order_relaxed);
}

/// The ends of all arrows, by process and slice.
class Flows {
 public:
  /// Throws ChakraError for slices that do not exist.
  explicit Flows(const Timeline& timeline) : timeline_(timeline) {
    for (std::size_t i = 0; i < timeline.flows.size(); ++i) {
      const TimelineFlow& flow = timeline.flows[i];
      check(flow.from_process, flow.from_slice, i);
      check(flow.to_process, flow.to_slice, i);
      ends_.push_back({flow.from_process, flow.from_slice, i, true});
      ends_.push_back({flow.to_process, flow.to_slice, i, false});
    }
    std::sort(ends_.begin(), ends_.end());
  }

  const timeline::SliceFlows& of(std::size_t process, std::size_t slice) {
    at_slice_.leaving.clear();
    at_slice_.arriving.clear();
    if (ends_.empty()) return at_slice_;
    auto end = std::lower_bound(ends_.begin(), ends_.end(), End{process, slice, 0, false});
    for (; end != ends_.end() && end->process == process && end->slice == slice; ++end) {
      const TimelineFlow& flow = timeline_.flows[end->flow];
      if (end->leaves) {
        at_slice_.leaving.push_back(end->flow + 1);
      } else {
        at_slice_.arriving.push_back({end->flow + 1, timeline_.processes[flow.from_process].start_ns[flow.from_slice]});
      }
    }
    return at_slice_;
  }

 private:
  struct End {
    std::size_t process;
    std::size_t slice;
    std::size_t flow;
    bool leaves;

    auto operator<=>(const End&) const = default;
  };

  void check(std::size_t process, std::size_t slice, std::size_t flow) const {
    if (process < timeline_.processes.size() && slice < timeline_.processes[process].start_ns.size()) return;
    throw ChakraError("timeline: flow " + std::to_string(flow) + " has slice " + std::to_string(slice) +
                      " of process " + std::to_string(process) + ", which does not exist");
  }

  const Timeline& timeline_;
  std::vector<End> ends_;
  timeline::SliceFlows at_slice_;
};

void check_counter(const TimelineCounter& counter) {
  const std::string where = "timeline: counter '" + counter.name + "' ";
  if (counter.time_ns.size() != counter.value.size()) {
    throw ChakraError(where + "has " + std::to_string(counter.time_ns.size()) + " times and " +
                      std::to_string(counter.value.size()) + " values");
  }
  if (!std::is_sorted(counter.time_ns.begin(), counter.time_ns.end())) {
    throw ChakraError(where + "has times that do not ascend");
  }
  if (!std::all_of(counter.value.begin(), counter.value.end(), [](double value) { return std::isfinite(value); })) {
    throw ChakraError(where + "has a value that is not finite");
  }
}

void draw(const Timeline& timeline, std::size_t number_of_process, Flows& flows, timeline::Sink& sink,
          Progress* progress) {
  const TimelineProcess& process = timeline.processes[number_of_process];
  std::vector<timeline::Lane> tracks = group_by_track(process);
  sink.begin_process(process);
  for (std::size_t track = 0; track < tracks.size(); ++track) {
    if (tracks[track].empty()) {
      continue;
    }
    const std::vector<timeline::Lane> lanes =
        timeline::split_into_lanes(std::move(tracks[track]), process.start_ns, process.end_ns);
    for (std::size_t number = 0; number < lanes.size(); ++number) {
      sink.begin_lane(process.tracks[track], number);
      for (const std::uint32_t slice : lanes[number]) {
        sink.slice(slice, flows.of(number_of_process, slice));
        count_slice(progress);
      }
      sink.end_lane();
    }
  }
}

}  // namespace

TimelineFormat timeline_format(const std::filesystem::path& path) {
  const std::filesystem::path name = io::without_compression_suffix(path);
  return name.extension() == ".json" ? TimelineFormat::chrome_json : TimelineFormat::perfetto;
}

void write_timeline(const Timeline& timeline, const std::filesystem::path& path, const TimelineOptions& options) {
  const std::span<const TimelineProcess> processes = timeline.processes;
  for (const TimelineProcess& process : processes) check_columns(process);
  for (const TimelineCounter& counter : timeline.counters) check_counter(counter);
  Flows flows(timeline);
  if (options.progress != nullptr) {
    options.progress->total =
        std::accumulate(processes.begin(), processes.end(), std::uint64_t{0},
                        [](std::uint64_t sum, const TimelineProcess& process) { return sum + process.rows.size(); });
  }
  io::OutputFile file(path, io::choose_encoding(path));
  const TimelineFormat format = options.format.value_or(timeline_format(path));
  const std::unique_ptr<timeline::Sink> sink = format == TimelineFormat::chrome_json
                                                   ? timeline::make_chrome_json_sink(file)
                                                   : timeline::make_perfetto_sink(file);
  for (std::size_t i = 0; i < processes.size(); ++i) draw(timeline, i, flows, *sink, options.progress);
  for (const TimelineCounter& counter : timeline.counters) sink->counter(counter);
  sink->finish();
  file.commit();
}

}  // namespace chakra
