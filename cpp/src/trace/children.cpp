// SPDX-License-Identifier: MIT
#include "trace/children.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <numeric>

#include "trace/column.hpp"
#include "trace/sort_rows.hpp"
#include "trace/trace_storage.hpp"

namespace chakra {

namespace {

using Children = detail::TraceStorage::Children;

/// The different parents of all nodes, numbered by row, or by rank if there are ranks. Lies in memory in the order of
/// the numbers: only while it is made does anything jump about.
class ParentLists {
 public:
  ParentLists(const Trace& trace, DependencyKind kind, const detail::IdOrder& order) : offsets_(trace.size() + 1) {
    if (kind != DependencyKind::control) {
      use(trace.data_deps());
    }
    if (kind != DependencyKind::data) {
      use(trace.ctrl_deps());
    }
    // Pass by pass: what one node needs is loaded while others wait for theirs.
    gather(order.row_of_rank);
    drop_doubled();
    if (!order.rank_of_row.empty()) {
      for (NodeIndex& parent : parents_) {
        parent = order.rank_of_row[parent];
      }
    }
  }

  /// Of all nodes, one list after another.
  const detail::Column<NodeIndex>& all() const noexcept { return parents_; }
  std::span<const NodeIndex> operator[](std::size_t node) const noexcept {
    return std::span(parents_).subspan(offsets_[node], offsets_[node + 1] - offsets_[node]);
  }

 private:
  /// Lists of so many parents are compared with each other sooner than they are sorted.
  static constexpr std::uint64_t few = 12;

  /// A kind of dependencies that no node has costs nothing: where it lies in memory is not even looked at.
  void use(const Adjacency& kind) {
    if (!kind.indices.empty()) {
      kinds_[used_++] = kind;
    }
  }
  std::span<const Adjacency> kinds() const noexcept { return std::span(kinds_).first(used_); }

  void gather(std::span<const NodeIndex> row_of_rank) {
    std::size_t all = 0;
    for (const Adjacency& kind : kinds()) {
      all += kind.indices.size();
    }
    parents_.resize(all);
    std::size_t to = 0;
    offsets_[0] = 0;
    for (std::size_t node = 0; node + 1 < offsets_.size(); ++node) {
      look_ahead(row_of_rank, node);
      const std::size_t row = row_of_rank.empty() ? node : row_of_rank[node];
      for (const Adjacency& kind : kinds()) {
        for (std::uint64_t i = kind.offsets[row]; i < kind.offsets[row + 1]; ++i) {
          parents_[to++] = kind.indices[i];
        }
      }
      offsets_[node + 1] = to;
    }
  }

  /// Asks for what rows later in a list need: first where their parents are, then these.
  void look_ahead(std::span<const NodeIndex> rows, std::size_t at) const noexcept {
    constexpr std::size_t far = 32;
    constexpr std::size_t near = 12;
    if (at + far < rows.size()) {
      for (const Adjacency& kind : kinds()) {
        __builtin_prefetch(kind.offsets.data() + rows[at + far]);
        __builtin_prefetch(kind.indices.data() + kind.offsets[rows[at + near]]);
      }
    }
  }

  void drop_doubled() {
    std::uint64_t begin = 0;
    std::uint64_t to = 0;
    for (std::size_t node = 0; node + 1 < offsets_.size(); ++node) {
      const std::uint64_t end = offsets_[node + 1];
      to = end - begin <= few ? keep_few(begin, end, to) : keep_many(begin, end, to);
      begin = end;
      offsets_[node + 1] = to;
    }
    parents_.resize(to);
  }

  std::uint64_t keep_few(std::uint64_t begin, std::uint64_t end, std::uint64_t to) noexcept {
    const std::uint64_t first = to;
    for (; begin < end; ++begin) {
      const NodeIndex parent = parents_[begin];
      bool is_new = true;
      for (std::uint64_t i = first; i < to; ++i) {
        is_new = is_new && parents_[i] != parent;
      }
      parents_[to] = parent;
      to += is_new ? 1 : 0;
    }
    return to;
  }

  std::uint64_t keep_many(std::uint64_t begin, std::uint64_t end, std::uint64_t to) {
    const auto at = [this](std::uint64_t i) { return parents_.begin() + static_cast<std::ptrdiff_t>(i); };
    std::sort(at(begin), at(end));
    const auto past = std::unique(at(begin), at(end));
    return static_cast<std::uint64_t>(std::move(at(begin), past, at(to)) - parents_.begin());
  }

  std::array<Adjacency, 2> kinds_;
  std::size_t used_ = 0;
  detail::Column<std::uint64_t> offsets_;
  detail::Column<NodeIndex> parents_;
};

void make_children(const Trace& trace, DependencyKind kind, const detail::IdOrder& order, Children& children) {
  const ParentLists parents(trace, kind, order);
  // Counted one place further on than they belong: listing then moves each begin to the end of its list, which is where
  // the next list begins.
  auto& offsets = children.offsets;
  offsets.assign(trace.size() + 2, 0);
  for (const NodeIndex parent : parents.all()) {
    ++offsets[std::size_t{parent} + 2];
  }
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  children.rows.resize(offsets.back());
  for (std::size_t node = 0; node < trace.size(); ++node) {
    for (const NodeIndex parent : parents[node]) {
      children.rows[offsets[std::size_t{parent} + 1]++] = static_cast<NodeIndex>(node);
    }
  }
  offsets.pop_back();
  children.memory_bytes = offsets.capacity() * sizeof(std::uint64_t) + children.rows.capacity() * sizeof(NodeIndex);
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
