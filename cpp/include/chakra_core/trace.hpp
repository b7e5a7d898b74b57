// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chakra_core/attribute.hpp"
#include "chakra_core/node_type.hpp"
#include "chakra_core/report.hpp"

namespace chakra {

namespace detail {
struct TraceStorage;
}

/// Rows and their neighbours in compressed sparse row form: the neighbours of row r are
/// indices[offsets[r]] .. indices[offsets[r + 1] - 1].
struct Adjacency {
  std::span<const std::uint64_t> offsets;  ///< size() + 1 entries
  std::span<const NodeIndex> indices;      ///< row numbers

  std::span<const NodeIndex> operator[](NodeIndex row) const noexcept {
    return indices.subspan(offsets[row], offsets[row + 1] - offsets[row]);
  }
};

/// Which dependencies of a node count.
enum class DependencyKind : std::uint8_t { data, control, both };

/// Integer attributes that simulators read; each is a column. Any integer arm of the wire converts.
enum class IntegerAttribute : std::uint8_t {
  num_ops,
  tensor_size,
  comm_type,
  comm_size,
  comm_priority,
  comm_src,
  comm_dst,
  comm_tag,
  stream,
  tid,
};
inline constexpr std::size_t integer_attribute_count = 10;

/// Wire name, e.g. "comm_size".
std::string_view to_string(IntegerAttribute attribute) noexcept;

/// Values of one attribute, packed: a presence bit a row, a value only where the bit is set.
/// Look-up by row is constant time (bit test and popcount rank).
template <class Value>
class AttributeColumn {
 public:
  AttributeColumn() = default;

  bool has(NodeIndex row) const noexcept {
    const std::size_t word = row / 64;
    return word < presence_.size() && ((presence_[word] >> (row % 64)) & 1U) != 0;
  }
  std::optional<Value> get(NodeIndex row) const noexcept;
  Value value_or(NodeIndex row, Value fallback) const noexcept;

  /// Number of rows that have the attribute.
  std::size_t count() const noexcept { return values_.size(); }
  /// The values that are there, in row order.
  std::span<const Value> values() const noexcept { return values_; }
  /// Presence bits, 64 rows a word, lowest bit first; may be shorter than the trace (rest absent).
  std::span<const std::uint64_t> presence() const noexcept { return presence_; }

  /// Appends the value of `row`; rows must come in ascending order. For builders.
  void append(NodeIndex row, Value value) {
    if (row / 64 >= presence_.size()) {
      add_words(row / 64 + 1);
    }
    presence_[row / 64] |= std::uint64_t{1} << (row % 64);
    values_.push_back(value);
  }
  /// Appends a column whose row 0 is `first_row` here; all rows here must be smaller. For builders.
  void append(NodeIndex first_row, const AttributeColumn& column);
  void reserve(std::size_t values) { values_.reserve(values); }
  void shrink_to_fit();
  /// Changes every value. For builders.
  template <class Function>
  void map(Function&& function) {
    for (Value& value : values_) {
      value = function(value);
    }
  }
  std::size_t memory_bytes() const noexcept;

 private:
  std::size_t rank(NodeIndex row) const noexcept;
  void add_words(std::size_t count);

  std::vector<std::uint64_t> presence_;
  std::vector<std::uint32_t> rank_before_word_;  ///< values before each presence word
  std::vector<Value> values_;
};

extern template class AttributeColumn<std::int64_t>;
extern template class AttributeColumn<std::uint32_t>;
extern template class AttributeColumn<std::uint8_t>;

/// Values, shapes and types of a node's inputs or outputs, as the strings that the file has.
struct IoInfo {
  std::string values;
  std::string shapes;
  std::string types;

  bool operator==(const IoInfo&) const = default;
};

/// GlobalMetadata of a file: the schema version and its attributes.
struct Metadata {
  std::string version;
  std::vector<Attribute> attributes;

