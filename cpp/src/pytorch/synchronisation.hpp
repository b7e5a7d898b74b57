// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "pytorch/call_tree.hpp"
#include "pytorch/calls.hpp"
#include "pytorch/device_trace.hpp"
#include "pytorch/launches.hpp"

namespace chakra::pytorch {

/// cuda_sync events found by correlation, and event records by theirs.
class SyncIndex {
 public:
  SyncIndex(const DeviceTrace& trace, const CallTree& tree);

  /// The trace has cuda_sync events.
  bool any() const noexcept { return !sync_by_correlation_.empty(); }
  /// Event row of the cuda_sync event that belongs to a call, or no_row.
  std::uint32_t sync_of(std::uint32_t frame) const;
  /// Frame of the call with this correlation, or no_row.
  std::uint32_t call_of(std::uint64_t correlation) const;

 private:
  struct Entry {
    std::uint64_t correlation;
    std::uint32_t row;
  };
  static std::uint32_t find(const std::vector<Entry>& entries, std::uint64_t correlation);

  const DeviceTrace& trace_;
  const CallTree& tree_;
  std::vector<Entry> sync_by_correlation_;
  std::vector<Entry> call_by_correlation_;
};

/// Why a CPU call waits for device work.
enum class CpuWaitKind : std::uint8_t {
  stream,           ///< *StreamSynchronize
  device,           ///< *DeviceSynchronize
  event,            ///< *EventSynchronize
  memcpy,           ///< a copy that is waited for by its own call
  memcpy_previous,  ///< a pageable copy to the device that waits for earlier work
  queue,            ///< the launch queue of the stream is full
};
inline constexpr std::size_t cpu_wait_kind_count = 6;
std::string_view to_string(CpuWaitKind kind) noexcept;

/// The call (a frame) returns only after the work has ended.
struct CpuWait {
  std::uint32_t frame = no_row;
  std::uint32_t work = no_row;
  CpuWaitKind kind = CpuWaitKind::stream;
};

struct CpuWaits {
  std::vector<CpuWait> waits;        ///< by frame
  std::uint64_t dropped = 0;         ///< the source ends after the call: the record contradicts the edge
  std::uint64_t unknown_record = 0;  ///< an event synchronize whose event record is not in the trace
  std::uint64_t unknown_source = 0;  ///< an event synchronize without any identifiable source
};

/// Rules of section 5: which calls wait for which device work.
CpuWaits find_cpu_waits(const DeviceTrace& trace, const CallTree& tree, const std::vector<CallRole>& roles,
                        const SyncIndex& syncs, const Launches& launches);

/// Why work of one stream waits for work of another.
enum class StreamWaitKind : std::uint8_t {
  event,      ///< recorded: cuda_sync "Stream Wait Event"
  pre_comm,   ///< a communication kernel waits for the work before it
  wait_comm,  ///< work waits for a communication kernel
  sync_comm,  ///< likewise, in the same frame as its launch
  other,      ///< the last work launched on another stream
};
inline constexpr std::size_t stream_wait_kind_count = 5;
std::string_view to_string(StreamWaitKind kind) noexcept;

struct StreamWait {
  std::uint32_t source = no_row;  ///< work
  std::uint32_t target = no_row;  ///< work
  StreamWaitKind kind = StreamWaitKind::event;
};

struct StreamWaits {
  std::vector<StreamWait> waits;     ///< by target
  std::uint64_t dropped = 0;         ///< the source ends after the target starts
  std::uint64_t without_work = 0;    ///< no kernel on one of the sides
  std::uint64_t unknown_source = 0;  ///< no rule gives a source
};

/// Rules of section 6: which device work waits for work of other streams. `is_comm` marks communication kernels.
StreamWaits find_stream_waits(const DeviceTrace& trace, const CallTree& tree, const std::vector<CallRole>& roles,
                              const SyncIndex& syncs, const Launches& launches,
                              const std::vector<std::uint8_t>& is_comm);

}  // namespace chakra::pytorch
