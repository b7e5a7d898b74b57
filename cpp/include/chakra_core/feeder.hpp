// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chakra_core/trace.hpp"

namespace chakra {

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
  /// asked only while the feeder is made.
  std::function<bool(NodeIndex, NodeIndex)> before = {};
};

struct FeederOptions {
  DependencyKind dependencies = DependencyKind::both;
  IssueOrder order = {};
};

/// Hands out the nodes of a trace in dependency order: a node is ready when all its parents are
/// complete. Among ready nodes the first in the issue order comes first. Many feeders may share one Trace; a
/// feeder itself belongs to one thread.
///
/// Rows, not ids, are the currency: `trace().ids()[row]` gives the id, `trace().find(id)` the row.
class Feeder {
 public:
  explicit Feeder(TracePtr trace, DependencyKind dependencies = DependencyKind::both);
  /// Throws ChakraError for an order that lacks its attribute or comparator.
  Feeder(TracePtr trace, const FeederOptions& options);
  ~Feeder();
  Feeder(Feeder&&) noexcept;
  Feeder& operator=(Feeder&&) noexcept;

  const Trace& trace() const noexcept;

  /// Takes the first ready node; nullopt if none is ready now.
  /// Throws DependencyError, naming a minimal cycle, when nothing is ready, nothing is in flight and
  /// nodes remain: nothing could ever become ready again.
  std::optional<NodeIndex> pop();
  /// The node that pop() would take, without taking it and without throwing.
  std::optional<NodeIndex> peek() const noexcept;
  /// Takes this ready node, whatever its place in the order. Throws ChakraError if it is not ready.
  void take(NodeIndex row);
  /// Returns a taken node to the ready set. Throws ChakraError if it was not in flight.
  void push_back(NodeIndex row);
  /// Marks a taken node complete and its children one parent closer to ready.
  /// Throws ChakraError if it was not in flight.
  void complete(NodeIndex row);
  /// Like complete(), and appends the rows that became ready, in the order in which they did.
  void complete(NodeIndex row, std::vector<NodeIndex>& became_ready);

  std::size_t ready() const noexcept;      ///< nodes that pop() could take now
  std::size_t in_flight() const noexcept;  ///< taken, not complete
  std::size_t remaining() const noexcept;  ///< not complete, whatever their state
  bool done() const noexcept { return remaining() == 0; }
  /// All nodes ready now, in issue order.
  std::vector<NodeIndex> ready_nodes() const;

  /// Back to the start.
  void reset();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace chakra
