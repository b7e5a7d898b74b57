// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "chakra_core/trace.hpp"

namespace chakra::detail {

/// The attributes that simulators read, by row.
struct AttributeColumns {
  AttributeColumn<std::uint8_t> is_cpu_op;
  std::array<AttributeColumn<std::int64_t>, integer_attribute_count> integers;
  AttributeColumn<std::uint32_t> pg_name;       ///< interned string
  AttributeColumn<std::uint32_t> involved_dim;  ///< interned pattern of '0' and '1'

  void shrink_to_fit();
  std::size_t memory_bytes() const noexcept;
};

/// A part of a trace's rows and its columns, in which rows count from 0.
struct AttributePart {
  NodeIndex first_row;
  AttributeColumns* columns;                  ///< is left empty
  const std::vector<std::uint32_t>* strings;  ///< the trace's ids of the part's strings; null if they are the same
};

/// Puts the columns of parts, in the order of rows, behind each other.
AttributeColumns joined(const std::vector<AttributePart>& parts, unsigned threads);

/// Columns of the rows that are kept.
AttributeColumns kept_rows(const AttributeColumns& columns, const std::vector<bool>& keep);

}  // namespace chakra::detail
