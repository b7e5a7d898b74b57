// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

#include "chakra_core/node_type.hpp"
#include "trace/column.hpp"

namespace chakra::detail {

/// Sorts rows by their keys, ascending; rows with equal keys stay in the order in which they come. keys[row] is the key
/// of a row. Linear: a pass over the rows for each 11 bits in which the keys differ.
void sort_rows(Column<NodeIndex>& rows, std::span<const std::uint64_t> keys);

/// All rows by ascending id.
Column<NodeIndex> rows_by_id(std::span<const NodeId> ids);

/// Place of each row in a list of all rows.
Column<std::uint32_t> places_of(const Column<NodeIndex>& rows);

}  // namespace chakra::detail
