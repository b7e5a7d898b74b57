// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "chakra_core/report.hpp"
#include "trace/attribute_columns.hpp"
#include "trace/string_pool.hpp"
#include "trace/trace_storage.hpp"
#include "wire/decode.hpp"

namespace chakra::detail {

/// Strings of the blocks that one thread after another fills, with the row where each came first: what orders them when
/// the strings of all threads become one pool.
class RowStrings {
 public:
  std::uint32_t intern(std::string_view text, std::size_t row) {
    const std::uint32_t id = pool.intern(text);
    if (id == first_rows.size()) {
      first_rows.push_back(static_cast<NodeIndex>(row));
    }
    return id;
  }
  std::uint32_t intern_name(const wire::DecodedNode& node, std::size_t row) {
    if (!node.short_name) {
      return intern(node.name, row);
    }
    Recent& recent = recent_[node.short_name->hash() >> (64 - recent_bits)];
    if (recent.text != *node.short_name) {
      recent = {*node.short_name, intern(node.name, row)};
    }
    return recent.id;
  }

  StringPool pool;
  std::vector<NodeIndex> first_rows;
  /// Of the integer attributes, how many values a block before had: what the next is likely to need room for.
  std::array<std::size_t, integer_attribute_count> usual_counts{};

 private:
  /// The empty text has an id only after it came.
  struct Recent {
    std::optional<wire::ShortText> text;
    std::uint32_t id = 0;
  };
  static constexpr unsigned recent_bits = 7;
  std::array<Recent, std::size_t{1} << recent_bits> recent_{};
};

/// Consecutive rows of a trace that one thread fills. What has one fixed-size value a row goes straight into the
/// storage's columns; the rest is the block's own until TraceAssembly joins all blocks.
class RowBlock {
 public:
  /// The storage's rows from `first_row` on, for which it has room for `rows`. More are added to the storage as they
  /// come: by one block only.
  RowBlock(TraceStorage& storage, RowStrings& strings, std::size_t first_row, std::size_t rows)
      : storage_(&storage), strings_(&strings), first_row_(first_row), room_(rows) {}

  /// `record` must stay valid as long as the storage's sources.
  void append(const wire::DecodedNode& node, std::string_view record, RecordForm form);
  /// Makes room for as many attributes as the block before had.
  void reserve();
  void remember_counts() noexcept;
  /// Counts a record of the file that gave no row, so that later rows know their record number.
  void skip_record() { skipped_before_.push_back(rows_); }

  std::size_t first_row() const noexcept { return first_row_; }
  std::size_t rows() const noexcept { return rows_; }

  wire::IdList data_parent_ids;  ///< of all rows, one after another; storage has where each row's end
  wire::IdList ctrl_parent_ids;
  AttributeColumns attributes;  ///< rows count from 0
  Report report;

 private:
  friend class TraceAssembly;

  TraceStorage* storage_;
  RowStrings* strings_;  ///< what the ids of names and strings of these rows mean until the blocks are joined
  std::size_t first_row_;
  std::size_t room_;
  std::size_t rows_ = 0;
  std::vector<std::size_t> skipped_before_;  ///< for each skipped record the number of the block's rows before it
};

/// Gives every column `rows` rows, and the offsets one more.
void resize_rows(TraceStorage& storage, std::size_t rows);

}  // namespace chakra::detail
