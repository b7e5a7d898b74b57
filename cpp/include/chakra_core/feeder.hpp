// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "chakra_core/trace.hpp"

namespace chakra {

/// Hands out the nodes of a trace in dependency order: a node is ready when all its parents are
/// complete. Among ready nodes the smallest id comes first. Many feeders may share one Trace; a
/// feeder itself belongs to one thread.
///
/// Rows, not ids, are the currency: `trace().ids()[row]` gives the id, `trace().find(id)` the row.
class Feeder {
 public:
  explicit Feeder(TracePtr trace, DependencyKind dependencies = DependencyKind::both);
  ~Feeder();
  Feeder(Feeder&&) noexcept;
  Feeder& operator=(Feeder&&) noexcept;

  const Trace& trace() const noexcept;

  /// Takes the ready node with the smallest id; nullopt if none is ready now.
  /// Throws DependencyError, naming a minimal cycle, when nothing is ready, nothing is in flight and
  /// nodes remain: nothing could ever become ready again.
  std::optional<NodeIndex> pop();
  /// The node that pop() would take, without taking it and without throwing.
  std::optional<NodeIndex> peek() const noexcept;
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
  /// All nodes ready now, ascending by id.
  std::vector<NodeIndex> ready_nodes() const;

  /// Back to the start.
  void reset();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace chakra
