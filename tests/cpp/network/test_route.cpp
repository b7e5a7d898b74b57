// SPDX-License-Identifier: MIT
#include <map>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "network/route.hpp"

namespace chakra {
namespace {

std::vector<Hop> path(const Router& router, std::uint32_t src, std::uint32_t dst) {
  std::vector<Hop> hops;
  for (std::uint32_t node = src; node != dst && hops.size() < 100; node = hops.back().node) {
    hops.push_back(router.next(node, dst));
  }
  return hops;
}

TEST(Router, EveryPairIsReachedInDimensionOrderWithTheExpectedHops) {
  const Network network({{Topology::ring, 5, 1, 0},
                         {Topology::switch_, 3, 1, 0},
                         {Topology::fully_connected, 4, 1, 0},
                         {Topology::switch_, 2, 1, 0}});
  const Router router(network);
  std::map<std::uint64_t, std::pair<std::uint32_t, std::uint32_t>> ends;  // of each link
  for (std::uint32_t src = 0; src < network.npus(); ++src) {
    for (std::uint32_t dst = 0; dst < network.npus(); ++dst) {
      const std::vector<Hop> hops = path(router, src, dst);
      std::uint32_t expected = 0;
      for (std::size_t d = 0; d < 4; ++d) {
        expected += network.hops(d, network.coordinate(src, d), network.coordinate(dst, d));
      }
      ASSERT_EQ(hops.size(), expected);
      std::uint32_t node = src;
      std::uint32_t dimension = 0;
      for (const Hop& hop : hops) {
        EXPECT_GE(hop.dimension, dimension);
        ASSERT_LT(hop.link, router.links());
        const auto [place, is_new] = ends.try_emplace(hop.link, node, hop.node);
        EXPECT_EQ(place->second, std::pair(node, hop.node)) << "a link has one start and one end";
        dimension = hop.dimension;
        node = hop.node;
      }
    }
  }
  std::set<std::pair<std::uint32_t, std::uint32_t>> distinct;
  for (const auto& [link, between] : ends) distinct.insert(between);
  EXPECT_EQ(distinct.size(), ends.size()) << "two nodes have one link in each direction";
}

TEST(Router, RingGoesTheShorterWayAndATieClockwise) {
  const Network network({{Topology::ring, 4, 1, 0}});
  const Router router(network);
  EXPECT_EQ(router.next(0, 1).node, 1U);
  EXPECT_EQ(router.next(0, 2).node, 1U);
  EXPECT_EQ(router.next(3, 1).node, 0U);
  EXPECT_EQ(router.next(0, 3).node, 3U);
}

}  // namespace
}  // namespace chakra
