// SPDX-License-Identifier: MIT
#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "chakra_core/trace_ops.hpp"

namespace chakra {

namespace {

constexpr NodeIndex none = std::numeric_limits<NodeIndex>::max();

std::uint64_t sum(std::uint64_t one, std::uint64_t other) noexcept {
  const std::uint64_t both = one + other;
  return both >= one ? both : std::numeric_limits<std::uint64_t>::max();
}

void count(NodeTotals& totals, std::uint64_t bytes, std::uint64_t duration_ns) noexcept {
  ++totals.nodes;
  totals.bytes = sum(totals.bytes, bytes);
  totals.duration_ns = sum(totals.duration_ns, duration_ns);
}

/// Orders absent values behind all others.
template <class Value>
struct AbsentLast {
  std::optional<Value> value;
  bool operator<(const AbsentLast& other) const noexcept {
    return value && other.value ? *value < *other.value : value.has_value() && !other.value.has_value();
  }
};

using GroupKey = std::tuple<AbsentLast<std::string_view>, NodeType, AbsentLast<std::int64_t>>;

/// Counts nodes; the maps have few entries, one a kind of node.
class Totals {
 public:
  explicit Totals(const Trace& trace) : trace_(trace) {}

  void take(NodeIndex row) {
    const NodeType type = trace_.types()[row];
    const std::uint64_t duration = trace_.duration_ns()[row];
    // A negative size is no size.
    const auto size = trace_.column(IntegerAttribute::comm_size).value_or(row, 0);
    const auto bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(size, 0));
    count(types_[type], bytes, duration);
    const auto is_cpu_op = trace_.is_cpu_op().get(row);
    count(!is_cpu_op ? unplaced_ : *is_cpu_op != 0 ? cpu_ : device_, bytes, duration);
    if (!is_communication(type)) {
      return;
    }
    std::optional<std::int64_t> comm_type;
    if (type == NodeType::comm_coll) {
      comm_type = trace_.column(IntegerAttribute::comm_type).get(row);
      count(collectives_[{comm_type}], bytes, duration);
    }
    const auto group = trace_.pg_name().get(row);
    const auto name = group ? std::optional(trace_.string(*group)) : std::nullopt;
    GroupTotals& totals = groups_[{AbsentLast<std::string_view>{name}, type, AbsentLast<std::int64_t>{comm_type}}];
    totals.pg_name = group;
    count(totals, bytes, duration);
  }

  void write(TraceStats& stats) const {
    for (const auto& [type, totals] : types_) {
      stats.types.push_back({totals, type});
    }
    for (const auto& [comm_type, totals] : collectives_) {
      stats.collectives.push_back({totals, comm_type.value});
    }
    for (const auto& [key, totals] : groups_) {
      stats.groups.push_back({totals, totals.pg_name, std::get<1>(key), std::get<2>(key).value});
    }
    stats.cpu = cpu_;
    stats.device = device_;
    stats.unplaced = unplaced_;
  }

 private:
  const Trace& trace_;
  std::map<NodeType, NodeTotals> types_;
  std::map<AbsentLast<std::int64_t>, NodeTotals> collectives_;
  std::map<GroupKey, GroupTotals> groups_;
  NodeTotals cpu_;
  NodeTotals device_;
  NodeTotals unplaced_;
};

template <class Take>
void for_each_parent(const Trace& trace, NodeIndex row, Take&& take) {
  std::ranges::for_each(trace.data_deps()[row], take);
  std::ranges::for_each(trace.ctrl_deps()[row], take);
}

bool is_in_order(const Trace& trace) {
  bool in_order = true;
  for (NodeIndex row = 0; row < trace.size() && in_order; ++row) {
    for_each_parent(trace, row, [&](NodeIndex parent) { in_order = in_order && parent < row; });
  }
  return in_order;
}

/// Rows with parents first; fewer than all if there is a cycle.
std::vector<NodeIndex> parents_first(const Trace& trace) {
  const Adjacency children = trace.children(DependencyKind::both);
  std::vector<NodeIndex> waits_for(trace.size(), 0);
  for (const NodeIndex child : children.indices) {
    ++waits_for[child];
  }
  std::vector<NodeIndex> order;
  order.reserve(trace.size());
  for (NodeIndex row = 0; row < trace.size(); ++row) {
    if (waits_for[row] == 0) {
      order.push_back(row);
    }
  }
  for (std::size_t next = 0; next < order.size(); ++next) {
    for (const NodeIndex child : children[order[next]]) {
      if (--waits_for[child] == 0) {
        order.push_back(child);
      }
    }
  }
  return order;
}

/// Longest paths to each row, by number of edges and by duration.
class LongestPaths {
 public:
  explicit LongestPaths(const Trace& trace)
      : trace_(trace), level_(trace.size()), finish_(trace.size()), before_(trace.size(), none) {}

  /// All parents must have been visited.
  void visit(NodeIndex row) {
    std::uint64_t start = 0;
    for_each_parent(trace_, row, [&](NodeIndex parent) {
      level_[row] = std::max(level_[row], level_[parent] + 1);
      // Of equals the smallest row, so that the path does not depend on the order of dependencies.
      if (before_[row] == none || finish_[parent] > start || (finish_[parent] == start && parent < before_[row])) {
        before_[row] = parent;
        start = finish_[parent];
      }
    });
    finish_[row] = sum(start, trace_.duration_ns()[row]);
  }

  GraphShape shape() const {
    GraphShape shape;
    if (level_.empty()) {
      return shape;
    }
    shape.depth = std::uint64_t{*std::ranges::max_element(level_)} + 1;
    std::vector<std::uint64_t> nodes(shape.depth, 0);
    for (const std::uint32_t level : level_) {
      ++nodes[level];
    }
    const auto widest = std::ranges::max_element(nodes);
    shape.width = *widest;
    shape.widest_level = static_cast<std::uint64_t>(widest - nodes.begin());
    const auto last = std::ranges::max_element(finish_);
    shape.critical_path_ns = *last;
    for (auto row = static_cast<NodeIndex>(last - finish_.begin()); row != none; row = before_[row]) {
      shape.critical_path.push_back(row);
    }
    std::ranges::reverse(shape.critical_path);
    shape.levels = level_;
    return shape;
  }

 private:
  const Trace& trace_;
  std::vector<std::uint32_t> level_;
  std::vector<std::uint64_t> finish_;
  std::vector<NodeIndex> before_;  ///< the parent on the longest path by duration
};

std::optional<GraphShape> shape_of(const Trace& trace) {
  LongestPaths paths(trace);
  if (is_in_order(trace)) {
    for (NodeIndex row = 0; row < trace.size(); ++row) {
      paths.visit(row);
    }
    return paths.shape();
  }
  const std::vector<NodeIndex> order = parents_first(trace);
  if (order.size() < trace.size()) {
    return std::nullopt;
  }
  for (const NodeIndex row : order) {
    paths.visit(row);
  }
  return paths.shape();
}

}  // namespace

TraceStats stats(const Trace& trace) {
  TraceStats stats;
  stats.nodes = trace.size();
  stats.data_deps = trace.data_deps().indices.size();
  stats.ctrl_deps = trace.ctrl_deps().indices.size();
  Totals totals(trace);
  for (NodeIndex row = 0; row < trace.size(); ++row) {
    totals.take(row);
  }
  totals.write(stats);
  stats.shape = shape_of(trace);
  return stats;
}

}  // namespace chakra
