// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "chakra_core/system_config.hpp"

namespace chakra {

/// What the members of one phase do together.
enum class PhaseKind : std::uint8_t {
  all_reduce,
  reduce_scatter,
  all_gather,
  all_to_all,
  reduce,
  broadcast,
  gather,
  scatter,
  barrier,
};

/// Reduce, broadcast, gather, scatter and barrier run over a tree; the others exchange lists of messages.
constexpr bool is_rooted(PhaseKind kind) noexcept { return kind >= PhaseKind::reduce; }

/// Ranks that take part, in ring order: an arithmetic row of the network, or a list owned by a group, of ranks or of
/// coordinates along a dimension.
struct Members {
  std::uint32_t size = 0;
  std::uint32_t base = 0;
  std::uint32_t stride = 1;
  const std::uint32_t* list = nullptr;

  std::uint32_t operator[](std::uint32_t position) const noexcept {
    return base + (list != nullptr ? list[position] : position) * stride;
  }
};

class CustomCollective;

/// Which of a dimension's queues a phase may choose from.
enum class QueueHalf : std::uint8_t { all, first, second };

/// One step of a chunk: what one rank does in one dimension.
struct Phase {
  PhaseKind kind = PhaseKind::all_reduce;
  Algorithm algorithm = {};
  QueueHalf half = QueueHalf::all;
  bool subgroup = false;      ///< a group that is not the whole world
  bool one_line = false;      ///< the members differ in their coordinate along the phase's dimension only
  bool counter_tree = false;  ///< doubleBinaryTree: the second of the two trees
  bool anticlockwise = false;
  bool substituted = false;  ///< ring in place of an algorithm that does not fit the number of members
  std::uint16_t dimension = 0;
  std::uint32_t queue = 0;
  std::uint32_t position = 0;  ///< of the rank among the members
  std::uint32_t root = 0;      ///< position of the root of a rooted phase
  std::uint64_t bytes = 0;     ///< input of the phase on this rank
  std::uint64_t total = 0;     ///< bytes that are divided among the members; 0: each part is the parity size
  Members members = {};
  const CustomCollective* custom = nullptr;  ///< what it is made of instead of the algorithm
};

/// Part `index` of `total` divided into `parts` that differ by one byte at most.
constexpr std::uint64_t share(std::uint64_t total, std::uint64_t parts, std::uint64_t index) noexcept {
  return total / parts + (index < total % parts ? 1 : 0);
}

}  // namespace chakra
