// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chakra_core/trace.hpp"
#include "trace/attribute_columns.hpp"
#include "trace/column.hpp"
#include "trace/id_index.hpp"
#include "trace/string_pool.hpp"

namespace chakra::detail {

/// A file as it was when it was mapped.
struct FileIdentity {
  std::filesystem::path path;
  std::uint64_t device;
  std::uint64_t inode;
  std::uint64_t size;
  std::int64_t modified_ns;

  bool operator==(const FileIdentity&) const = default;
};

/// Owner of record bytes: a mapped file, an inflated stream, what a builder encoded.
class RecordSource {
 public:
  virtual ~RecordSource() = default;
  RecordSource() = default;
  RecordSource(const RecordSource&) = delete;
  RecordSource& operator=(const RecordSource&) = delete;

  /// All bytes, at one address as long as the source lives. Empty for a source of many pieces.
  virtual std::string_view bytes() const noexcept = 0;
  /// Anonymous memory held.
  virtual std::size_t memory_bytes() const noexcept = 0;
  /// Where in the uncompressed file the byte at an address lies, if the source holds it and knows.
  virtual std::optional<std::uint64_t> offset_of(const char* at) const noexcept;
  /// These bytes are looked at soon.
  virtual void will_read(std::size_t /*begin*/, std::size_t /*size*/) const noexcept {}
  /// Gives back memory that the system can fill again when bytes() are next looked at.
  virtual void release_pages() const noexcept {}
  /// What bytes() are the mapping of; null if they are none.
  virtual const FileIdentity* file() const noexcept { return nullptr; }
};

/// What the bytes kept of a row are.
enum class RecordForm : std::uint8_t {
  whole,                  ///< the whole Node message, as read
  whole_but_deps,         ///< the whole message, but its dependencies are those of the columns
  whole_but_id_and_deps,  ///< the whole message, but its id and dependencies are those of the columns
  tail,                   ///< inputs, outputs and attributes only; the rest is in the columns
};

/// Parents by id, of rows whose parents need not be rows of the same trace: a block of a file that is streamed.
struct ParentsApart {
  Column<std::uint64_t> offsets;  ///< empty, or one more than rows
  std::vector<NodeId> ids;

  std::span<const NodeId> operator[](NodeIndex row) const noexcept {
    return offsets.empty() ? std::span<const NodeId>()
                           : std::span(ids).subspan(offsets[row], offsets[row + 1] - offsets[row]);
  }
  std::size_t memory_bytes() const noexcept {
    return offsets.capacity() * sizeof(std::uint64_t) + ids.capacity() * sizeof(NodeId);
  }
};

/// The columns behind a Trace. Filled by RowBlock and TraceAssembly, then never changed but for what is made on first
/// use.
struct TraceStorage {
  Column<NodeId> ids;
  Column<NodeType> types;
  Column<std::uint32_t> name_ids;
  Column<std::uint64_t> start_ns;
  Column<std::uint64_t> duration_ns;

  Column<std::uint64_t> data_offsets;
  Column<NodeIndex> data_parents;
  Column<std::uint64_t> ctrl_offsets;
  Column<NodeIndex> ctrl_parents;

  ParentsApart apart_data;  ///< instead of data_parents, whose offsets are all 0 then
  ParentsApart apart_ctrl;

  AttributeColumns attributes;

  StringPool strings;
  IdIndex index;

  Column<const char*> record_begin;
  Column<std::uint32_t> record_size;
  Column<RecordForm> record_form;
  std::vector<std::shared_ptr<const RecordSource>> sources;

  Metadata metadata;
  std::string metadata_record;
  std::string source;
  Report load_report;
  std::uint64_t left_out_dependencies = 0;  ///< of kept rows on rows that select() left out

  /// Made on first use, one for each DependencyKind.
  struct Children {
    std::once_flag once;
    Column<std::uint64_t> offsets;
    Column<NodeIndex> rows;
    std::atomic<std::size_t> memory_bytes{0};
  };
  mutable std::array<Children, 3> children;
  mutable std::array<Children, 3> children_by_id;  ///< where rows are not in the order of ids; detail::children_by_id()

  /// Made on first use; empty where rows are in that order.
  struct OrderOfIds {
    std::once_flag once;
    Column<NodeIndex> row_of_rank;
    Column<std::uint32_t> rank_of_row;
    std::atomic<std::size_t> memory_bytes{0};
  };
  mutable OrderOfIds order_of_ids;

  std::string_view record_bytes(NodeIndex row) const noexcept { return {record_begin[row], record_size[row]}; }
};

}  // namespace chakra::detail
