// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chakra_core/node_type.hpp"

namespace chakra {

/// Ranks that a node's pg_name stands for.
struct ProcessGroup {
  std::string name;
  std::vector<std::uint32_t> ranks;
};

/// Phases of chunks, counted on every member, by how they were carried out.
struct PhaseCounts {
  std::uint64_t closed = 0;
  std::uint64_t phase = 0;
  std::uint64_t message = 0;

  bool operator==(const PhaseCounts&) const = default;
};

/// What a node occupied while it ran.
enum class Resource : std::uint8_t { none, cpu, compute, comm, memory };

/// A row for each collective that a group ran through the network, by (start, group, number).
struct CollectiveColumns {
  std::vector<std::uint32_t> group;   ///< index into SimulationResult::groups
  std::vector<std::uint32_t> number;  ///< how many the group ran before, in the order in which a member issued them
  std::vector<CollectiveType> type;
  std::vector<std::uint64_t> size;        ///< comm_size
  std::vector<std::uint32_t> first_rank;  ///< the group's smallest rank
  std::vector<NodeIndex> row;             ///< its node on that rank
  std::vector<std::uint64_t> start_ns;    ///< the first member begins
  std::vector<std::uint64_t> joined_ns;   ///< the last member begins
  std::vector<std::uint64_t> end_ns;      ///< the last member is through
};

/// In place of a collective: a message of its own.
inline constexpr std::uint32_t no_collective = ~std::uint32_t{0};

/// What one collective, or one message of its own, did in one dimension, by (collective, dimension, start).
struct ActivityColumns {
  std::vector<std::uint32_t> collective;  ///< row of CollectiveColumns, or no_collective
  std::vector<std::uint32_t> dimension;
  std::vector<std::uint64_t> start_ns;    ///< the first phase there begins on some member, or the message is sent
  std::vector<std::uint64_t> end_ns;      ///< the last one ends, or the message is there
  std::vector<std::uint64_t> link_bytes;  ///< bytes, counted on each link that they pass
};

/// Sums over all collectives of one type in one group, by (group, type).
struct GroupColumns {
  std::vector<std::uint32_t> group;
  std::vector<CollectiveType> type;
  std::vector<std::uint64_t> collectives;
  std::vector<std::uint64_t> bytes;        ///< sum of collective_bytes()
  std::vector<std::uint64_t> duration_ns;  ///< sum, from the first member's begin to the last one's end
};

/// A row for each dimension of the network.
struct DimensionColumns {
  std::vector<std::uint64_t> messages;    ///< that went some way in the dimension
  std::vector<std::uint64_t> bytes;       ///< of these
  std::vector<std::uint64_t> link_bytes;  ///< the same, counted on each link that they passed
  std::vector<std::uint64_t> links;       ///< directed links that messages can use
  std::vector<double> busy_ns;            ///< what all links together needed for link_bytes
  std::vector<double> utilisation;        ///< busy_ns / (links x time of the last finish)
};

/// A row for each directed link that carried something; only with congestion, where links are simulated.
struct LinkColumns {
  std::vector<std::uint32_t> dimension;
  std::vector<std::uint32_t> source;       ///< NPU, or a switch numbered from the number of NPUs on
  std::vector<std::uint32_t> destination;  ///< the same
  std::vector<std::uint64_t> messages;
  std::vector<std::uint64_t> bytes;
  std::vector<std::uint64_t> busy_ns;  ///< held by messages
};

/// NCCL-tests' size of a collective in bytes, from what one rank contributes: of what is gathered the whole.
std::uint64_t collective_bytes(CollectiveType type, std::uint64_t size, std::uint32_t members) noexcept;
/// NCCL-tests' factor from algorithmic bandwidth (collective_bytes / duration) to bus bandwidth: 2(n-1)/n for an
/// all-reduce; (n-1)/n for all-gather, reduce-scatter, all-to-all, gather, scatter; 1 for broadcast and reduce; 0 for a
/// barrier.
double bus_factor(CollectiveType type, std::uint32_t members) noexcept;

/// Where the nodes of a trace ran, by row.
struct NodePlaces {
  std::vector<Resource> resource;
  std::vector<std::uint32_t> lane;  ///< indices into SimulationResult::lanes
};

/// In place of the end of a node.
inline constexpr std::uint64_t never_ended = ~std::uint64_t{0};

/// Per-rank columns have one entry a rank; node columns one for each node of each rank's trace, by (rank, row).
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

  /// By rank, and one more: where its nodes begin in the node columns. All 0 without record_nodes.
  std::vector<std::uint64_t> first_node;
  std::vector<std::uint64_t> node_start_ns;
  std::vector<std::uint64_t> node_end_ns;  ///< never_ended: on a cycle, which parity ignores
  /// Nodes that started later than their parents were complete: index in the node columns, and by how much.
  std::vector<std::uint64_t> late_node;
  std::vector<std::uint64_t> late_ns;
  /// By rank; ranks that share a trace share it. Empty without record_nodes.
  std::vector<std::shared_ptr<const NodePlaces>> node_places;

  std::vector<std::string> lanes;  ///< what nodes ran on: "thread 1", "stream 7", "comm", ...

  std::vector<ProcessGroup> groups;  ///< the first is all ranks; members in ring order
  CollectiveColumns collectives;     ///< empty without record_nodes
  ActivityColumns activity;          ///< empty without record_nodes
  GroupColumns group_totals;
  DimensionColumns dimensions;
  LinkColumns links;

  std::vector<std::string> warnings;  ///< one line a kind, with its count
  std::uint64_t messages = 0;         ///< messages that were simulated one by one
  std::uint64_t events = 0;
  PhaseCounts phases = {};
  std::uint32_t folded_ranks = 0;  ///< that another rank was simulated for: all but one, or none
  /// `automatic` began without messages and began again with all of them, because these came in one ns; else empty.
  std::string order_mattered = {};
};

}  // namespace chakra
