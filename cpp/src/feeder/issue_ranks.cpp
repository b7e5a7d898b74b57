// SPDX-License-Identifier: MIT
#include "feeder/issue_ranks.hpp"

#include <algorithm>

#include "feeder/issue_key.hpp"
#include "trace/sort_rows.hpp"

namespace chakra::detail {

namespace {

/// Rows that are in the order of ids stay so where keys are equal.
void sort_by_key(Column<NodeIndex>& rows, const Trace& trace, const IssueOrder& order) {
  const IssueKeys keys(order);
  std::vector<std::uint64_t> values(rows.size());
  Column<NodeIndex> last;
  std::size_t kept = 0;
  for (const NodeIndex row : rows) {
    const IssueKey key = keys.key(trace, row, row);
    values[row] = key.value;
    if (key.last) {
      last.push_back(row);
    } else {
      rows[kept++] = row;
    }
  }
  rows.resize(kept);
  sort_rows(rows, values);
  rows.insert(rows.end(), last.begin(), last.end());
}

Column<NodeIndex> rows_in_order(const Trace& trace, const IssueOrder& order) {
  Column<NodeIndex> rows = rows_by_id(trace.ids());
  if (order.by == IssueOrder::By::comparator) {
    std::stable_sort(rows.begin(), rows.end(), order.before);
  } else if (order.by != IssueOrder::By::id) {
    sort_by_key(rows, trace, order);
  }
  return rows;
}

}  // namespace

IssueRanks::IssueRanks(const Trace& trace, const IssueOrder& order) {
  const IssueKeys checked(order);
  if (order.by == IssueOrder::By::file) {
    return;
  }
  row_of_rank_ = rows_in_order(trace, order);
  if (std::is_sorted(row_of_rank_.begin(), row_of_rank_.end())) {
    row_of_rank_ = {};
  }
  rank_of_row_ = places_of(row_of_rank_);
}

std::size_t IssueRanks::memory_bytes() const noexcept {
  return row_of_rank_.capacity() * sizeof(NodeIndex) + rank_of_row_.capacity() * sizeof(std::uint32_t);
}

}  // namespace chakra::detail
