// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "chakra_core/blockage.hpp"
#include "chakra_core/trace.hpp"

namespace chakra {

namespace detail {
class Feed;
}

/// Which of the ready nodes comes first. Equal ones come in the order of their ids, so that the order is always total.
struct IssueOrder {
  enum class By : std::uint8_t {
    id,          ///< smallest id first
    start_time,  ///< earliest start_ns first
    file,        ///< as the nodes stand in the file
    attribute,   ///< by an integer attribute; nodes without it come last
    comparator,  ///< as `before` says
  };

  By by = By::id;
  /// By::attribute: the name, e.g. "comm_priority". A larger value comes first, as fits a priority, unless told
  /// otherwise.
  std::string attribute = {};
  bool smallest_first = false;
  /// By::comparator: whether the node of the first row goes before that of the second. A strict weak order over rows,
  /// asked only while the feeder is made. Not for streams.
  std::function<bool(NodeIndex, NodeIndex)> before = {};
};

struct FeederOptions {
  DependencyKind dependencies = DependencyKind::both;
  IssueOrder order = {};
};

/// How Feeder::stream() reads.
struct StreamOptions {
  /// Nodes that are read ahead: ready ones, and such that wait for nodes that were read. Those in flight, and those
  /// that wait for nodes further on in the file, come on top. At least 1.
  std::size_t window = 100'000;
  /// The nodes stand in the file in the issue order (by ascending ids, say). Saves the pass over the file that finds
  /// out; a node that breaks the promise is a FormatError when it is read.
  bool in_issue_order = false;
  unsigned threads = 0;  ///< that decode; 0: as many as the machine has cores. The order does not depend on it
};

/// What a stream had to do. All zero for a feeder over a whole trace.
struct StreamStatistics {
  std::uint64_t nodes_read = 0;
  std::uint64_t most_held = 0;           ///< nodes read and not complete, at the most
  std::uint64_t forward_references = 0;  ///< dependencies on nodes further on in the file
  /// Nodes read beyond the window because none in it was ready, and nothing in flight could change that.
  std::uint64_t read_on_for_dependencies = 0;
  /// Nodes read beyond the window because a node further on might have to be issued first.
  std::uint64_t read_on_for_order = 0;
};

/// A node, where its columns are: `trace` is the whole trace, or of a stream a block of the file, in which the node has
/// row `row`. Dependencies go by id, as their rows may be elsewhere. Stays usable whatever the feeder does.
struct FeederNode {
  TracePtr trace;
  NodeIndex row;

  NodeId id() const noexcept { return trace->ids()[row]; }
  /// Parents in the order of the file. Throws FormatError as Trace does for what is decoded on demand.
  std::vector<NodeId> data_deps() const { return trace->parent_ids(row, DependencyKind::data); }
  std::vector<NodeId> ctrl_deps() const { return trace->parent_ids(row, DependencyKind::control); }
};

/// Hands out the nodes of a trace in dependency order: a node is ready when all its parents are
/// complete. Among ready nodes the first in the issue order comes first. Many feeders may share one Trace, and then
/// cost 4 bytes a node each (12 for an order that is neither by id nor that of the file); a feeder itself belongs to
/// one thread. All steps take constant time for each node and dependency.
///
/// Rows of the file, not ids, are the currency: `node(row)` gives the node, `find(id)` the row.
class Feeder {
 public:
  static constexpr std::size_t all = std::numeric_limits<std::size_t>::max();

  explicit Feeder(TracePtr trace, DependencyKind dependencies = DependencyKind::both);
  /// Throws ChakraError for an order that lacks its attribute or comparator, or whose attribute is not an integer.
  Feeder(TracePtr trace, const FeederOptions& options);
  /// Feeds a file of records, plain, gzip or zstd, while it is read. What stays in memory is bounded by the window and
  /// what is open: nodes in flight, and nodes that wait for nodes further on. When the file is complete and each node
  /// is completed before the next is taken, nodes come in the very order in which a feeder over the whole trace gives
  /// them. docs/feeder.md has the rules. Throws as load() does (strict), and ChakraError for JSON, for a pipe (unless
  /// in_issue_order) and for a comparator; the later part of the file is looked at, and thrown for, by pop().
  static Feeder stream(const std::filesystem::path& path, const FeederOptions& options = {},
                       const StreamOptions& reading = {});
  ~Feeder();
  Feeder(Feeder&&) noexcept;
  Feeder& operator=(Feeder&&) noexcept;

  /// The whole trace. Throws ChakraError for a stream: ask for node(row), which works for both.
  const Trace& trace() const;
  bool is_stream() const noexcept;
  /// Throws ChakraError for a row that is not in the trace; of a stream: not read yet, or complete.
  FeederNode node(NodeIndex row) const;
  /// Of the same rows as node(), and throws as that.
  NodeId id(NodeIndex row) const;
  /// Row of a node; of a stream only of nodes that are read and not complete.
  std::optional<NodeIndex> find(NodeId id) const noexcept;

  /// Takes the first ready node; nullopt if none is ready now, or all are complete.
  /// Throws DependencyError, naming a minimal cycle (of a stream also the missing parents), when nothing is ready,
  /// nothing is in flight and nodes remain: nothing could ever become ready again.
  std::optional<NodeIndex> pop();
  /// Takes the ready nodes in order, `most` at most, and appends them. Of a stream: what is ready in the window; at
  /// least what pop() would take. Returns their number. Throws as pop().
  std::size_t pop_all(std::vector<NodeIndex>& rows, std::size_t most = all);
  /// The node that pop() would take, without taking it; nullopt also where pop() would throw for dependencies.
  std::optional<NodeIndex> peek() const;
  /// Takes this ready node, whatever its place in the order. Throws ChakraError if it is not ready.
  void take(NodeIndex row);
  /// Returns a taken node to the ready set. Throws ChakraError if it was not in flight.
  void push_back(NodeIndex row);
  /// Marks a taken node complete and its children one parent closer to ready.
  /// Throws ChakraError if it was not in flight.
  void complete(NodeIndex row);
  /// Like complete(), and appends the rows that became ready, in issue order.
  void complete(NodeIndex row, std::vector<NodeIndex>& became_ready);
  /// Completes all, or throws ChakraError for the first that is not in flight or stands there twice, and then completes
  /// none.
  void complete_many(std::span<const NodeIndex> rows);

  std::size_t ready() const noexcept;      ///< nodes that could be taken now; of a stream: of its window
  std::size_t in_flight() const noexcept;  ///< taken, not complete
  /// Not complete, whatever their state. A stream that made no pass over its file (by file, or in_issue_order) counts
  /// what it has read and, until it has seen the end, one more.
  std::size_t remaining() const noexcept;
  bool done() const noexcept { return remaining() == 0; }
  /// All nodes that ready() counts, in issue order.
  std::vector<NodeIndex> ready_nodes() const;

  /// What the nodes that are not ready wait for, `most` of them named. Linear in what is held: for a person to read,
  /// not for the inner loop.
  Blockage blocked(std::size_t most = 20) const;
  StreamStatistics statistics() const noexcept;
  /// Anonymous memory of this feeder, beyond what a shared trace holds.
  std::size_t memory_bytes() const noexcept;

  /// Back to the start. A stream opens its file again.
  void reset();

 private:
  explicit Feeder(std::unique_ptr<detail::Feed> feed);

  std::unique_ptr<detail::Feed> feed_;
};

}  // namespace chakra
