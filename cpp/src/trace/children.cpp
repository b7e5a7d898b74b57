// SPDX-License-Identifier: MIT
#include "trace/children.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

#include "trace/sort_rows.hpp"
#include "trace/trace_storage.hpp"

namespace chakra {

namespace {

using Children = detail::TraceStorage::Children;

/// Calls `take(parent, child)` for each dependency once, children ascending. Nodes are numbered by rank.
template <class Take>
void for_each_dependency(const Trace& trace, DependencyKind kind, const detail::IdOrder& order,
                         std::vector<NodeIndex>& seen_by, Take&& take) {
  const Adjacency data = trace.data_deps();
  const Adjacency ctrl = trace.ctrl_deps();
  const bool in_order = order.row_of_rank.empty();
  const auto size = static_cast<NodeIndex>(trace.size());
  std::fill(seen_by.begin(), seen_by.end(), NodeIndex{0});
  for (NodeIndex rank = 0; rank < size; ++rank) {
    const NodeIndex row = in_order ? rank : order.row_of_rank[rank];
    const auto look = [&](std::span<const NodeIndex> parents) {
      for (const NodeIndex parent_row : parents) {
        const NodeIndex parent = in_order ? parent_row : order.rank_of_row[parent_row];
        // A node is marked with the last child that named it, so the marks need no clearing.
        if (seen_by[parent] != rank + 1) {
          seen_by[parent] = rank + 1;
          take(parent, rank);
        }
      }
    };
    if (kind != DependencyKind::control) {
      look(data[row]);
    }
    if (kind != DependencyKind::data) {
      look(ctrl[row]);
    }
  }
}

void make_children(const Trace& trace, DependencyKind kind, const detail::IdOrder& order, Children& children) {
  const std::size_t size = trace.size();
  std::vector<NodeIndex> seen_by(size);
  // Counted one place further on than they belong: the second pass moves each begin to the end of its list, which is
  // where the next list begins.
  children.offsets.assign(size + 2, 0);
  for_each_dependency(trace, kind, order, seen_by,
                      [&](NodeIndex parent, NodeIndex) { ++children.offsets[std::size_t{parent} + 2]; });
  for (std::size_t node = 2; node < size + 2; ++node) {
    children.offsets[node] += children.offsets[node - 1];
  }
  children.rows.resize(children.offsets.back());
  for_each_dependency(trace, kind, order, seen_by, [&](NodeIndex parent, NodeIndex child) {
    children.rows[children.offsets[std::size_t{parent} + 1]++] = child;
  });
  children.offsets.pop_back();
  children.memory_bytes =
      children.offsets.capacity() * sizeof(std::uint64_t) + children.rows.capacity() * sizeof(NodeIndex);
}

}  // namespace

Adjacency Trace::children(DependencyKind kind) const {
  Children& children = storage_->children[static_cast<std::size_t>(kind)];
  std::call_once(children.once, [&] { make_children(*this, kind, {}, children); });
  return {children.offsets, children.rows};
}

namespace detail {

IdOrder id_order(const Trace& trace) {
  TraceStorage::OrderOfIds& order = trace.storage().order_of_ids;
  std::call_once(order.once, [&] {
    const auto ids = trace.ids();
    if (!std::is_sorted(ids.begin(), ids.end())) {
      order.row_of_rank = rows_by_id(ids);
      order.rank_of_row = places_of(order.row_of_rank);
      order.memory_bytes = ids.size() * (sizeof(NodeIndex) + sizeof(std::uint32_t));
    }
  });
  return {order.row_of_rank, order.rank_of_row};
}

Adjacency children_by_id(const Trace& trace, DependencyKind kind) {
  const IdOrder order = id_order(trace);
  if (order.row_of_rank.empty()) {
    return trace.children(kind);
  }
  Children& children = trace.storage().children_by_id[static_cast<std::size_t>(kind)];
  std::call_once(children.once, [&] { make_children(trace, kind, order, children); });
  return {children.offsets, children.rows};
}

}  // namespace detail

}  // namespace chakra
