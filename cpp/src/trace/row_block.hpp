// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "chakra_core/report.hpp"
#include "trace/attribute_columns.hpp"
#include "trace/string_pool.hpp"
#include "trace/trace_storage.hpp"
#include "wire/decode.hpp"

namespace chakra::detail {

/// Consecutive rows of a trace that one thread fills. What has one fixed-size value a row goes straight into the
/// storage's columns; the rest is the block's own until TraceAssembly joins all blocks.
class RowBlock {
 public:
  /// Rows from `first_row` on. Rows beyond the storage's size are added to it as they come: by one block only.
  RowBlock(TraceStorage& storage, std::size_t first_row) : storage_(&storage), first_row_(first_row) {}

  /// `record` must stay valid as long as the storage's sources.
  void append(const wire::DecodedNode& node, std::string_view record, RecordForm form);
  /// Counts a record of the file that gave no row, so that later rows know their record number.
  void skip_record() { skipped_before_.push_back(rows_); }

  std::size_t first_row() const noexcept { return first_row_; }
  std::size_t rows() const noexcept { return rows_; }

  std::vector<NodeId> data_parent_ids;  ///< of all rows, one after another; storage has where each row's end
  std::vector<NodeId> ctrl_parent_ids;
  AttributeColumns attributes;  ///< rows count from 0
  StringPool strings;           ///< what the storage's name ids of these rows mean until the blocks are joined
  Report report;

 private:
  friend class TraceAssembly;

  TraceStorage* storage_;
  std::size_t first_row_;
  std::size_t rows_ = 0;
  std::vector<std::size_t> skipped_before_;  ///< for each skipped record the number of the block's rows before it
};

/// Gives every column `rows` rows, and the offsets one more.
void resize_rows(TraceStorage& storage, std::size_t rows);

}  // namespace chakra::detail
