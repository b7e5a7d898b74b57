// SPDX-License-Identifier: MIT
#include "pytorch/call_tree.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "chakra_core/errors.hpp"

namespace chakra::pytorch {

namespace {

bool is_op_kind(DeviceEventKind kind) noexcept {
  return kind == DeviceEventKind::cpu_op || kind == DeviceEventKind::user_annotation;
}

bool is_backend(const DeviceTrace& trace, const DeviceEvent& event) {
  return event.kind == DeviceEventKind::user_annotation && is_backend_annotation(trace.strings.view(event.name));
}

// Threads that run ops. Others (a watchdog that polls) may go on long after the work is done.
std::vector<std::uint8_t> threads_with_ops(const DeviceTrace& trace) {
  std::vector<std::uint8_t> has_ops(trace.threads.size(), 0);
  for (const DeviceEvent& event : trace.events) {
    if (is_op_kind(event.kind)) has_ops[event.thread] = 1;
  }
  return has_ops;
}

// Differences of times must not leave 64 bits; a record of 36 years is damaged anyway.
void check_range(const DeviceTrace& trace) {
  constexpr std::uint64_t limit = std::uint64_t{1} << 60;
  const DeviceEvent* first = nullptr;
  const DeviceEvent* last = nullptr;
  for (const DeviceEvent& event : trace.events) {
    if (event.kind == DeviceEventKind::sync || (is_device_work(event.kind) && lacks_time(event))) continue;
    if (first == nullptr || event.start_ns < first->start_ns) first = &event;
    if (last == nullptr || event.end_ns() > last->end_ns()) last = &event;
  }
  if (first == nullptr) return;
  if (static_cast<std::uint64_t>(last->end_ns()) - static_cast<std::uint64_t>(first->start_ns) < limit) return;
  throw LinkError(trace.path + ": the times cannot be of one record: '" + std::string(trace.strings.view(first->name)) +
                  "' starts at " + std::to_string(first->start_ns) + " ns and '" +
                  std::string(trace.strings.view(last->name)) + "' ends at " + std::to_string(last->end_ns()) +
                  " ns; remove the damaged event");
}

void find_bounds(const DeviceTrace& trace, CallTree& tree) {
  const std::vector<std::uint8_t> has_ops = threads_with_ops(trace);
  const bool any_ops = std::find(has_ops.begin(), has_ops.end(), 1) != has_ops.end();
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  for (const DeviceEvent& event : trace.events) {
    if (event.kind == DeviceEventKind::sync) continue;
    if (is_device_work(event.kind) && lacks_time(event)) {
      ++tree.without_time;
      continue;
    }
    if (event.kind == DeviceEventKind::runtime_call && any_ops && has_ops[event.thread] == 0) continue;
    first = std::min(first, event.start_ns);
    last = std::max(last, event.end_ns());
  }
  if (first > last) return;
  tree.origin_ns = first;
  tree.span_ns = last - first;
}

// Events that become frames, in the order of CallTree::frames.
std::vector<std::uint32_t> sorted_frame_events(const DeviceTrace& trace, CallTree& tree) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < trace.events.size(); ++row) {
    const DeviceEvent& event = trace.events[row];
    if (is_backend(trace, event)) {
      tree.backend_annotations.push_back(row);
    } else if (is_op_kind(event.kind) || event.kind == DeviceEventKind::runtime_call) {
      rows.push_back(row);
    }
  }
  const auto& events = trace.events;
  std::sort(rows.begin(), rows.end(), [&events](std::uint32_t a, std::uint32_t b) {
    const DeviceEvent& x = events[a];
    const DeviceEvent& y = events[b];
    if (x.thread != y.thread) return x.thread < y.thread;
    if (x.start_ns != y.start_ns) return x.start_ns < y.start_ns;
    if (x.duration_ns != y.duration_ns) return x.duration_ns > y.duration_ns;
    const bool x_op = is_op_kind(x.kind);
    const bool y_op = is_op_kind(y.kind);
    return x_op != y_op ? x_op : a < b;
  });
  std::sort(tree.backend_annotations.begin(), tree.backend_annotations.end(),
            [&events](std::uint32_t a, std::uint32_t b) {
              return events[a].start_ns != events[b].start_ns ? events[a].start_ns < events[b].start_ns : a < b;
            });
  return rows;
}

void open_lane(CallTree& tree, std::uint32_t thread) {
  tree.lane_begin.push_back(static_cast<std::uint32_t>(tree.frames.size()));
  tree.lane_thread.push_back(thread);
  tree.lane_has_cpu_op.push_back(0);
}

}  // namespace

bool is_backend_annotation(std::string_view name) noexcept {
  return name.starts_with("gloo:") || name.starts_with("mpi:") || name.starts_with("ucc:");
}

bool is_device_work(DeviceEventKind kind) noexcept {
  return kind == DeviceEventKind::kernel || kind == DeviceEventKind::memcpy || kind == DeviceEventKind::memset;
}

bool lacks_time(const DeviceEvent& event) noexcept { return event.start_ns == 0 && event.duration_ns == 0; }

CallTree build_call_tree(const DeviceTrace& trace) {
  CallTree tree;
  check_range(trace);
  find_bounds(trace, tree);
  const std::vector<std::uint32_t> rows = sorted_frame_events(trace, tree);
  tree.frames.reserve(rows.size());
  tree.frame_of_event.assign(trace.events.size(), no_row);
  std::vector<std::uint32_t> open;
  for (const std::uint32_t row : rows) {
    const DeviceEvent& event = trace.events[row];
    if (tree.lane_thread.empty() || tree.lane_thread.back() != event.thread) {
      open_lane(tree, event.thread);
      open.clear();
    }
    const auto index = static_cast<std::uint32_t>(tree.frames.size());
    Frame frame;
    frame.start_ns = event.start_ns - tree.origin_ns;
    frame.end_ns = event.end_ns() - tree.origin_ns;
    frame.event = row;
    frame.lane = static_cast<std::uint32_t>(tree.lane_thread.size() - 1);
    frame.is_op = is_op_kind(event.kind);
    frame.is_annotation = event.kind == DeviceEventKind::user_annotation;
    while (!open.empty() && tree.frames[open.back()].end_ns <= frame.start_ns) {
      // An empty frame at the very start of an equally empty one is its child, not its successor.
      const Frame& top = tree.frames[open.back()];
      if (top.end_ns == frame.start_ns && top.start_ns == frame.start_ns && frame.end_ns == frame.start_ns) break;
      open.pop_back();
    }
    if (!open.empty()) {
      const Frame& top = tree.frames[open.back()];
      frame.parent = open.back();
      frame.op = top.op;
      if (frame.end_ns > top.end_ns) {
        frame.end_ns = top.end_ns;
        ++tree.clipped;
      }
    }
    if (frame.is_op) frame.op = index;
    if (event.kind == DeviceEventKind::cpu_op) tree.lane_has_cpu_op.back() = 1;
    tree.frame_of_event[row] = index;
    tree.frames.push_back(frame);
    open.push_back(index);
  }
  tree.lane_begin.push_back(static_cast<std::uint32_t>(tree.frames.size()));
  return tree;
}

}  // namespace chakra::pytorch
