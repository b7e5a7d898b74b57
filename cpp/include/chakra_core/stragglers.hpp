// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "chakra_core/node_type.hpp"

namespace chakra {

/// A node that starts later than it could.
struct NodeDelay {
  std::uint32_t rank = 0;
  NodeId node = 0;
  std::uint64_t delay_ns = 0;
};

/// What makes ranks slower, or faster, than their traces say. Computations are COMP nodes, on the host and on the
/// device, and what else a thread spent recorded time on.
struct Stragglers {
  /// By rank: a computation takes its time / speed, cut to whole ns. Empty: 1 for all.
  std::vector<double> compute_speed = {};
  /// By rank: its first nodes become ready then. Empty: 0 for all.
  std::vector<std::uint64_t> start_delay_ns = {};
  /// The node occupies its lane for so long before it starts.
  std::vector<NodeDelay> node_delays = {};
  /// 0 to 1: each computation takes its time x a factor that is uniform in [1 - jitter, 1 + jitter).
  double jitter = 0;
  /// The factor of a node depends on this, its rank and its id, and on nothing else.
  std::uint64_t seed = 0;

  /// The jitter's factor of a node, with only the arithmetic that is exact on every machine.
  double jitter_factor(std::uint32_t rank, NodeId node) const noexcept;
  /// Throws ConfigError where a list does not have one entry a rank, a speed is not positive and finite, the jitter is
  /// outside 0 to 1, or a delay is of a rank that does not exist.
  void validate(std::uint32_t ranks) const;
  /// Nothing tells ranks apart: one may stand for all.
  bool are_alike() const noexcept;
};

}  // namespace chakra
