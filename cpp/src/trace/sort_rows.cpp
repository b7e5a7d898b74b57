// SPDX-License-Identifier: MIT
#include "trace/sort_rows.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace chakra::detail {

namespace {

constexpr unsigned digit_bits = 11;
constexpr std::size_t digit_values = std::size_t{1} << digit_bits;
/// An offset table may have this many entries for each id before sorting takes less time.
constexpr std::uint64_t most_entries_per_id = 4;
constexpr NodeIndex free_entry = std::numeric_limits<NodeIndex>::max();

/// Distinct ids that lie close together need no sorting: each has a place of its own in a table.
Column<NodeIndex> rows_by_dense_id(std::span<const NodeId> ids, NodeId smallest, std::size_t span) {
  Column<NodeIndex> table(span, free_entry);
  for (std::size_t row = 0; row < ids.size(); ++row) {
    table[ids[row] - smallest] = static_cast<NodeIndex>(row);
  }
  table.erase(std::remove(table.begin(), table.end(), free_entry), table.end());
  table.shrink_to_fit();
  return table;
}

}  // namespace

void sort_rows(Column<NodeIndex>& rows, std::span<const std::uint64_t> keys) {
  if (rows.empty()) {
    return;
  }
  const std::uint64_t first = keys[rows.front()];
  std::uint64_t differing = 0;
  for (const NodeIndex row : rows) {
    differing |= keys[row] ^ first;
  }
  Column<NodeIndex> sorted(rows.size());
  for (unsigned shift = 0; shift < 64; shift += digit_bits) {
    if (((differing >> shift) & (digit_values - 1)) == 0) {
      continue;
    }
    std::array<std::size_t, digit_values> next{};
    for (const NodeIndex row : rows) {
      ++next[(keys[row] >> shift) & (digit_values - 1)];
    }
    std::exclusive_scan(next.begin(), next.end(), next.begin(), std::size_t{0});
    for (const NodeIndex row : rows) {
      sorted[next[(keys[row] >> shift) & (digit_values - 1)]++] = row;
    }
    rows.swap(sorted);
  }
}

Column<NodeIndex> rows_by_id(std::span<const NodeId> ids) {
  if (ids.empty()) {
    return {};
  }
  const auto [smallest, largest] = std::minmax_element(ids.begin(), ids.end());
  const std::uint64_t distance = *largest - *smallest;
  if (distance < most_entries_per_id * ids.size()) {
    return rows_by_dense_id(ids, *smallest, static_cast<std::size_t>(distance) + 1);
  }
  Column<NodeIndex> rows(ids.size());
  std::iota(rows.begin(), rows.end(), NodeIndex{0});
  sort_rows(rows, ids);
  return rows;
}

Column<std::uint32_t> places_of(const Column<NodeIndex>& rows) {
  Column<std::uint32_t> places(rows.size());
  for (std::size_t place = 0; place < rows.size(); ++place) {
    places[rows[place]] = static_cast<std::uint32_t>(place);
  }
  return places;
}

}  // namespace chakra::detail
