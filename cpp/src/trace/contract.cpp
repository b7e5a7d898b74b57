// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>

#include "chakra_core/errors.hpp"
#include "chakra_core/trace_ops.hpp"
#include "trace/kept_rows.hpp"

namespace chakra {

namespace {

using detail::not_kept;
using detail::TraceStorage;

/// Rows with every parent, by either kind of dependency, before its children.
std::vector<NodeIndex> parents_first(const Trace& trace) {
  const Adjacency children = trace.children(DependencyKind::both);
  std::vector<std::size_t> waits_for(trace.size(), 0);
  for (NodeIndex row = 0; row < trace.size(); ++row) {
    for (const NodeIndex child : children[row]) ++waits_for[child];
  }
  std::vector<NodeIndex> order;
  order.reserve(trace.size());
  for (NodeIndex row = 0; row < trace.size(); ++row) {
    if (waits_for[row] == 0) order.push_back(row);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const NodeIndex child : children[order[i]]) {
      if (--waits_for[child] == 0) order.push_back(child);
    }
  }
  if (order.size() == trace.size()) return order;
  throw DependencyError(trace.source() + ": nodes wait for each other in a cycle; nothing can be left out of it",
                        find_cycles(trace).front());
}

/// Kept nodes in chains, each node a (new) child of the one before it in its chain. So of two nodes of a chain the
/// later one is reached from the earlier one, and who depends on it need not name the earlier one.
class Chains {
 public:
  explicit Chains(std::size_t rows) : chain_of_(rows, none), position_of_(rows, 0) {}

  /// Puts a node after one of its parents that is the last of its chain, else into a chain of its own.
  void add(NodeIndex row, const std::vector<NodeIndex>& parents) {
    for (const NodeIndex parent : parents) {
      const std::uint32_t chain = chain_of_[parent];
      if (last_[chain] != parent) continue;
      chain_of_[row] = chain;
      position_of_[row] = position_of_[parent] + 1;
      last_[chain] = row;
      return;
    }
    chain_of_[row] = static_cast<std::uint32_t>(last_.size());
    last_.push_back(row);
    newest_.push_back(0);
  }

  /// Leaves of each chain only the latest node, in the order in which they stand.
  void prune(std::vector<NodeIndex>& rows) {
    for (const NodeIndex row : rows) {
      std::uint64_t& newest = newest_[chain_of_[row]];
      newest = std::max(newest, position_of_[row] + 1);
    }
    std::erase_if(rows, [this](NodeIndex row) {
      std::uint64_t& newest = newest_[chain_of_[row]];
      if (newest != position_of_[row] + 1) return true;
      newest = taken;
      return false;
    });
    for (const NodeIndex row : rows) newest_[chain_of_[row]] = 0;
  }

 private:
  static constexpr std::uint32_t none = 0xFFFF'FFFFU;
  static constexpr std::uint64_t taken = ~std::uint64_t{0};

  std::vector<std::uint32_t> chain_of_;
  std::vector<std::uint64_t> position_of_;
  std::vector<NodeIndex> last_;
  std::vector<std::uint64_t> newest_;  // position + 1, of the rows that are pruned
};

class Contraction {
 public:
  Contraction(const Trace& trace, const std::vector<NodeIndex>& to_row)
      : trace_(trace),
        to_row_(to_row),
        by_data_(trace.size()),
        by_any_(trace.size()),
        data_chains_(trace.size()),
        any_chains_(trace.size()) {}

  void run() {
    for (const NodeIndex row : parents_first(trace_)) {
      std::vector<NodeIndex> data = nearest(trace_.data_deps()[row], by_data_, data_chains_);
      std::vector<NodeIndex> any = nearest_by_any(row);
      if (to_row_[row] != not_kept) {
        data_chains_.add(row, data);
        any_chains_.add(row, any);
      }
      by_data_[row] = std::move(data);
      by_any_[row] = std::move(any);
    }
  }

