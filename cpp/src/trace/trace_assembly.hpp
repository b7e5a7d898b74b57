// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
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

  // An assembly is filled in one of three ways.

  /// Whether blocks with `rows` more rows can be taken without make_room().
  bool has_room(std::size_t rows) const noexcept;
  /// For `rows` rows beyond those taken. No block may be filled meanwhile.
  void make_room(std::size_t rows);
  /// The next `rows` rows. Threads may fill blocks taken before meanwhile; a block need not be filled to its end.
  RowBlock& take_block(std::size_t rows);
  /// A block is filled: the next may go on with its strings. Not at the same time as take_block().
  void close_block(RowBlock& block);

  /// Adds a block after the last one, for up to about `most_rows` rows, which one thread fills before it asks for the
  /// next. Where the number of rows is not known.
  RowBlock& add_block(std::size_t most_rows);

  /// The one block of an assembly whose rows come one by one.
  RowBlock& growing();

  /// With OnError::strict throws FormatError (duplicate id) or DependencyError (missing parent); with
  /// recover drops later duplicates and dependencies on absent nodes, and reports them. Dependencies of a kind that is
  /// not `needed` are treated as with recover.
  TracePtr finish(OnError on_error, unsigned threads = 1, DependencyKind needed = DependencyKind::both);

  /// Instead of finish(), for rows of which the parents may be elsewhere, in one block that was filled without a gap:
  /// the trace has its parents by id only (Trace::parent_ids()). Of rows with one id, find() gives the first.
  TracePtr finish_apart();

 private:
  void close_gaps();
  void merge_reports();
  void join_strings(unsigned threads);
  const std::vector<std::uint32_t>* new_ids(const RowBlock& block) const;
  void build_index(OnError on_error);
  void collapse();
  void drop_duplicates(const std::vector<IdIndex::Duplicate>& duplicates);
  void resolve(OnError on_error, unsigned threads, DependencyKind needed);

  /// One kind of dependencies: where the blocks have the ids, and where the rows go.
  struct DependencyColumns {
    wire::IdList RowBlock::*parent_ids;
    Column<std::uint64_t>* offsets;
    Column<NodeIndex>* parents;
    std::vector<std::uint64_t> bases;  ///< number of parents before each block, and of all
  };
  bool resolve_kind(const DependencyColumns& kind, OnError on_error, unsigned threads);
  bool resolve_block(RowBlock& block, const wire::IdList& parent_ids, const Column<std::uint64_t>& offsets,
                     NodeIndex* parents, OnError on_error);
  void rebase(const DependencyColumns& kind, unsigned threads);
  [[noreturn]] void throw_missing_parents(DependencyKind needed) const;
  std::uint64_t record_number(NodeIndex row) const;
  std::string describe_record(NodeIndex row) const;

  std::unique_ptr<TraceStorage> storage_;
  std::deque<RowBlock> blocks_;     ///< stay where they are while others are added
  std::size_t rows_given_ = 0;      ///< rows of all blocks taken
  std::deque<RowStrings> strings_;  ///< one for each block that is filled at the same time
  std::vector<RowStrings*> idle_strings_;
  std::map<const RowStrings*, std::vector<std::uint32_t>>
      strings_ids_;  ///< in the storage; none where they are the same
};

}  // namespace chakra::detail
