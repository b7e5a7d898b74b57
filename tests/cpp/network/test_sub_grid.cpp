// SPDX-License-Identifier: MIT
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "network/sub_grid.hpp"

namespace chakra {
namespace {

const Network network({{Topology::ring, 3, 1, 0}, {Topology::switch_, 2, 1, 0}, {Topology::ring, 2, 1, 0}});

std::vector<std::uint32_t> members(std::uint32_t bits) {
  std::vector<std::uint32_t> npus;
  for (std::uint32_t npu = 0; npu < network.npus(); ++npu) {
    if ((bits >> npu & 1) != 0) npus.push_back(npu);
  }
  return npus;
}

TEST(SubGrid, FoundExactlyIfEveryMixOfTwoMembersIsAMember) {
  for (std::uint32_t bits = 1; bits < 1U << network.npus(); ++bits) {
    const std::vector<std::uint32_t> npus = members(bits);
    // Swapping one coordinate between any two members stays inside: what makes a set a product.
    bool expected = true;
    for (const std::uint32_t a : npus) {
      for (const std::uint32_t b : npus) {
        for (std::size_t d = 0; d < 3; ++d) {
          const std::uint32_t mixed =
              a - network.coordinate(a, d) * network.stride(d) + network.coordinate(b, d) * network.stride(d);
          expected = expected && std::count(npus.begin(), npus.end(), mixed) == 1;
        }
      }
    }
    const auto grid = SubGrid::find(network, npus);
    ASSERT_EQ(grid.has_value(), expected) << bits;
    if (!grid) continue;
    for (std::size_t d = 0; d < 3; ++d) {
      std::set<std::uint32_t> axis;
      for (const std::uint32_t npu : npus) axis.insert(network.coordinate(npu, d));
      const auto found = grid->coordinates(d);
      ASSERT_EQ(std::vector(found.begin(), found.end()), std::vector(axis.begin(), axis.end()));
      for (std::uint32_t i = 0; i < found.size(); ++i) EXPECT_EQ(grid->position(d, found[i]), i);
    }
  }
}

TEST(SubGrid, Steps) {
  const Network ring({{Topology::ring, 9, 1, 0}});
  const auto step = [&](std::vector<std::uint32_t> npus) { return SubGrid::find(ring, npus)->step(0); };
  EXPECT_EQ(step({0, 3, 6}), 3U);
  EXPECT_EQ(step({8, 1}), 7U);
  EXPECT_EQ(step({0, 1, 3}), 0U);
  EXPECT_EQ(step({4}), 1U);
}

}  // namespace
}  // namespace chakra
