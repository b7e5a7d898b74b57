// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "chakra_core/feeder.hpp"
#include "trace/column.hpp"

namespace chakra::detail {

/// The place of each row of a trace in an issue order: rank 0 comes first.
class IssueRanks {
 public:
  /// The order of the file.
  IssueRanks() = default;
  /// Throws ChakraError for an order that lacks its attribute or comparator, or whose attribute is not an integer.
  IssueRanks(const Trace& trace, const IssueOrder& order);

  std::uint32_t rank(NodeIndex row) const noexcept { return rank_of_row_.empty() ? row : rank_of_row_[row]; }
  NodeIndex row(std::uint32_t rank) const noexcept { return row_of_rank_.empty() ? rank : row_of_rank_[rank]; }
  std::size_t memory_bytes() const noexcept;

 private:
  Column<NodeIndex> row_of_rank_;  ///< both empty where the order is that of the file
  Column<std::uint32_t> rank_of_row_;
};

}  // namespace chakra::detail
