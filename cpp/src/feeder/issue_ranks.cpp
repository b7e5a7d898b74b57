// SPDX-License-Identifier: MIT
#include "feeder/issue_ranks.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

#include "chakra_core/errors.hpp"

namespace chakra::detail {

namespace {

/// Sorts rows, which come ascending, unless they are in order already.
template <class Before>
std::vector<NodeIndex> sorted_rows(std::size_t size, Before before) {
  std::vector<NodeIndex> rows(size);
  std::iota(rows.begin(), rows.end(), NodeIndex{0});
  if (std::is_sorted(rows.begin(), rows.end(), before)) {
    return {};
  }
  std::sort(rows.begin(), rows.end(), before);
  return rows;
}

/// One value a row, absent ones behind all others, smaller ones in front.
std::vector<std::optional<std::int64_t>> attribute_values(const Trace& trace, const std::string& name) {
  std::vector<std::optional<std::int64_t>> values(trace.size());
  for (std::size_t i = 0; i < integer_attribute_count; ++i) {
    const auto attribute = static_cast<IntegerAttribute>(i);
    if (name == to_string(attribute)) {
      for (NodeIndex row = 0; row < trace.size(); ++row) {
        values[row] = trace.column(attribute).get(row);
      }
      return values;
    }
  }
  return values;
}

std::vector<NodeIndex> rows_in_order(const Trace& trace, const IssueOrder& order) {
  const auto ids = trace.ids();
  const auto by_id = [ids](NodeIndex one, NodeIndex other) { return ids[one] < ids[other]; };
  switch (order.by) {
    case IssueOrder::By::id:
      return sorted_rows(ids.size(), by_id);
    case IssueOrder::By::file:
      return {};
    case IssueOrder::By::start_time:
      return sorted_rows(ids.size(), [ids, start = trace.start_ns()](NodeIndex one, NodeIndex other) {
        return start[one] != start[other] ? start[one] < start[other] : ids[one] < ids[other];
      });
    case IssueOrder::By::attribute: {
      const auto values = attribute_values(trace, order.attribute);
      return sorted_rows(ids.size(), [&](NodeIndex one, NodeIndex other) {
        if (values[one] == values[other]) {
          return ids[one] < ids[other];
        }
        if (!values[one] || !values[other]) {
          return values[one].has_value();
        }
        return (*values[one] < *values[other]) == order.smallest_first;
      });
    }
    case IssueOrder::By::comparator:
      break;
  }
  if (!order.before) {
    throw ChakraError("IssueOrder::By::comparator needs a comparator in `before`");
  }
  return sorted_rows(ids.size(), [&](NodeIndex one, NodeIndex other) {
    return order.before(one, other) || (!order.before(other, one) && ids[one] < ids[other]);
  });
}

}  // namespace

IssueRanks::IssueRanks(const Trace& trace, const IssueOrder& order) : row_of_rank_(rows_in_order(trace, order)) {
  rank_of_row_.resize(row_of_rank_.size());
  for (std::size_t rank = 0; rank < row_of_rank_.size(); ++rank) {
    rank_of_row_[row_of_rank_[rank]] = static_cast<std::uint32_t>(rank);
  }
}

}  // namespace chakra::detail
