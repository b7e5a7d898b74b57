// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "chakra_core/simulator.hpp"

namespace chakra::sim {

/// What the caller says of computations: their times, and how much slower ranks are.
class ComputeTimes {
 public:
  explicit ComputeTimes(const SimulationConfig& config)
      : config_(config), is_slowed_(!config.stragglers.compute_speed.empty() || config.stragglers.jitter > 0) {}

  /// The time that the caller gives the node; given_elsewhere: none.
  std::uint64_t given(std::uint32_t rank, NodeIndex row) const noexcept {
    return config_.compute_ns.empty() || config_.compute_ns[rank].empty() ? given_elsewhere
                                                                          : config_.compute_ns[rank][row];
  }
  /// What a computation of `ns` takes on this rank.
  std::uint64_t slowed(std::uint32_t rank, NodeId node, std::uint64_t ns) const {
    return is_slowed_ ? stretched(rank, node, ns) : ns;
  }

 private:
  std::uint64_t stretched(std::uint32_t rank, NodeId node, std::uint64_t ns) const;

  const SimulationConfig& config_;
  bool is_slowed_;
};

}  // namespace chakra::sim
