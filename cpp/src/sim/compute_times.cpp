// SPDX-License-Identifier: MIT
#include "sim/compute_times.hpp"

#include <string>

#include "chakra_core/errors.hpp"

namespace chakra::sim {

namespace {

constexpr double longest = 9.2e18;

}  // namespace

std::uint64_t ComputeTimes::stretched(std::uint32_t rank, NodeId node, std::uint64_t ns) const {
  const Stragglers& stragglers = config_.stragglers;
  double time = static_cast<double>(ns);
  if (!stragglers.compute_speed.empty()) time /= stragglers.compute_speed[rank];
  if (stragglers.jitter > 0) time *= stragglers.jitter_factor(rank, node);
  if (!(time < longest)) {
    throw SimulationError("rank " + std::to_string(rank) + ", node " + std::to_string(node) + ": a computation of " +
                          std::to_string(ns) + " ns becomes too long at this speed");
  }
  return static_cast<std::uint64_t>(time);
}

}  // namespace chakra::sim
