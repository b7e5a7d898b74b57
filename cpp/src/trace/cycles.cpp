// SPDX-License-Identifier: MIT
#include "trace/cycles.hpp"

#include <algorithm>
#include <limits>

namespace chakra::detail {

namespace {

constexpr std::uint32_t unvisited = std::numeric_limits<std::uint32_t>::max();

/// Parents of rows, data before control, as one list that can be entered at any position.
class Parents {
 public:
  Parents(const Trace& trace, bool follow_data, bool follow_ctrl)
      : data_(trace.data_deps()), ctrl_(trace.ctrl_deps()), follow_data_(follow_data), follow_ctrl_(follow_ctrl) {}

  std::size_t count(NodeIndex row) const noexcept { return data(row).size() + ctrl(row).size(); }
  NodeIndex at(NodeIndex row, std::size_t position) const noexcept {
    const auto first = data(row);
    return position < first.size() ? first[position] : ctrl(row)[position - first.size()];
  }

 private:
  std::span<const NodeIndex> data(NodeIndex row) const noexcept {
    return follow_data_ ? data_[row] : std::span<const NodeIndex>{};
  }
  std::span<const NodeIndex> ctrl(NodeIndex row) const noexcept {
    return follow_ctrl_ ? ctrl_[row] : std::span<const NodeIndex>{};
  }

  Adjacency data_;
  Adjacency ctrl_;
  bool follow_data_;
  bool follow_ctrl_;
};

/// Tarjan's strongly connected components, with a stack of its own instead of recursion.
class Components {
 public:
  Components(const Parents& parents, std::size_t size)
      : parents_(parents), component(size, unvisited), order_(size, unvisited), low_(size, 0) {}

  void visit_all() {
    for (std::size_t row = 0; row < order_.size(); ++row) {
      if (order_[row] == unvisited) {
        visit(static_cast<NodeIndex>(row));
      }
    }
  }

  const Parents& parents_;
  std::vector<std::uint32_t> component;          ///< component of each row
  std::vector<std::vector<NodeIndex>> cyclic{};  ///< members of the components with more than one row or a self-loop

 private:
  struct Call {
    NodeIndex row;
    std::size_t position;
  };

  void enter(NodeIndex row) {
    order_[row] = low_[row] = next_order_++;
    path_.push_back(row);
    calls_.push_back({row, 0});
  }

  void visit(NodeIndex root) {
    enter(root);
    while (!calls_.empty()) {
      const NodeIndex row = calls_.back().row;
      if (calls_.back().position < parents_.count(row)) {
        const NodeIndex parent = parents_.at(row, calls_.back().position++);
        if (order_[parent] == unvisited) {
          enter(parent);
        } else if (component[parent] == unvisited) {
          low_[row] = std::min(low_[row], order_[parent]);
        }
        continue;
      }
      calls_.pop_back();
      if (!calls_.empty()) {
        NodeIndex below = calls_.back().row;
        low_[below] = std::min(low_[below], low_[row]);
      }
      if (low_[row] == order_[row]) {
        close(row);
      }
    }
  }

  void close(NodeIndex row) {
    const auto begin = std::find(path_.rbegin(), path_.rend(), row).base() - 1;
    for (auto member = begin; member != path_.end(); ++member) {
      component[*member] = next_component_;
    }
    if (path_.end() - begin > 1 || waits_for_itself(row)) {
      cyclic.emplace_back(begin, path_.end());
    }
    path_.erase(begin, path_.end());
    ++next_component_;
  }

