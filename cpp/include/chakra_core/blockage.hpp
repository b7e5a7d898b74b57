// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "chakra_core/node_type.hpp"

namespace chakra {

/// What the nodes of a feeder that are not ready wait for. Lists are in the order of ids, and shortened to what was
/// asked for; counts are complete.
struct Blockage {
  struct Waiting {
    NodeId node;
    std::vector<NodeId> parents;  ///< those that are not complete, each once
  };

  std::size_t waiting = 0;      ///< nodes that wait for a parent
  std::vector<Waiting> nodes;   ///< the first of them
  std::size_t ready = 0;        ///< nodes that could be taken now
  std::size_t in_flight = 0;    ///< nodes taken and not complete
  std::vector<NodeId> flying;   ///< the first of them
  std::vector<NodeId> cycle;    ///< a minimal one: each waits for the next, the last for the first; empty if none
  std::vector<NodeId> missing;  ///< parents that the file does not have (a stream, read to its end)
  std::string text;             ///< the same in words, for a person

  /// Nodes wait, and nothing that is ready or in flight can free them all: some would wait for ever.
  bool is_deadlock() const noexcept { return !cycle.empty() || !missing.empty(); }
};

}  // namespace chakra
