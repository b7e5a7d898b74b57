// SPDX-License-Identifier: MIT
#include "sim/communication_log.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "network/link_units.hpp"
#include "network/route.hpp"

namespace chakra::sim {

namespace {

/// Directed links of a dimension that messages can take.
std::uint64_t usable_links(const Network& network, const Dimension& dimension) {
  if (network.is_graph()) return network.router()->links();
  const std::uint64_t n = dimension.npus;
  if (n < 2) return 0;
  const std::uint64_t lines = network.npus() / n;
  switch (dimension.topology) {
    case Topology::fully_connected:
      return lines * n * (n - 1);
    case Topology::switch_:
      return lines * (n * 2 + (dimension.oversubscription > 1 ? 1 : 0));
    case Topology::mesh:
      return lines * 2 * (n - 1);
    case Topology::ring:
    case Topology::graph:
      break;
  }
  // Between two NPUs both ways round are equally short, and one of them is taken.
  return lines * (n == 2 ? 2 : 2 * n);
}

template <class Value>
void reorder(std::vector<Value>& column, const std::vector<std::uint32_t>& order) {
  std::vector<Value> sorted;
  sorted.reserve(column.size());
  for (const std::uint32_t row : order) sorted.push_back(column[row]);
  column = std::move(sorted);
}

std::vector<std::uint32_t> rows_of(std::size_t size) {
  std::vector<std::uint32_t> rows(size);
  std::iota(rows.begin(), rows.end(), 0U);
  return rows;
}

}  // namespace

CommunicationLog::CommunicationLog(const SimulationConfig& config, const GroupTable& groups, std::uint32_t copies)
    : config_(config),
      groups_(groups),
      copies_(copies),
      loads_(config.network, config.parity, config.rendezvous_protocol),
      totals_(config.network.dimensions().size()),
      states_(groups.size()) {}

std::uint32_t CommunicationLog::issued(const CollectiveNode& node, std::uint32_t place, std::uint64_t now) {
  GroupState& state = states_[node.group];
  if (state.issued.empty()) state.issued.resize(copies_ > 1 ? 1 : groups_[node.group].size());
  const std::uint32_t number = state.issued[place]++;
  if (number == state.closed + state.open.size()) state.open.push_back(open(node, number, now));
  const std::uint32_t index = state.open[number - state.closed];
  Collective& collective = open_[index];
  if (node.rank == collective.first_rank || copies_ > 1) collective.row = node.row;
  collective.all_in = now;
  if (++collective.joined == collective.members) {
    // Members issue in order, so that those before it are complete, too.
    state.open.pop_front();
    ++state.closed;
  }
  return index;
}

std::uint32_t CommunicationLog::open(const CollectiveNode& node, std::uint32_t number, std::uint64_t now) {
  const Group& group = groups_[node.group];
  const std::uint32_t index = open_.take();
  Collective& collective = open_[index];
  std::vector<Activity> activity = std::move(collective.activity);
  if (config_.record_nodes) activity.assign(totals_.size(), Activity{});
  collective = {.group = node.group,
                .number = number,
                .type = node.type,
                .first_rank = group.places.empty() ? 0 : group.places.front().first,
                .members = copies_ > 1 ? 1 : group.size(),
                .size = node.size,
                .start = now,
                .activity = std::move(activity)};
  if (config_.observer != nullptr) {
    config_.observer->collective_started({group.name, number, node.type, node.size}, now);
  }
  return index;
}

void CommunicationLog::ended(std::uint32_t index, std::uint64_t now) {
  const Collective& collective = open_[index];
  if (++open_[index].through < collective.members) return;
  close(collective, now);
  open_.release(index);
}

void CommunicationLog::close(const Collective& collective, std::uint64_t now) {
  const Group& group = groups_[collective.group];
  Totals& totals = group_totals_[{collective.group, collective.type}];
  ++totals.collectives;
  totals.bytes += collective_bytes(collective.type, collective.size, group.size());
  totals.duration_ns += now - collective.start;
  if (config_.observer != nullptr) {
    config_.observer->collective_ended({group.name, collective.number, collective.type, collective.size}, now);
  }
  if (!config_.record_nodes) return;
  for (std::uint32_t d = 0; d < collective.activity.size(); ++d) {
    if (collective.activity[d].link_bytes == 0) continue;
    add_activity(static_cast<std::uint32_t>(columns_.group.size()), d, collective.activity[d]);
  }
  columns_.group.push_back(collective.group);
  columns_.number.push_back(collective.number);
  columns_.type.push_back(collective.type);
  columns_.size.push_back(collective.size);
  columns_.first_rank.push_back(collective.first_rank);
  columns_.row.push_back(collective.row);
  columns_.start_ns.push_back(collective.start);
  columns_.joined_ns.push_back(collective.all_in);
  columns_.end_ns.push_back(now);
}

void CommunicationLog::phase_begun(std::uint32_t index, const Phase& phase, std::uint64_t now) {
  const bool recorded = config_.record_nodes;
  const bool is_folded = copies_ > 1;
  // The phase is one of all its members; it is counted once.
  const bool counts = is_folded || phase.position == 0;
  if (!recorded && !counts) return;
  const std::span<const DimensionLoad> loads = counts ? loads_.of(phase) : std::span<const DimensionLoad>{};
  if (counts) {
    const std::uint64_t times = is_folded ? config_.network.npus() / phase.members.size : 1;
    for (std::size_t d = 0; d < loads.size(); ++d) {
      totals_[d].messages += loads[d].messages * times;
      totals_[d].bytes += loads[d].bytes * times;
      totals_[d].link_bytes += loads[d].link_bytes * times;
      totals_[d].busy_ps += loads[d].busy_ps * times;
    }
  }
  if (!recorded) return;
  Collective& collective = open_[index];
  const std::uint64_t times = is_folded ? groups_[collective.group].size() / phase.members.size : 1;
  for (std::size_t d = 0; d < loads.size(); ++d) collective.activity[d].link_bytes += loads[d].link_bytes * times;
  change_activity(index, phase, [now](Activity& activity) { activity.start = std::min(activity.start, now); });
}

void CommunicationLog::phase_ended(std::uint32_t index, const Phase& phase, std::uint64_t now) {
  if (config_.record_nodes) change_activity(index, phase, [now](Activity& activity) { activity.end = now; });
}

/// Members in a list, or all NPUs in one ring, may have any dimensions between them; those without bytes do not count.
template <class Change>
void CommunicationLog::change_activity(std::uint32_t index, const Phase& phase, const Change& change) {
  std::vector<Activity>& activity = open_[index].activity;
  if (phase.one_line) return change(activity[phase.dimension]);
  std::for_each(activity.begin(), activity.end(), change);
}

void CommunicationLog::landed(std::uint32_t src, std::uint32_t dst, std::uint64_t bytes, std::uint64_t start,
                              std::uint64_t now) {
  message_.assign(totals_.size(), {});
  loads_.add(src, dst, 1, bytes, message_);
  for (std::uint32_t d = 0; d < message_.size(); ++d) {
    if (message_[d].link_bytes > 0) add_activity(no_collective, d, {start, now, message_[d].link_bytes});
  }
}

void CommunicationLog::add_activity(std::uint32_t collective, std::uint32_t dimension, const Activity& activity) {
  activity_.collective.push_back(collective);
  activity_.dimension.push_back(dimension);
  activity_.start_ns.push_back(activity.start);
  activity_.end_ns.push_back(activity.end);
  activity_.link_bytes.push_back(activity.link_bytes);
}

// ---- results

void CommunicationLog::collect(SimulationResult& result) {
  result.groups.clear();
  for (std::uint32_t g = 0; g < groups_.size(); ++g) result.groups.push_back({groups_[g].name, groups_[g].ranks});
  for (const auto& [key, totals] : group_totals_) {
    result.group_totals.group.push_back(key.first);
    result.group_totals.type.push_back(key.second);
    result.group_totals.collectives.push_back(totals.collectives);
    result.group_totals.bytes.push_back(totals.bytes);
    result.group_totals.duration_ns.push_back(totals.duration_ns);
  }
  result.collectives = std::move(columns_);
  result.activity = std::move(activity_);
  sort_communication(result);
  fill_dimensions(result);
}

void CommunicationLog::fill_dimensions(SimulationResult& result) const {
  const std::uint64_t total_ns =
      result.finish_ns.empty() ? 0 : *std::max_element(result.finish_ns.begin(), result.finish_ns.end());
  DimensionColumns& columns = result.dimensions;
  for (std::size_t d = 0; d < totals_.size(); ++d) {
    const DimensionLoad& load = totals_[d];
    const std::uint64_t links = usable_links(config_.network, config_.network.dimensions()[d]);
    const double per_ns = bytes_per_ns(config_.network.dimensions()[d].bandwidth_gbps);
    const double busy =
        loads_.counts_links() ? static_cast<double>(load.busy_ps) / 1e3 : static_cast<double>(load.link_bytes) / per_ns;
    const double available = static_cast<double>(links) * static_cast<double>(total_ns);
    columns.messages.push_back(load.messages);
    columns.bytes.push_back(load.bytes);
    columns.link_bytes.push_back(load.link_bytes);
    columns.links.push_back(links);
    columns.busy_ns.push_back(busy);
    columns.utilisation.push_back(available > 0 ? busy / available : 0.0);
  }
}

void sort_communication(SimulationResult& result) {
  CollectiveColumns& columns = result.collectives;
  std::vector<std::uint32_t> order = rows_of(columns.group.size());
  std::sort(order.begin(), order.end(), [&columns](std::uint32_t a, std::uint32_t b) {
    return std::tuple(columns.start_ns[a], columns.group[a], columns.number[a]) <
           std::tuple(columns.start_ns[b], columns.group[b], columns.number[b]);
  });
  std::vector<std::uint32_t> place(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  reorder(columns.group, order);
  reorder(columns.number, order);
  reorder(columns.type, order);
  reorder(columns.size, order);
  reorder(columns.first_rank, order);
  reorder(columns.row, order);
  reorder(columns.start_ns, order);
  reorder(columns.joined_ns, order);
  reorder(columns.end_ns, order);

  ActivityColumns& activity = result.activity;
  for (std::uint32_t& collective : activity.collective) {
    if (collective != no_collective) collective = place[collective];
  }
  order = rows_of(activity.collective.size());
  std::sort(order.begin(), order.end(), [&activity](std::uint32_t a, std::uint32_t b) {
    const auto key = [&activity](std::uint32_t row) {
      return std::tuple(activity.collective[row], activity.dimension[row], activity.start_ns[row], activity.end_ns[row],
                        activity.link_bytes[row]);
    };
    return key(a) < key(b);
  });
  reorder(activity.collective, order);
  reorder(activity.dimension, order);
  reorder(activity.start_ns, order);
  reorder(activity.end_ns, order);
  reorder(activity.link_bytes, order);
}

}  // namespace chakra::sim