  /// Old rows that a kept row now depends on.
  const std::vector<NodeIndex>& data_parents(NodeIndex row) const { return by_data_[row]; }

  /// Control dependencies: those on kept nodes as they were, and what was reached through others by anything but
  /// data dependencies alone.
  std::vector<NodeIndex> ctrl_parents(NodeIndex row) const {
    std::vector<NodeIndex> parents;
    for (const NodeIndex parent : trace_.ctrl_deps()[row]) {
      if (to_row_[parent] != not_kept) parents.push_back(parent);
    }
    if (!lost_parent(row)) return parents;
    const std::vector<NodeIndex>& data = by_data_[row];
    for (const NodeIndex parent : by_any_[row]) {
      const bool known = std::find(data.begin(), data.end(), parent) != data.end() ||
                         std::find(parents.begin(), parents.end(), parent) != parents.end();
      if (!known) parents.push_back(parent);
    }
    return parents;
  }

  bool lost_parent(NodeIndex row) const {
    const auto lost = [this](NodeIndex parent) { return to_row_[parent] == not_kept; };
    const auto data = trace_.data_deps()[row];
    const auto ctrl = trace_.ctrl_deps()[row];
    return std::any_of(data.begin(), data.end(), lost) || std::any_of(ctrl.begin(), ctrl.end(), lost);
  }

 private:
  /// The parents themselves where they are kept, else the kept nodes nearest before them.
  void append_nearest(std::vector<NodeIndex>& out, std::span<const NodeIndex> parents,
                      const std::vector<std::vector<NodeIndex>>& before) const {
    for (const NodeIndex parent : parents) {
      if (to_row_[parent] != not_kept) {
        out.push_back(parent);
      } else {
        out.insert(out.end(), before[parent].begin(), before[parent].end());
      }
    }
  }

  std::vector<NodeIndex> nearest(std::span<const NodeIndex> parents, const std::vector<std::vector<NodeIndex>>& before,
                                 Chains& chains) const {
    std::vector<NodeIndex> rows;
    append_nearest(rows, parents, before);
    const bool all_kept =
        std::all_of(parents.begin(), parents.end(), [this](NodeIndex parent) { return to_row_[parent] != not_kept; });
    if (!all_kept) chains.prune(rows);
    return rows;
  }

  std::vector<NodeIndex> nearest_by_any(NodeIndex row) {
    std::vector<NodeIndex> rows;
    append_nearest(rows, trace_.data_deps()[row], by_any_);
    append_nearest(rows, trace_.ctrl_deps()[row], by_any_);
    any_chains_.prune(rows);
    return rows;
  }

  const Trace& trace_;
  const std::vector<NodeIndex>& to_row_;
  std::vector<std::vector<NodeIndex>> by_data_;  // of a row: the kept nodes nearest before it
  std::vector<std::vector<NodeIndex>> by_any_;
  Chains data_chains_;
  Chains any_chains_;
};

}  // namespace

TracePtr contract(const Trace& trace, std::span<const NodeIndex> rows) {
  const std::vector<NodeIndex> to_row = detail::new_rows(trace, rows);
  Contraction contraction(trace, to_row);
  contraction.run();
  std::unique_ptr<TraceStorage> storage = detail::keep_rows(trace.storage(), rows);
  storage->data_offsets[0] = storage->ctrl_offsets[0] = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const NodeIndex parent : contraction.data_parents(rows[i])) storage->data_parents.push_back(to_row[parent]);
    for (const NodeIndex parent : contraction.ctrl_parents(rows[i])) storage->ctrl_parents.push_back(to_row[parent]);
    storage->data_offsets[i + 1] = storage->data_parents.size();
    storage->ctrl_offsets[i + 1] = storage->ctrl_parents.size();
    const bool changed = contraction.lost_parent(rows[i]);
    if (changed && storage->record_form[i] == detail::RecordForm::whole) {
      storage->record_form[i] = detail::RecordForm::whole_but_deps;
    }
  }
  return std::make_shared<const Trace>(std::move(storage));
}

}  // namespace chakra
