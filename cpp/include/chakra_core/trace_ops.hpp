// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chakra_core/trace.hpp"

/// What one does with traces in memory. Traces are immutable: each operation that changes something gives a new trace,
/// which shares the record bytes of the old one. Nodes that an operation does not change stay byte for byte.
namespace chakra {

/// Conditions on nodes; a node must meet all. What is left empty does not count.
struct NodeFilter {
  std::vector<NodeType> types = {};
  /// Nodes that run within [start_ns, end_ns) at some time, or begin there if they take no time. A node without times
  /// counts as one that begins and ends at 0.
  std::optional<std::uint64_t> start_ns = {};
  std::optional<std::uint64_t> end_ns = {};
  std::vector<std::string> process_groups = {};  ///< values of `pg_name`
};

/// Rows that meet the conditions, ascending.
std::vector<NodeIndex> rows_where(const Trace& trace, const NodeFilter& filter);

/// Rows of these ids, in their order. Throws ChakraError for an id that the trace does not have.
std::vector<NodeIndex> rows_of(const Trace& trace, std::span<const NodeId> ids);

/// The trace of these rows, in their order. Dependencies between them stay; dependencies on other rows are left out.
/// Throws ChakraError for a row that is out of range or named twice.
TracePtr select(const Trace& trace, std::span<const NodeIndex> rows);

/// The trace of these rows, in their order, where whoever depended on another row depends on what that one depended on:
/// a kept node is reached from another by data dependencies exactly if it was before, and likewise by data and control
/// dependencies together. A path of both kinds through rows left out becomes a control dependency. Nodes that depended
/// on kept ones only stay byte for byte. Linear in the edges times the number of chains that the kept nodes form
/// (threads and streams).
/// Throws ChakraError for a row that is out of range or named twice, DependencyError for a cycle.
TracePtr contract(const Trace& trace, std::span<const NodeIndex> rows);

/// How many dependencies select() left out when it made this trace; 0 for a trace that was made otherwise.
std::uint64_t left_out_dependencies(const Trace& trace) noexcept;

/// What concat() does about ids.
enum class ConcatIds : std::uint8_t {
  keep,      ///< ids stay; ChakraError if two nodes have the same
  renumber,  ///< the id of every node becomes its row: 0, 1, 2, ...
};

/// One trace of the nodes of all, one trace after the other, with the metadata of the first. Dependencies stay within
/// their trace. No traces give an empty one.
TracePtr concat(std::span<const TracePtr> traces, ConcatIds ids);

/// Nodes of one type, or collectives of one kind, or what one process group does.
struct NodeTotals {
  std::uint64_t nodes = 0;
  std::uint64_t bytes = 0;  ///< sum of comm_size
  std::uint64_t duration_ns = 0;
};

struct TypeTotals : NodeTotals {
  NodeType type = NodeType::invalid;
};

struct CollectiveTotals : NodeTotals {
  std::optional<std::int64_t> comm_type;  ///< absent where the node has none
};

struct GroupTotals : NodeTotals {
  std::optional<std::uint32_t> pg_name;  ///< interned string; absent where the node has none
  NodeType type = NodeType::invalid;
  std::optional<std::int64_t> comm_type;  ///< of collectives
};

/// The shape of an acyclic graph. A level is the number of edges on the longest path that ends at a node.
struct GraphShape {
  std::uint64_t depth = 0;                    ///< number of levels
  std::uint64_t width = 0;                    ///< nodes on the widest level
  std::uint64_t widest_level = 0;             ///< the first of them
  std::uint64_t critical_path_ns = 0;         ///< largest sum of durations along a path
  std::vector<NodeIndex> critical_path = {};  ///< a path with that sum, parents first
  std::vector<std::uint32_t> levels = {};     ///< of each row
};

/// Sums that would exceed 64 bits stay at the largest number.
struct TraceStats {
  std::uint64_t nodes = 0;
  std::uint64_t data_deps = 0;
  std::uint64_t ctrl_deps = 0;
  std::vector<TypeTotals> types;              ///< by type, ascending
  std::vector<CollectiveTotals> collectives;  ///< COMM_COLL_NODEs by comm_type, those without last
  std::vector<GroupTotals> groups;  ///< communication nodes by group name, type and comm_type, absent ones last
  NodeTotals cpu;                   ///< is_cpu_op is true
  NodeTotals device;                ///< is_cpu_op is false
  NodeTotals unplaced;              ///< no is_cpu_op
  std::optional<GraphShape> shape;  ///< absent if the dependencies form a cycle
};

TraceStats stats(const Trace& trace);

/// A node that both traces have, and the fields in which it differs: "name", "type", "start_ns", "duration_ns",
/// "data_deps", "ctrl_deps", "inputs", "outputs", or "attrs.<name>".
struct ChangedNode {
  NodeId id = 0;
  std::vector<std::string> fields;
};

/// Two traces by node id. Counts are of all; ids and nodes are the first of them in the order of the traces.
struct TraceDiff {
  bool metadata_differs = false;
  std::uint64_t equal = 0;
  std::uint64_t only_in_first = 0;
  std::uint64_t only_in_second = 0;
  std::uint64_t changed = 0;
  std::vector<NodeId> ids_only_in_first;
  std::vector<NodeId> ids_only_in_second;
  std::vector<ChangedNode> changed_nodes;
  std::vector<std::pair<std::string, std::uint64_t>> changed_fields;  ///< nodes that differ in a field, by its name

  bool same() const noexcept { return !metadata_differs && only_in_first == 0 && only_in_second == 0 && changed == 0; }
};

/// Compares what nodes mean, not how it is encoded; the order of nodes and of attributes with different names does not
/// matter. `most_shown` bounds each list of the result.
TraceDiff diff(const Trace& first, const Trace& second, std::size_t most_shown = 100);

}  // namespace chakra
