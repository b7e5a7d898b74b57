// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "chakra_core/network.hpp"
#include "collective/exchange.hpp"
#include "collective/phase.hpp"

namespace chakra {

/// What the two ends of a message take, besides the network.
struct EndpointCosts {
  bool parity = false;
  bool rendezvous = false;
  std::uint64_t endpoint = 0;     ///< ns for each message
  double memory_bytes_per_s = 0;  ///< 0: reductions cost nothing

  std::uint64_t endpoint_ns(const Phase& phase) const noexcept;
  std::uint64_t reduction_ns(std::uint64_t bytes) const noexcept;
};

/// When a member's phase is over.
struct PhaseEnd {
  std::uint64_t tick = 0;
  /// When the message that brings it about starts the last piece of work, of an endpoint or a reduction.
  std::uint64_t registered = 0;
};

/// Times of a whole phase from the times at which its members begin it, without a message.
///
/// Every end depends on every beginning: a phase can be worked out when its last member has begun.
/// What is computed here is what the messages would take on a network without congestion.
class PhaseTimes {
 public:
  PhaseTimes(const Network& network, const EndpointCosts& costs) : network_(network), costs_(costs) {}

  /// Whether `in_step` and `ends` know this phase: ring, halving-doubling, direct with all messages at
  /// once, double binary tree; and no block of 0 bytes.
  bool knows(const Phase& phase) const noexcept;

  /// The end, 0 being the beginning, that all members share if they begin together and all blocks and all
  /// delays between the members that exchange messages are alike. nullopt: they are not. O(members) at most.
  std::optional<PhaseEnd> in_step(const Phase& phase) const;

  enum class Outcome : std::uint8_t {
    exact,
    tie,       ///< the order of events in one ns decides; the ends are those of one order
    too_long,  ///< beyond 2^62 ns; no ends
  };
  /// Ends of all members by position. `phase` is that of any member; `begins` and `ends` have one entry a member.
  /// Precondition: knows(phase).
  Outcome ends(const Phase& phase, std::span<const std::uint64_t> begins, std::span<PhaseEnd> ends) const;

 private:
  struct Land {
    std::uint64_t forth;  ///< the message
    std::uint64_t back;   ///< the receiver's announcement; without rendezvous 0

    bool operator==(const Land&) const = default;
  };

  std::uint64_t land(std::uint64_t sent, std::uint64_t posted, const Land& cost) const noexcept;
  Land cost(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) const;
  std::uint64_t together(const Land& cost) const noexcept { return cost.back + cost.forth; }
  bool is_circle(const Phase& phase) const noexcept;
  bool is_even_line(const Phase& phase) const noexcept;
  bool fits(const Phase& phase, std::uint64_t latest) const noexcept;

  /// What it costs to come to each member from the one behind it, whichever of the two block sizes travels; one entry
  /// if it is the same for all. Empty: the size makes a difference.
  std::vector<Land> ring_costs(const Phase& phase) const;
  std::optional<std::uint64_t> common_reduction(const Phase& phase, const Exchange& exchange) const noexcept;
  std::optional<PhaseEnd> ring_in_step(const Phase& phase) const;
  std::optional<PhaseEnd> halving_in_step(const Phase& phase) const;
  std::optional<PhaseEnd> direct_in_step(const Phase& phase) const;

  void even_ring(const Phase& phase, const Land& cost, std::uint64_t reduction, std::span<const std::uint64_t> begins,
                 std::span<PhaseEnd> ends) const;
  void uneven_ring(const Phase& phase, std::span<const Land> costs, std::uint64_t reduction,
                   std::span<const std::uint64_t> begins, std::span<PhaseEnd> ends) const;
  void stepwise(const Phase& phase, std::span<const std::uint64_t> begins, std::span<PhaseEnd> ends) const;
  void direct(const Phase& phase, std::span<const std::uint64_t> begins, std::span<PhaseEnd> ends) const;
  bool direct_all_reduce(const Phase& phase, std::span<const std::uint64_t> begins, std::span<PhaseEnd> ends,
                         bool alike) const;
  void tree(const Phase& phase, std::span<const std::uint64_t> begins, std::span<PhaseEnd> ends) const;

  const Network& network_;
  EndpointCosts costs_;
};

}  // namespace chakra
