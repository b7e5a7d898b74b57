// SPDX-License-Identifier: MIT
#include "sim/launch_order.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace chakra::sim {

namespace {

bool is_on_host(const Trace& trace, NodeIndex row) { return trace.is_cpu_op().value_or(row, 0) != 0; }

/// The host node that a collective waits for, itself or through the pause before it; else its own.
NodeId launch_of(const Trace& trace, NodeIndex row) {
  const auto host_parent = [&trace](NodeIndex of) {
    const auto parents = trace.data_deps()[of];
    return std::find_if(parents.begin(), parents.end(), [&](NodeIndex parent) { return is_on_host(trace, parent); });
  };
  const auto direct = host_parent(row);
  if (direct != trace.data_deps()[row].end()) return trace.ids()[*direct];
  for (const NodeIndex pause : trace.data_deps()[row]) {
    if (trace.types()[pause] != NodeType::comp) continue;
    const auto launch = host_parent(pause);
    if (launch != trace.data_deps()[pause].end()) return trace.ids()[*launch];
  }
  return trace.ids()[row];
}

}  // namespace

bool is_converted(const Trace& trace) {
  const auto& attributes = trace.metadata().attributes;
  return std::any_of(attributes.begin(), attributes.end(), [](const Attribute& attribute) {
    const auto* value = std::get_if<std::string>(&attribute.value);
    return attribute.name == "layout" && value != nullptr && (*value == "exact" || *value == "ops");
  });
}

LaunchOrder find_launch_order(const Trace& trace, const GroupTable& groups) {
  LaunchOrder order;
  if (!is_converted(trace)) return order;
  std::map<std::uint32_t, std::vector<std::pair<NodeId, NodeIndex>>> launched;
  for (NodeIndex row = 0; row < trace.size(); ++row) {
    const bool of_stream = trace.column(IntegerAttribute::stream).has(row);
    if (trace.types()[row] != NodeType::comm_coll || of_stream) continue;
    const auto name = trace.pg_name().get(row);
    const auto group = name ? groups.find(trace.string(*name)) : GroupTable::world;
    if (group) launched[*group].emplace_back(launch_of(trace, row), row);
  }
  for (auto& [group, collectives] : launched) {
    std::sort(collectives.begin(), collectives.end());
    std::uint32_t number = 0;
    for (const auto& [launch, row] : collectives) order.turns[row] = {group, number++};
  }
  return order;
}

}  // namespace chakra::sim