  bool operator==(const Metadata&) const = default;
};

/// An immutable execution trace in columns. Shared by shared_ptr; reading from any number of
/// threads is safe. Rows are in file order; every column has size() entries unless said otherwise.
class Trace {
 public:
  explicit Trace(std::unique_ptr<detail::TraceStorage> storage);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  std::size_t size() const noexcept;

  std::span<const NodeId> ids() const noexcept;
  std::span<const NodeType> types() const noexcept;
  std::span<const std::uint64_t> start_ns() const noexcept;     ///< 0 where the file has none
  std::span<const std::uint64_t> duration_ns() const noexcept;  ///< 0 where the file has none
  std::span<const std::uint32_t> name_ids() const noexcept;     ///< index into the interned strings
  std::string_view name(NodeIndex row) const noexcept;

  /// Interned strings: names, process group names, involved-dimension patterns.
  std::size_t string_count() const noexcept;
  std::string_view string(std::uint32_t id) const noexcept;

  Adjacency data_deps() const noexcept;  ///< parents, in the order of the file
  Adjacency ctrl_deps() const noexcept;  ///< parents, in the order of the file
  /// Ids of a row's parents in the order of the file, of `both` kinds data before control.
  std::vector<NodeId> parent_ids(NodeIndex row, DependencyKind kind) const;
  /// Nodes that name a row as a parent, ascending, each once. Made on first use for each kind.
  Adjacency children(DependencyKind kind = DependencyKind::both) const;

  const AttributeColumn<std::uint8_t>& is_cpu_op() const noexcept;  ///< 0 or 1
  const AttributeColumn<std::int64_t>& column(IntegerAttribute attribute) const noexcept;
  const AttributeColumn<std::uint32_t>& pg_name() const noexcept;       ///< interned string ids
  const AttributeColumn<std::uint32_t>& involved_dim() const noexcept;  ///< interned patterns of '0' and '1'

  /// Row of a node id, if the trace has it. Constant time.
  std::optional<NodeIndex> find(NodeId id) const noexcept;

  // Decoding on demand throws FormatError for bytes that are malformed where loading does not look.

  /// All attributes of a node in the order of its record, decoded on demand.
  std::vector<Attribute> attributes(NodeIndex row) const;
  /// The first attribute with this name, decoded on demand.
  std::optional<Attribute> attribute(NodeIndex row, std::string_view name) const;
  IoInfo inputs(NodeIndex row) const;
  IoInfo outputs(NodeIndex row) const;
  /// The whole node as one protobuf `Node` message, without the length in front. Byte-identical to
  /// the file for a node that was read and not changed.
  std::string record(NodeIndex row) const;

  const Metadata& metadata() const noexcept;
  /// GlobalMetadata as protobuf bytes, as read or as built.
  std::string_view metadata_record() const noexcept;

  /// File the trace came from, or empty.
  const std::string& source() const noexcept;
  /// What reading had to drop or mend; empty after a strict load.
  const Report& load_report() const noexcept;
  /// Byte offset of a row's message in the uncompressed file, if it is there as it was read.
  std::optional<std::uint64_t> record_offset(NodeIndex row) const noexcept;

  /// Anonymous memory held by columns and owned record bytes (a mapped file is not counted).
  std::size_t memory_bytes() const noexcept;

  const detail::TraceStorage& storage() const noexcept { return *storage_; }

 private:
  std::unique_ptr<detail::TraceStorage> storage_;
};

using TracePtr = std::shared_ptr<const Trace>;

/// Every problem of a trace, including those met while it was loaded with OnError::recover.
Report validate(const Trace& trace);

/// One minimal cycle (no part of it is a cycle) for each strongly connected component that has any, as node
/// ids in dependency order (each waits for the next, the last for the first). Empty if acyclic.
std::vector<std::vector<NodeId>> find_cycles(const Trace& trace);

}  // namespace chakra
