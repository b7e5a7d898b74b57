// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "collective/phase.hpp"

namespace chakra {

/// A member's neighbours in the tree of a phase, as positions among the members.
struct TreePlace {
  std::optional<std::uint32_t> parent = {};
  std::vector<std::uint32_t> children = {};
};

/// The member's place in the tree that its phase runs over.
///
/// All-reduce (doubleBinaryTree): one of two trees. The first hangs the binary tree with in-order
/// numbering over positions 0 .. n-2 under position n-1, the second the one over 1 .. n-1 under 0.
/// Rooted phases, counted from the root: ring is a chain, direct a star, halvingDoubling a binomial
/// tree; doubleBinaryTree a binary heap, but for gather and scatter the binomial tree, whose
/// subtrees are contiguous.
TreePlace tree_place(const Phase& phase);

/// Bytes between a member and its parent, in either direction. `child` is the member's position.
std::uint64_t tree_edge_bytes(const Phase& phase, std::uint32_t child);

/// The phase sends from the leaves to the root.
constexpr bool goes_up(PhaseKind kind) noexcept { return kind != PhaseKind::broadcast && kind != PhaseKind::scatter; }

/// The phase sends from the root to the leaves.
constexpr bool goes_down(PhaseKind kind) noexcept { return kind != PhaseKind::reduce && kind != PhaseKind::gather; }

}  // namespace chakra
