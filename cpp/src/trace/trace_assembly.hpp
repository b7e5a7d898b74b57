// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "chakra_core/et_file.hpp"
#include "chakra_core/trace.hpp"
#include "trace/trace_storage.hpp"
#include "wire/decode.hpp"

namespace chakra::detail {

/// Turns decoded nodes into the columns of a Trace. Readers and builders append; finish() resolves
/// what only the whole can tell: the id index and the dependencies.
class TraceAssembly {
 public:
  TraceAssembly();

  TraceStorage& storage() noexcept { return *storage_; }
  std::size_t size() const noexcept { return storage_->ids.size(); }
  void reserve(std::size_t nodes);

  /// `record` must stay valid as long as the sources in storage().
  void append(const wire::DecodedNode& node, std::string_view record, RecordForm form);

  /// Counts a record of the file that gave no row, so that later rows know their record number.
  void skip_record() { skipped_before_.push_back(storage_->ids.size()); }

  /// With OnError::strict throws FormatError (duplicate id) or DependencyError (missing parent); with
  /// recover drops later duplicates and dependencies on absent nodes, and reports them.
  TracePtr finish(OnError on_error);

 private:
  void shrink_to_fit();
  void drop_duplicates(const std::vector<IdIndex::Duplicate>& duplicates);
  void resolve(const std::vector<NodeId>& parent_ids, std::vector<std::uint64_t>& offsets,
               std::vector<NodeIndex>& parents, OnError on_error);
  [[noreturn]] void throw_missing_parents() const;
  std::uint64_t record_number(NodeIndex row) const;
  std::string describe_record(NodeIndex row) const;

  std::unique_ptr<TraceStorage> storage_;
  std::vector<NodeId> data_parent_ids_;
  std::vector<NodeId> ctrl_parent_ids_;
  std::vector<std::size_t> skipped_before_;  ///< for each skipped record the number of rows before it
};

}  // namespace chakra::detail
