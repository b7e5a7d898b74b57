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
#include "chakra_core/system_config.hpp"
#include "chakra_core/trace.hpp"

namespace chakra {

/// Ranks that a node's pg_name stands for.
struct ProcessGroup {
  std::string name;
  std::vector<std::uint32_t> ranks;
};

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

/// Phases of chunks, counted on every member, by how they were carried out.
struct PhaseCounts {
  std::uint64_t closed = 0;
  std::uint64_t phase = 0;
  std::uint64_t message = 0;

  bool operator==(const PhaseCounts&) const = default;
};

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
  CommunicationTimes communication = CommunicationTimes::simulated;
  /// With `closed` and `phase`, what ends in one ns may come in another order than with `message`; congestion, custom
  /// collectives, those with a root, windows and blocks of 0 bytes go message by message all the same.
  Fidelity fidelity = Fidelity::automatic;
  /// Simulate one rank for all where all are alike; the times are the same. With fidelity automatic or closed.
  bool fold = true;

  /// Keep start and end of every node.
  bool record_nodes = true;
};

/// What a node occupied while it ran.
enum class Resource : std::uint8_t { none, cpu, compute, comm, memory };

/// Per-rank columns have one entry a rank; node columns one a completed node, by (rank, row).
struct SimulationResult {
  std::vector<std::uint64_t> finish_ns;
  std::vector<std::uint64_t> compute_ns;  ///< some device computation ran
  std::vector<std::uint64_t> comm_ns;     ///< some communication was in flight
  /// Communication was in flight and no device computation ran; in parity mode finish_minus_compute_ns.
  std::vector<std::uint64_t> exposed_comm_ns;
  std::vector<std::uint64_t> idle_ns;    ///< nothing ran, before the rank finished
  std::vector<std::uint64_t> cpu_ns;     ///< some host computation ran
  std::vector<std::uint64_t> memory_ns;  ///< some remote-memory access ran
  /// ASTRA-sim's "exposed communication": finish minus all device durations, modulo 2^64.
  std::vector<std::uint64_t> finish_minus_compute_ns;

  std::vector<std::uint32_t> node_rank;
  std::vector<NodeIndex> node_row;
  std::vector<std::uint64_t> node_start_ns;
  std::vector<std::uint64_t> node_end_ns;
  std::vector<Resource> node_resource;
  std::vector<std::uint32_t> node_lane;  ///< indices into `lanes`

  std::vector<std::string> lanes;  ///< what nodes ran on: "thread 1", "stream 7", "comm", ...

  std::vector<std::string> warnings;  ///< one line a kind, with its count
  std::uint64_t messages = 0;         ///< messages that were simulated one by one
  std::uint64_t events = 0;
  PhaseCounts phases = {};
  std::uint32_t folded_ranks = 0;  ///< that another rank was simulated for: all but one, or none
  /// `automatic` began without messages and began again with all of them, because these came in one ns; else empty.
  std::string order_mattered = {};
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
