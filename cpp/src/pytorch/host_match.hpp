// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "pytorch/call_tree.hpp"
#include "pytorch/device_trace.hpp"
#include "pytorch/host_trace.hpp"

namespace chakra::pytorch {

/// How host nodes and Kineto ops were joined.
enum class MatchMethod : std::uint8_t {
  none,
  record_function_id,  ///< equal ids
  external_id,         ///< External id equals rf_id, and nearly all names agree
  name_order,          ///< aligned thread by thread by the order of names
};
std::string_view to_string(MatchMethod method) noexcept;

/// Host nodes and Kineto events that are the same op.
struct HostMatch {
  std::vector<std::uint32_t> node_of_event;  ///< row of HostTrace::nodes, or no_row
  std::vector<std::uint32_t> event_of_node;  ///< row of DeviceTrace::events, or no_row
  MatchMethod method = MatchMethod::none;
  std::uint64_t host_ops = 0;  ///< host nodes that are ops: with a record function id
  std::uint64_t matched = 0;   ///< of them
  std::uint64_t windows = 0;   ///< name order only: places where the host trace's longest thread would fit
};

/// Rules of section 3: record function id; External id where the names bear it out; else the order of names.
HostMatch match_host(const HostTrace& host, const DeviceTrace& device, const CallTree& tree);

}  // namespace chakra::pytorch
