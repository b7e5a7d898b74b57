// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "pytorch/device_trace.hpp"

namespace chakra::pytorch {

/// An op, annotation or runtime call on a CPU thread. Times are relative to CallTree::origin_ns.
struct Frame {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;        ///< clipped to the parent's end
  std::uint32_t event = no_row;   ///< row of DeviceTrace::events
  std::uint32_t parent = no_row;  ///< innermost enclosing frame
  std::uint32_t op = no_row;      ///< innermost op at or around: itself for an op, no_row for a call outside all ops
  std::uint32_t lane = 0;
  bool is_op = false;          ///< cpu_op or annotation, else a call
  bool is_annotation = false;  ///< user_annotation
};

/// The call tree of every CPU thread ("lane"), from the nesting of their events in time.
struct CallTree {
  std::vector<Frame> frames;                       ///< by lane, then start, longer first, ops before calls, file order
  std::vector<std::uint32_t> lane_begin;           ///< frames of lane l: lane_begin[l] .. lane_begin[l + 1] - 1
  std::vector<std::uint32_t> lane_thread;          ///< row of DeviceTrace::threads
  std::vector<std::uint8_t> lane_has_cpu_op;       ///< a lane without any is a watchdog or the like
  std::vector<std::uint32_t> frame_of_event;       ///< no_row for events that are no frames
  std::vector<std::uint32_t> backend_annotations;  ///< events, by start: "gloo:", "mpi:", "ucc:"; never frames
  std::int64_t origin_ns = 0;      ///< earliest start of any op, device event, or call of a thread with ops
  std::int64_t span_ns = 0;        ///< latest end, relative to the origin
  std::uint64_t clipped = 0;       ///< frames that ended after their parent
  std::uint64_t without_time = 0;  ///< device events with timestamp and duration 0

  std::size_t lane_count() const noexcept { return lane_thread.size(); }
};

/// A communication backend's own annotation ("gloo:all_reduce"), which is no work of the thread it is recorded on.
bool is_backend_annotation(std::string_view name) noexcept;

/// A kernel, copy or set on a device.
bool is_device_work(DeviceEventKind kind) noexcept;

/// Kineto writes device events that it could not time with timestamp and duration 0.
bool lacks_time(const DeviceEvent& event) noexcept;

/// Throws LinkError where the times span more than any record can.
CallTree build_call_tree(const DeviceTrace& trace);

}  // namespace chakra::pytorch
