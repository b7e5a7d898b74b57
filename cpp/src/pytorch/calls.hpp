// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "pytorch/call_tree.hpp"
#include "pytorch/device_trace.hpp"

namespace chakra::pytorch {

/// What a runtime or driver call does to the order of things, by its name. Version suffixes ("_v3020", "_ptsz") and
/// prefixes (cuda, cu, hip) do not matter.
enum class CallRole : std::uint8_t {
  other,
  stream_synchronize,
  device_synchronize,
  event_synchronize,
  event_query,
  event_record,
  stream_wait_event,
  memcpy,        ///< a copy API that returns before the copy is done, where it can
  memcpy_block,  ///< a copy API that waits
};

CallRole call_role(std::string_view name) noexcept;

/// Roles of all frames (other for ops).
std::vector<CallRole> call_roles(const DeviceTrace& trace, const CallTree& tree);

}  // namespace chakra::pytorch