  bool waits_for_itself(NodeIndex row) const noexcept {
    for (std::size_t position = 0; position < parents_.count(row); ++position) {
      if (parents_.at(row, position) == row) {
        return true;
      }
    }
    return false;
  }

  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> low_;
  std::vector<NodeIndex> path_;
  std::vector<Call> calls_;
  std::uint32_t next_order_ = 0;
  std::uint32_t next_component_ = 0;
};

/// Shortest cycle through `start` inside its component, by breadth-first search along the parents.
std::vector<NodeIndex> shortest_cycle(const Components& components, NodeIndex start,
                                      std::vector<NodeIndex>& reached_from) {
  std::vector<NodeIndex> queue = {start};
  std::vector<NodeIndex> touched;
  std::vector<NodeIndex> cycle;
  for (std::size_t head = 0; head < queue.size() && cycle.empty(); ++head) {
    const NodeIndex row = queue[head];
    for (std::size_t position = 0; position < components.parents_.count(row); ++position) {
      const NodeIndex parent = components.parents_.at(row, position);
      if (parent == start) {
        for (NodeIndex at = row; at != start; at = reached_from[at]) {
          cycle.push_back(at);
        }
        cycle.push_back(start);
        std::reverse(cycle.begin(), cycle.end());
        break;
      }
      if (components.component[parent] == components.component[start] && reached_from[parent] == unvisited) {
        reached_from[parent] = row;
        touched.push_back(parent);
        queue.push_back(parent);
      }
    }
  }
  for (const NodeIndex row : touched) {
    reached_from[row] = unvisited;
  }
  return cycle;
}

/// Cuts a cycle down until no part of its rows is a cycle. The shortest cycle through a row can be passed by no
/// edge that skips forward; an edge that leads back closes a smaller cycle, and the shortest such has none inside.
std::vector<NodeIndex> without_inner_cycles(const Parents& parents, const std::vector<NodeIndex>& cycle,
                                            std::vector<NodeIndex>& position_of) {
  for (std::size_t position = 0; position < cycle.size(); ++position) {
    position_of[cycle[position]] = static_cast<NodeIndex>(position);
  }
  std::size_t begin = 0;
  std::size_t end = cycle.size();
  for (std::size_t from = 0; from < cycle.size(); ++from) {
    for (std::size_t i = 0; i < parents.count(cycle[from]); ++i) {
      const NodeIndex to = position_of[parents.at(cycle[from], i)];
      if (to != unvisited && to <= from && from + 1 - to < end - begin) {
        begin = to;
        end = from + 1;
      }
    }
  }
  for (const NodeIndex row : cycle) {
    position_of[row] = unvisited;
  }
  return {cycle.begin() + static_cast<std::ptrdiff_t>(begin), cycle.begin() + static_cast<std::ptrdiff_t>(end)};
}

/// Begins a cycle with its smallest row, so that the answer does not depend on where it was found.
void rotate_to_smallest(std::vector<NodeIndex>& cycle) {
  std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
}

}  // namespace

std::vector<std::vector<NodeIndex>> minimal_cycles(const Trace& trace, bool follow_data, bool follow_ctrl,
                                                   std::size_t most) {
  const Parents parents(trace, follow_data, follow_ctrl);
  Components components(parents, trace.size());
  components.visit_all();
  std::vector<std::vector<NodeIndex>> cycles;
  std::vector<NodeIndex> reached_from(trace.size(), unvisited);
  for (const auto& members : components.cyclic) {
    if (cycles.size() == most) {
      break;
    }
    const auto start = std::min_element(members.begin(), members.end());
    const auto found = shortest_cycle(components, *start, reached_from);
    rotate_to_smallest(cycles.emplace_back(without_inner_cycles(parents, found, reached_from)));
  }
  std::sort(cycles.begin(), cycles.end());
  return cycles;
}

std::string describe_cycle(const Trace& trace, const std::vector<NodeIndex>& cycle) {
  return describe_cycle(ids_of(trace, cycle));
}

std::string describe_cycle(const std::vector<NodeId>& cycle) {
  constexpr std::size_t most_named = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(cycle.size(), most_named); ++i) {
    text += std::to_string(cycle[i]) + " -> ";
  }
  if (cycle.size() > most_named) {
    text += "... (" + std::to_string(cycle.size() - most_named) + " more) -> ";
  }
  return text + std::to_string(cycle.front());
}

std::vector<NodeId> ids_of(const Trace& trace, const std::vector<NodeIndex>& rows) {
  std::vector<NodeId> ids(rows.size());
  std::transform(rows.begin(), rows.end(), ids.begin(), [&](NodeIndex row) { return trace.ids()[row]; });
  return ids;
}

}  // namespace chakra::detail

namespace chakra {

std::vector<std::vector<NodeId>> find_cycles(const Trace& trace) {
  const auto rows = detail::minimal_cycles(trace, true, true, std::numeric_limits<std::size_t>::max());
  std::vector<std::vector<NodeId>> cycles;
  cycles.reserve(rows.size());
  for (const auto& cycle : rows) {
    cycles.push_back(detail::ids_of(trace, cycle));
  }
  return cycles;
}

}  // namespace chakra
