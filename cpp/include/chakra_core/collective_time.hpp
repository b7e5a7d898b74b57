// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "chakra_core/network.hpp"
#include "chakra_core/node_type.hpp"
#include "chakra_core/simulator.hpp"
#include "chakra_core/system_config.hpp"

namespace chakra {

struct CollectiveTimeOptions {
  std::span<const std::uint32_t> group = {};  ///< ranks that take part; empty: all
  std::optional<std::uint32_t> root = {};     ///< rank; absent: the first of the group
  bool congestion = false;
  bool parity = false;
  bool rendezvous_protocol = false;
  std::uint32_t num_queues_per_dim = 1;
  double injection_scale = 1;
  Fidelity fidelity = Fidelity::automatic;
};

/// ns from when all members begin one collective together until the last of them is through, and nothing else happens.
/// `bytes` is what one member contributes. It is what `simulate` gives: where all members are alike it costs a formula,
/// otherwise time linear in the members or in their messages.
///
/// Throws ConfigError for a configuration or group that does not fit the network, SimulationError for a collective that
/// cannot be run.
std::uint64_t collective_time(const Network& network, const SystemConfig& system, CollectiveType type,
                              std::uint64_t bytes, const CollectiveTimeOptions& options = {});

}  // namespace chakra
