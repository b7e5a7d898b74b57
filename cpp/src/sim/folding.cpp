// SPDX-License-Identifier: MIT
#include "sim/folding.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "sim/communication_log.hpp"

namespace chakra::sim {

namespace {

/// Names may differ, and groups are compared by what they are.
constexpr std::array compared_attributes{
    IntegerAttribute::num_ops,   IntegerAttribute::tensor_size, IntegerAttribute::comm_type,
    IntegerAttribute::comm_size, IntegerAttribute::comm_src,    IntegerAttribute::comm_dst,
    IntegerAttribute::comm_tag,  IntegerAttribute::stream,      IntegerAttribute::tid,
};

bool same(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

bool same(const Adjacency& a, const Adjacency& b) {
  return same(a.offsets, b.offsets) &&
         std::equal(a.indices.begin(), a.indices.end(), b.indices.begin(), b.indices.end());
}

bool same_attributes(const Trace& a, const Trace& b) {
  for (NodeIndex row = 0; row < a.size(); ++row) {
    for (const IntegerAttribute attribute : compared_attributes) {
      if (a.column(attribute).get(row) != b.column(attribute).get(row)) return false;
    }
    if (is_on_cpu(a, row) != is_on_cpu(b, row)) return false;
    const auto dims_a = a.involved_dim().get(row);
    const auto dims_b = b.involved_dim().get(row);
    if (dims_a.has_value() != dims_b.has_value()) return false;
    if (dims_a && a.string(*dims_a) != b.string(*dims_b)) return false;
  }
  return true;
}

bool same_work(const Trace& a, const Trace& b) {
  return a.size() == b.size() && same(a.ids(), b.ids()) &&
         std::equal(a.types().begin(), a.types().end(), b.types().begin()) && same(a.duration_ns(), b.duration_ns()) &&
         same(a.data_deps(), b.data_deps()) && same(a.ctrl_deps(), b.ctrl_deps()) && same_attributes(a, b);
}

bool same_plan(const LanePlan& a, const LanePlan& b) {
  const auto same_turn = [&b](const auto& entry) {
    const auto place = b.launch_order.turns.find(entry.first);
    return place != b.launch_order.turns.end() && place->second.number == entry.second.number;
  };
  return a.slots == b.slots && a.lane_of_row == b.lane_of_row && a.resource_of_row == b.resource_of_row &&
         a.launch_order.turns.size() == b.launch_order.turns.size() &&
         std::all_of(a.launch_order.turns.begin(), a.launch_order.turns.end(), same_turn);
}

template <class Is>
bool has_any(const Trace& trace, Is is) {
  return std::any_of(trace.types().begin(), trace.types().end(), is);
}

bool is_message(NodeType type) { return type == NodeType::comm_send || type == NodeType::comm_recv; }

bool same_compute_times(const SimulationConfig& config) {
  for (const auto& times : config.compute_ns) {
    const auto& first = config.compute_ns.front();
    const bool is_first = times.data() == first.data() && times.size() == first.size();
    if (!is_first && !same(times, first)) return false;
  }
  return true;
}

/// The groups that a trace names. Two traces with equal `slots` use theirs in the same places.
struct UsedGroups {
  std::vector<std::uint32_t> groups;  ///< in the order in which they first appear
  std::vector<std::uint32_t> slots;   ///< of each collective: index into `groups`
  bool unknown = false;
};

UsedGroups used_groups(const Trace& trace, const GroupTable& table) {
  UsedGroups used;
  std::map<std::uint32_t, std::uint32_t> slot_of;
  for (NodeIndex row = 0; row < trace.size(); ++row) {
    if (trace.types()[row] != NodeType::comm_coll) continue;
    const auto name = trace.pg_name().get(row);
    const auto group = name ? table.find(trace.string(*name)) : GroupTable::world;
    if (!group) {
      used.unknown = true;
      return used;
    }
    const auto [place, is_new] = slot_of.emplace(*group, static_cast<std::uint32_t>(used.groups.size()));
    if (is_new) used.groups.push_back(*group);
    used.slots.push_back(place->second);
  }
  return used;
}

/// The ways between neighbours, the last and the first among them, have the same hops in the same dimensions.
bool same_ways(const Group& a, const Group& b, const Network& network) {
  for (std::uint32_t i = 0; i < a.size(); ++i) {
    const std::uint32_t next = i + 1 == a.size() ? 0 : i + 1;
    for (std::size_t d = 0; d < network.dimensions().size(); ++d) {
      const auto hops = [&](const Group& group) {
        return network.hops(d, network.coordinate(group.ranks[i], d), network.coordinate(group.ranks[next], d));
      };
      if (hops(a) != hops(b)) return false;
    }
  }
  return true;
}

/// The same along every dimension: as many coordinates, and the same hops from each to the next.
bool same_axes(const SubGrid& a, const SubGrid& b, const Network& network) {
  for (std::size_t d = 0; d < network.dimensions().size(); ++d) {
    const std::size_t size = a.coordinates(d).size();
    if (b.coordinates(d).size() != size) return false;
    for (std::size_t i = 0; i < size; ++i) {
      const auto hops = [&](const SubGrid& grid) {
        return network.hops(d, grid.coordinates(d)[i], grid.coordinates(d)[i + 1 == size ? 0 : i + 1]);
      };
      if (hops(a) != hops(b)) return false;
    }
  }
  return true;
}

bool same_form(const Group& a, const Group& b, const Network& network) {
  if (a.size() != b.size() || a.grid.has_value() != b.grid.has_value()) return false;
  return a.grid ? same_axes(*a.grid, *b.grid, network) : same_ways(a, b, network);
}

/// The groups that stand in one place of the traces hold every rank once, and are of one form.
bool divide_ranks(const std::vector<std::uint32_t>& group_of_rank, const GroupTable& table, const Network& network) {
  const Group& first = table[group_of_rank.front()];
  std::map<std::uint32_t, std::uint32_t> members;
  for (std::uint32_t rank = 0; rank < group_of_rank.size(); ++rank) {
    if (!table[group_of_rank[rank]].position(rank)) return false;
    ++members[group_of_rank[rank]];
  }
  return std::all_of(members.begin(), members.end(), [&](const auto& entry) {
    const Group& group = table[entry.first];
    return group.size() == entry.second &&
           (group.whole || entry.first == group_of_rank.front() || same_form(first, group, network));
  });
}

template <class Value>
void repeat(std::vector<Value>& column, std::size_t times) {
  const std::size_t size = column.size();
  column.resize(size * times);
  for (std::size_t copy = 1; copy < times; ++copy) {
    std::copy_n(column.begin(), size, column.begin() + static_cast<std::ptrdiff_t>(copy * size));
  }
}

/// Groups that stand in the same places of the traces, by the one of the first rank.
using AlikeGroups = std::map<std::uint32_t, std::set<std::uint32_t>>;

AlikeGroups alike_groups(std::span<const TracePtr> traces, const GroupTable& table) {
  AlikeGroups alike;
  std::map<const Trace*, UsedGroups> used;
  for (const TracePtr& trace : traces) {
    if (!used.contains(trace.get())) used.emplace(trace.get(), used_groups(*trace, table));
  }
  const UsedGroups& first = used.at(traces.front().get());
  for (const auto& [trace, mine] : used) {
    for (std::size_t slot = 0; slot < mine.groups.size(); ++slot) alike[first.groups[slot]].insert(mine.groups[slot]);
  }
  return alike;
}

/// What the first rank's groups did, all groups in their place did.
void repeat_collectives(SimulationResult& result, const GroupTable& table, const AlikeGroups& alike) {
  const CollectiveColumns collectives = std::exchange(result.collectives, {});
  const ActivityColumns activity = std::exchange(result.activity, {});
  const GroupColumns totals = std::exchange(result.group_totals, {});
  std::size_t first_active = 0;
  for (std::size_t i = 0; i < collectives.group.size(); ++i) {
    std::size_t end = first_active;
    while (end < activity.collective.size() && activity.collective[end] == i) ++end;
    for (const std::uint32_t group : alike.at(collectives.group[i])) {
      CollectiveColumns& columns = result.collectives;
      for (std::size_t a = first_active; a < end; ++a) {
        result.activity.collective.push_back(static_cast<std::uint32_t>(columns.group.size()));
        result.activity.dimension.push_back(activity.dimension[a]);
        result.activity.start_ns.push_back(activity.start_ns[a]);
        result.activity.end_ns.push_back(activity.end_ns[a]);
        result.activity.link_bytes.push_back(activity.link_bytes[a]);
      }
      columns.group.push_back(group);
      columns.number.push_back(collectives.number[i]);
      columns.type.push_back(collectives.type[i]);
      columns.size.push_back(collectives.size[i]);
      columns.first_rank.push_back(table[group].places.empty() ? 0 : table[group].places.front().first);
      columns.row.push_back(collectives.row[i]);
      columns.start_ns.push_back(collectives.start_ns[i]);
      columns.joined_ns.push_back(collectives.joined_ns[i]);
      columns.end_ns.push_back(collectives.end_ns[i]);
    }
    first_active = end;
  }
  sort_communication(result);
  std::map<std::pair<std::uint32_t, CollectiveType>, std::size_t> row_of;
  for (std::size_t i = 0; i < totals.group.size(); ++i) {
    for (const std::uint32_t group : alike.at(totals.group[i])) row_of[{group, totals.type[i]}] = i;
  }
  for (const auto& [key, i] : row_of) {
    result.group_totals.group.push_back(key.first);
    result.group_totals.type.push_back(key.second);
    result.group_totals.collectives.push_back(totals.collectives[i]);
    result.group_totals.bytes.push_back(totals.bytes[i]);
    result.group_totals.duration_ns.push_back(totals.duration_ns[i]);
  }
}

}  // namespace

bool are_alike(std::span<const TracePtr> traces, const SimulationConfig& config, const GroupTable& groups,
               const LanePlans& plans) {
  const bool replays = config.system.replay_only;
  const bool meets = !replays && config.communication == CommunicationTimes::simulated;
  const bool shares = config.memory.type == MemoryType::pool || config.memory.type == MemoryType::per_node;
  if (!replays && shares && has_any(*traces.front(), is_memory)) return false;
  if (meets && has_any(*traces.front(), is_message)) return false;
  if (!config.stragglers.are_alike() || !same_compute_times(config)) return false;
  std::set<const Trace*> seen{traces.front().get()};
  for (const TracePtr& trace : traces) {
    if (!seen.insert(trace.get()).second) continue;
    if (!same_work(*traces.front(), *trace) || !same_plan(plans.of(traces.front()), plans.of(trace))) return false;
  }
  if (!meets) return true;
  std::map<const Trace*, UsedGroups> used;
  for (const TracePtr& trace : traces) {
    if (!used.contains(trace.get())) used.emplace(trace.get(), used_groups(*trace, groups));
    const UsedGroups& mine = used.at(trace.get());
    if (mine.unknown || mine.slots != used.at(traces.front().get()).slots) return false;
  }
  std::vector<std::uint32_t> group_of_rank(traces.size());
  for (std::size_t slot = 0; slot < used.at(traces.front().get()).groups.size(); ++slot) {
    for (std::size_t rank = 0; rank < traces.size(); ++rank) {
      group_of_rank[rank] = used.at(traces[rank].get()).groups[slot];
    }
    if (!divide_ranks(group_of_rank, groups, config.network)) return false;
  }
  return true;
}

void repeat_for_all(SimulationResult& result, std::span<const TracePtr> traces, const GroupTable& groups) {
  const std::size_t ranks = traces.size();
  for (auto* column : {&result.finish_ns, &result.compute_ns, &result.comm_ns, &result.exposed_comm_ns, &result.idle_ns,
                       &result.cpu_ns, &result.memory_ns, &result.finish_minus_compute_ns, &result.node_start_ns,
                       &result.node_end_ns}) {
    repeat(*column, ranks);
  }
  const std::uint64_t nodes = result.first_node.back();
  result.first_node.clear();
  for (std::size_t r = 0; r <= ranks; ++r) result.first_node.push_back(nodes * r);
  const std::size_t late = result.late_node.size();
  repeat(result.late_node, ranks);
  repeat(result.late_ns, ranks);
  for (std::size_t i = late; i < result.late_node.size(); ++i) result.late_node[i] += nodes * (i / late);
  repeat_collectives(result, groups, alike_groups(traces, groups));
  result.folded_ranks = static_cast<std::uint32_t>(ranks - 1);
}

}  // namespace chakra::sim
