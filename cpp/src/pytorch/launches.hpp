// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "chakra_core/et_file.hpp"
#include "pytorch/call_tree.hpp"
#include "pytorch/device_trace.hpp"

namespace chakra::pytorch {

/// Why a device event has no launch call.
enum class Orphan : std::uint8_t {
  none,               ///< it has one
  call_not_in_trace,  ///< its correlation names a call that was not recorded (launched before the window)
  no_correlation,     ///< correlation 0 or absent, and no call or op with its external id
};

/// A kernel, copy or set. Times are relative to the call tree's origin.
struct DeviceWork {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t event = no_row;
  std::uint32_t stream = 0;          ///< index in Launches::streams
  std::uint32_t call = no_row;       ///< frame of the launch call
  std::uint32_t parent_op = no_row;  ///< frame of the op that launched it: innermost around the call
  std::uint32_t previous = no_row;   ///< work before it on its stream
  Orphan orphan = Orphan::none;
};

/// The work of one stream of one device.
struct StreamWork {
  std::int32_t device = -1;
  std::int64_t stream = no_stream;
  std::vector<std::uint32_t> order;     ///< by start
  std::vector<std::uint32_t> launched;  ///< by launch time; work without a launch counts from its start
  std::vector<std::int64_t> launch_ns;  ///< of `launched`
  std::vector<std::uint32_t> ended;     ///< by end
  std::vector<std::int64_t> end_ns;     ///< of `ended`

  /// Last work launched before the time, or no_row.
  std::uint32_t last_launched_before(std::int64_t time_ns) const noexcept;
  /// First work launched at or after the time, or no_row.
  std::uint32_t first_launched_from(std::int64_t time_ns) const noexcept;
  /// Last work that ended at or before the time, or no_row.
  std::uint32_t last_ended_by(std::int64_t time_ns) const noexcept;
  /// Launched before the time and not ended by then.
  std::int64_t outstanding(std::int64_t time_ns) const noexcept;
};

struct Launches {
  std::vector<DeviceWork> work;  ///< by start, then file order
  std::vector<StreamWork> streams;
  /// Work launched by frame f: launched_work[first_launched[f] .. first_launched[f + 1]), by start.
  std::vector<std::uint32_t> first_launched;
  std::vector<std::uint32_t> launched_work;
  std::uint64_t ambiguous = 0;       ///< work whose correlation names several calls
  std::uint64_t by_external_id = 0;  ///< linked by external id for want of a correlation
  std::uint64_t without_op = 0;      ///< launched outside every op
  std::uint64_t orphans = 0;         ///< work without a launch call

  std::span<const std::uint32_t> launched_by(std::uint32_t frame) const noexcept {
    return std::span(launched_work).subspan(first_launched[frame], first_launched[frame + 1] - first_launched[frame]);
  }
};

/// Pairs every device event with its launch call and orders the streams.
/// Throws LinkError with OnError::strict where one correlation names several calls.
Launches pair_launches(const DeviceTrace& trace, const CallTree& tree, OnError on_error);

}  // namespace chakra::pytorch
