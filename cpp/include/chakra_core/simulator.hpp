// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chakra_core/network.hpp"
#include "chakra_core/progress.hpp"
#include "chakra_core/simulation_observer.hpp"
#include "chakra_core/simulation_result.hpp"
#include "chakra_core/stragglers.hpp"
#include "chakra_core/system_config.hpp"
#include "chakra_core/trace.hpp"

namespace chakra {

/// How many nodes of each kind a rank runs at a time.
struct SlotCounts {
  std::uint32_t cpu = 1;
  std::uint32_t compute = 1;
  std::uint32_t comm = 1;  ///< collectives, sends and memory accesses; receives wait beside them

  bool operator==(const SlotCounts&) const = default;
};

/// Where the time of a communication node comes from.
enum class CommunicationTimes : std::uint8_t {
  simulated,  ///< what the network takes
  recorded,   ///< its duration in the trace, on each rank by itself
};

/// How closely the phases of collectives are simulated.
enum class Fidelity : std::uint8_t {
  automatic,  ///< whatever is cheapest and surely gives the times that `message` gives
  closed,     ///< `phase`, and a formula where all members begin together
  phase,      ///< from the times at which the members begin to the times at which they end
  message,    ///< every message
};

/// "auto", "closed", "phase" or "message". Throws ConfigError that lists them for anything else.
Fidelity parse_fidelity(std::string_view name);
std::string_view to_string(Fidelity fidelity) noexcept;

/// In SimulationConfig::compute_ns: the node takes the time that it takes otherwise.
inline constexpr std::uint64_t given_elsewhere = ~std::uint64_t{0};

struct SimulationConfig {
  Network network;
  SystemConfig system = {};
  MemoryConfig memory = {};
  /// No pg_name, "" and "0" are all ranks, unless the list has a group of that name.
  std::vector<ProcessGroup> groups = {};

  /// The integers of ASTRA-sim, defects included. Otherwise what is right.
  bool parity = false;
  /// Messages queue for links.
  bool congestion = false;
  /// Ring order of a group: as its ranks are listed instead of ascending. Always so in parity mode.
  bool groups_as_listed = false;
  std::uint32_t num_queues_per_dim = 1;
  bool rendezvous_protocol = false;
  double injection_scale = 1;
  /// Absent: lanes, which are a slot for each CPU thread and device stream that a trace names, and otherwise
  /// one for CPU, for compute, for memory, and for the communication of each process group; in parity mode
  /// one of each count, ASTRA-sim's model, and nothing else is accepted. docs/simulation.md has the rules.
  std::optional<SlotCounts> slots = {};
  /// By rank, with an entry for each row of its trace: what COMP nodes take, in place of their duration or the
  /// roofline; given_elsewhere: as otherwise. A rank's span may be empty, and so may be all. They must outlive the run.
  std::vector<std::span<const std::uint64_t>> compute_ns = {};
  Stragglers stragglers = {};
  CommunicationTimes communication = CommunicationTimes::simulated;
  /// With `closed` and `phase`, what ends in one ns may come in another order than with `message`; congestion, custom
  /// collectives, those with a root, windows and blocks of 0 bytes go message by message all the same.
  Fidelity fidelity = Fidelity::automatic;
  /// Simulate one rank for all where all are alike; the times are the same. With fidelity automatic or closed.
  bool fold = true;

  /// Keep the times of every node and every collective. Otherwise memory for results is O(ranks + groups).
  bool record_nodes = true;

  /// Told what happens while it happens; nullptr: nobody. Ranks are not folded then.
  SimulationObserver* observer = nullptr;
};

/// Runs one trace a rank to its end. The same trace may stand for several ranks.
///
/// Throws ConfigError (a configuration that does not fit itself or the traces), DependencyError (a
/// cycle), SimulationError (a node that cannot be run; or nothing can go on: the message says for
/// each rank which nodes are left and what they wait for).
/// `progress` counts completed nodes; setting its `cancel` ends the run with a SimulationError.
SimulationResult simulate(std::span<const TracePtr> traces, const SimulationConfig& config,
                          Progress* progress = nullptr);

}  // namespace chakra
