// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>

#include "pytorch/communication.hpp"
#include "pytorch/process_groups.hpp"

namespace chakra::pytorch {

GroupTable::GroupTable(const HostTrace* host, const DeviceTrace* device) {
  if (device != nullptr) add_from_arguments(*device);
  if (host != nullptr) add_from_init(*host);
  if (device != nullptr) {
    for (const ProcessGroup& group : device->distributed.groups) add(group);
  }
}

void GroupTable::add(ProcessGroup group) {
  // `ranks: []` stands for all ranks of the group's size.
  if (group.ranks.empty() && group.size > 0 && group.size < (1 << 24)) {
    for (std::int64_t rank = 0; rank < group.size; ++rank) group.ranks.push_back(rank);
  }
  const auto same = std::find_if(groups_.begin(), groups_.end(),
                                 [&group](const ProcessGroup& other) { return other.name == group.name; });
  if (same == groups_.end()) {
    groups_.push_back(std::move(group));
    return;
  }
  if (group.description.empty()) group.description = same->description;
  if (group.backend.empty()) group.backend = same->backend;
  if (group.ranks.empty()) {
    group.ranks = same->ranks;
    group.size = same->size;
  }
  *same = std::move(group);
}

void GroupTable::add_from_arguments(const DeviceTrace& device) {
  std::vector<std::uint32_t> seen;  // names of groups whose ranks are known, few
  for (const CommArguments& arguments : device.communications) {
    if (arguments.group_name == no_string) continue;
    if (std::find(seen.begin(), seen.end(), arguments.group_name) != seen.end()) continue;
    ProcessGroup group;
    group.name = std::string(device.strings.view(arguments.group_name));
    if (group.name.empty()) continue;
    if (arguments.group_description != no_string) {
      group.description = std::string(device.strings.view(arguments.group_description));
    }
    group.size = arguments.group_size;
    if (arguments.group_ranks != no_string) group.ranks = parse_integers(device.strings.view(arguments.group_ranks));
    if (group.ranks.empty() && arguments.global_rank_start >= 0 && arguments.global_rank_stride > 0) {
      for (std::int64_t i = 0; i < std::min<std::int64_t>(arguments.group_size, 1 << 24); ++i) {
        group.ranks.push_back(arguments.global_rank_start + i * arguments.global_rank_stride);
      }
    }
    if (!group.ranks.empty()) seen.push_back(arguments.group_name);
    add(std::move(group));
  }
}

void GroupTable::add_from_init(const HostTrace& host) {
  for (const HostNode& node : host.nodes) {
    if (host.strings.view(node.name).find("process_group:init") == std::string_view::npos) continue;
    if (node.inputs.values == no_string) continue;
    // ['[{"pg_name": ...}]']: a list of one string, which is JSON.
    const std::string_view values = host.strings.view(node.inputs.values);
    const std::size_t begin = values.find('[', 1);
    const std::size_t end = values.rfind(']', values.empty() ? 0 : values.size() - 2);
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) continue;
    for (ProcessGroup& group : parse_process_groups(values.substr(begin, end - begin + 1))) add(std::move(group));
  }
}

const ProcessGroup* GroupTable::find(std::string_view name) const noexcept {
  for (const ProcessGroup& group : groups_) {
    if (group.name == name) return &group;
  }
  return nullptr;
}

const ProcessGroup* GroupTable::fallback() const noexcept {
  for (const ProcessGroup& group : groups_) {
    if (group.description == "default_pg") return &group;
  }
  return groups_.size() == 1 ? groups_.data() : nullptr;
}

std::int64_t GroupTable::global_rank(std::string_view name, std::int64_t rank) const noexcept {
  const ProcessGroup* group = find(name);
  if (group == nullptr || rank < 0 || static_cast<std::size_t>(rank) >= group->ranks.size()) return rank;
  return group->ranks[static_cast<std::size_t>(rank)];
}

}  // namespace chakra::pytorch
