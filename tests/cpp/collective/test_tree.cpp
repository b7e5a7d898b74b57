// SPDX-License-Identifier: MIT
#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "collective/tree.hpp"

namespace chakra {
namespace {

struct Tree {
  std::vector<TreePlace> places;
  std::vector<Phase> phases;
};

Tree make_tree(PhaseKind kind, AlgorithmKind algorithm, std::uint32_t members, std::uint32_t root, bool second = false,
               std::uint64_t total = 0) {
  Tree tree;
  for (std::uint32_t position = 0; position < members; ++position) {
    Phase phase;
    phase.kind = kind;
    phase.algorithm.kind = algorithm;
    phase.members = {members, 0, 1, nullptr};
    phase.position = position;
    phase.root = root;
    phase.counter_tree = second;
    phase.total = total;
    phase.bytes = total;
    tree.phases.push_back(phase);
    tree.places.push_back(tree_place(phase));
  }
  return tree;
}

std::uint32_t depth(const Tree& tree, std::uint32_t position) {
  std::uint32_t steps = 0;
  while (tree.places[position].parent && steps <= tree.places.size()) {
    position = *tree.places[position].parent;
    ++steps;
  }
  return steps;
}

void expect_is_tree(const Tree& tree, std::uint32_t root) {
  const auto n = static_cast<std::uint32_t>(tree.places.size());
  std::uint32_t edges = 0;
  for (std::uint32_t position = 0; position < n; ++position) {
    EXPECT_EQ(tree.places[position].parent.has_value(), position != root);
    EXPECT_LT(depth(tree, position), n) << "a cycle";
    for (const std::uint32_t child : tree.places[position].children) {
      ASSERT_LT(child, n);
      EXPECT_EQ(tree.places[child].parent, position);
      ++edges;
    }
  }
  EXPECT_EQ(edges, n - 1);
}

TEST(Tree, RootedPhasesReachEveryMemberFromAnyRoot) {
  for (const AlgorithmKind algorithm : {AlgorithmKind::ring, AlgorithmKind::direct, AlgorithmKind::halving_doubling,
                                        AlgorithmKind::double_binary_tree}) {
    for (const PhaseKind kind : {PhaseKind::broadcast, PhaseKind::gather}) {
      for (std::uint32_t n = 2; n <= 17; ++n) {
        for (std::uint32_t root = 0; root < n; ++root) expect_is_tree(make_tree(kind, algorithm, n, root), root);
      }
    }
  }
}

TEST(Tree, ShapesAreChainStarBinomialAndHeap) {
  const auto deepest = [](AlgorithmKind algorithm, std::uint32_t n) {
    const Tree tree = make_tree(PhaseKind::broadcast, algorithm, n, 0);
    std::uint32_t most = 0;
    for (std::uint32_t position = 0; position < n; ++position) most = std::max(most, depth(tree, position));
    return most;
  };
  EXPECT_EQ(deepest(AlgorithmKind::ring, 16), 15U);
  EXPECT_EQ(deepest(AlgorithmKind::direct, 16), 1U);
  EXPECT_EQ(deepest(AlgorithmKind::halving_doubling, 16), 4U);
  EXPECT_EQ(deepest(AlgorithmKind::double_binary_tree, 15), 3U);
}

TEST(Tree, ScatterEdgesCarryTheSharesOfTheSubtree) {
  for (const AlgorithmKind algorithm : {AlgorithmKind::ring, AlgorithmKind::direct, AlgorithmKind::halving_doubling,
                                        AlgorithmKind::double_binary_tree}) {
    for (std::uint32_t n = 2; n <= 13; ++n) {
      for (const std::uint32_t root : {0U, 1U, n - 1}) {
        for (const std::uint64_t total : {5U, 23U, 100U}) {
          const Tree tree = make_tree(PhaseKind::scatter, algorithm, n, root, false, total);
          // What arrives less what is passed on is the member's own share.
          for (std::uint32_t position = 0; position < n; ++position) {
            std::uint64_t passed = 0;
            for (const std::uint32_t child : tree.places[position].children) {
              passed += tree_edge_bytes(tree.phases[position], child);
              EXPECT_EQ(tree_edge_bytes(tree.phases[position], child), tree_edge_bytes(tree.phases[child], child));
            }
            const std::uint64_t arrived = position == root ? total : tree_edge_bytes(tree.phases[position], position);
            EXPECT_EQ(arrived - passed, share(total, n, position));
          }
        }
      }
    }
  }
}

TEST(Tree, DoubleBinaryTreesOfEight) {
  const Tree first = make_tree(PhaseKind::all_reduce, AlgorithmKind::double_binary_tree, 8, 0, false);
  expect_is_tree(first, 7);
  EXPECT_EQ(first.places[7].children, std::vector<std::uint32_t>{3});
  EXPECT_EQ(first.places[3].children, (std::vector<std::uint32_t>{1, 5}));
  EXPECT_EQ(first.places[5].children, (std::vector<std::uint32_t>{4, 6}));
  const Tree second = make_tree(PhaseKind::all_reduce, AlgorithmKind::double_binary_tree, 8, 0, true);
  expect_is_tree(second, 0);
  EXPECT_EQ(second.places[0].children, std::vector<std::uint32_t>{4});
  EXPECT_EQ(second.places[4].children, (std::vector<std::uint32_t>{2, 6}));
}

TEST(Tree, DoubleBinaryTreeOfAnySize) {
  for (std::uint32_t n = 2; n <= 33; ++n) {
    expect_is_tree(make_tree(PhaseKind::all_reduce, AlgorithmKind::double_binary_tree, n, 0, false), n - 1);
    expect_is_tree(make_tree(PhaseKind::all_reduce, AlgorithmKind::double_binary_tree, n, 0, true), 0);
  }
}

}  // namespace
}  // namespace chakra
