// SPDX-License-Identifier: MIT
#include "pytorch/calls.hpp"

namespace chakra::pytorch {

namespace {

bool contains(std::string_view text, std::string_view part) noexcept {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

CallRole call_role(std::string_view name) noexcept {
  if (contains(name, "StreamSynchronize")) return CallRole::stream_synchronize;
  if (contains(name, "DeviceSynchronize") || contains(name, "CtxSynchronize")) return CallRole::device_synchronize;
  if (contains(name, "EventSynchronize")) return CallRole::event_synchronize;
  if (contains(name, "EventQuery")) return CallRole::event_query;
  if (contains(name, "EventRecord")) return CallRole::event_record;
  if (contains(name, "StreamWaitEvent")) return CallRole::stream_wait_event;
  if (contains(name, "Memcpy")) return contains(name, "Async") ? CallRole::memcpy : CallRole::memcpy_block;
  return CallRole::other;
}

std::vector<CallRole> call_roles(const DeviceTrace& trace, const CallTree& tree) {
  // Names are interned: each is looked at once.
  std::vector<CallRole> by_name(trace.strings.size(), CallRole::other);
  for (std::uint32_t name = 0; name < by_name.size(); ++name) by_name[name] = call_role(trace.strings.view(name));
  std::vector<CallRole> roles(tree.frames.size(), CallRole::other);
  for (std::size_t f = 0; f < roles.size(); ++f) {
    if (!tree.frames[f].is_op) roles[f] = by_name[trace.events[tree.frames[f].event].name];
  }
  return roles;
}

}  // namespace chakra::pytorch
