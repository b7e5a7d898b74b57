// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chakra_core/et_file.hpp"
#include "chakra_core/trace.hpp"
#include "trace/row_block.hpp"
#include "trace/trace_storage.hpp"

namespace chakra::detail {

/// Turns blocks of rows into a Trace: readers fill many at once, a builder one. finish() resolves what only the whole
/// can tell: strings, the id index and the dependencies.
class TraceAssembly {
 public:
  TraceAssembly();

  TraceStorage& storage() noexcept { return *storage_; }

  /// Makes room for `rows` rows in blocks of `block_rows` each, the last one less. Once, instead of grow().
  void split(std::size_t rows, std::size_t block_rows);
  std::size_t block_count() const noexcept { return blocks_.size(); }
  RowBlock& block(std::size_t number) noexcept { return blocks_[number]; }

  /// Adds a block after the last one, for up to about `most_rows` rows, which one thread fills before it asks for the
  /// next. Instead of split(), where the number of rows is not known. Blocks given before may move.
  RowBlock& add_block(std::size_t most_rows);

  /// The one block of an assembly whose rows come one by one.
  RowBlock& growing();

  /// With OnError::strict throws FormatError (duplicate id) or DependencyError (missing parent); with
  /// recover drops later duplicates and dependencies on absent nodes, and reports them.
  TracePtr finish(OnError on_error, unsigned threads = 1);

  /// Instead of finish(), for rows of which the parents may be elsewhere, in one block that was filled without a gap:
  /// the trace has its parents by id only (Trace::parent_ids()). Of rows with one id, find() gives the first.
  TracePtr finish_apart();

 private:
  void close_gaps();
  void merge_reports();
  void join_strings(unsigned threads);
  void build_index(OnError on_error);
  void collapse();
  void drop_duplicates(const std::vector<IdIndex::Duplicate>& duplicates);
  void resolve(OnError on_error, unsigned threads);

  /// One kind of dependencies: where the blocks have the ids, and where the rows go.
  struct DependencyColumns {
    std::vector<NodeId> RowBlock::*parent_ids;
    Column<std::uint64_t>* offsets;
    Column<NodeIndex>* parents;
    std::vector<std::uint64_t> bases;  ///< number of parents before each block, and of all
  };
  bool resolve_kind(const DependencyColumns& kind, OnError on_error, unsigned threads);
  bool resolve_block(RowBlock& block, const std::vector<NodeId>& parent_ids, const Column<std::uint64_t>& offsets,
                     NodeIndex* parents, OnError on_error);
  void rebase(const DependencyColumns& kind, unsigned threads);
  [[noreturn]] void throw_missing_parents() const;
  std::uint64_t record_number(NodeIndex row) const;
  std::string describe_record(NodeIndex row) const;

  std::unique_ptr<TraceStorage> storage_;
  std::vector<RowBlock> blocks_;
  std::vector<std::vector<std::uint32_t>> string_ids_;  ///< of each block's strings in the storage
};

}  // namespace chakra::detail
