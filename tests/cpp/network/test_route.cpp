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
                         {Topology::switch_, 2, 1, 0},
                         {Topology::mesh, 3, 1, 0}});
  const Router router(network.dimensions());
  std::map<std::uint64_t, std::pair<std::uint32_t, std::uint32_t>> ends;  // of each link
  for (std::uint32_t src = 0; src < network.npus(); ++src) {
    for (std::uint32_t dst = 0; dst < network.npus(); ++dst) {
      const std::vector<Hop> hops = path(router, src, dst);
      std::uint32_t expected = 0;
      for (std::size_t d = 0; d < 5; ++d) {
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
  const Router router(network.dimensions());
  EXPECT_EQ(router.next(0, 1).node, 1U);
  EXPECT_EQ(router.next(0, 2).node, 1U);
  EXPECT_EQ(router.next(3, 1).node, 0U);
  EXPECT_EQ(router.next(0, 3).node, 3U);
}

TEST(Router, AnOversubscribedSwitchHasAnInnerLink) {
  const Network network({{Topology::ring, 2, 10, 5}, {Topology::switch_, 3, 10, 7, 2}});
  const auto router = network.router();
  for (std::uint32_t line = 0; line < 2; ++line) {
    const std::vector<Hop> up = path(*router, line, line + 4);
    const std::vector<Hop> other = path(*router, line + 2, line);
    ASSERT_EQ(up.size(), 3U);
    EXPECT_EQ(up[1].link, other[1].link) << "all messages of a line share it";
    EXPECT_EQ(up[1].latency_ns, 0);
    EXPECT_DOUBLE_EQ(up[1].bytes_per_ns, 3 * up[0].bytes_per_ns / 2);
    EXPECT_DOUBLE_EQ(up[1].alone_bytes_per_ns, up[0].bytes_per_ns / 2);
    EXPECT_EQ(up[2].latency_ns, 7);
  }
  EXPECT_NE(path(*router, 0, 4)[1].link, path(*router, 1, 5)[1].link);
}

TEST(Router, DamageFitsAllLinksThatWereNamed) {
  const Network network({{Topology::fully_connected, 3, 10, 5}, {Topology::mesh, 3, 10, 5}});
  const auto damaged = [&](const LinkDamage& damage) {
    Router router(network.dimensions());
    router.damage(damage);
    std::set<std::pair<std::uint32_t, std::uint32_t>> links;
    for (std::uint32_t src = 0; src < 9; ++src) {
      for (std::uint32_t dst = 0; dst < 9; ++dst) {
        if (src == dst) continue;
        const Hop hop = router.next(src, dst);
        if (router.is_damaged(hop.link)) links.emplace(src, hop.node);
      }
    }
    return links;
  };
  using Links = std::set<std::pair<std::uint32_t, std::uint32_t>>;
  EXPECT_EQ(damaged({.src = 4}), (Links{{4, 3}, {4, 5}, {4, 1}, {4, 7}}));
  EXPECT_EQ(damaged({.dst = 1}), (Links{{0, 1}, {2, 1}, {4, 1}}));
  EXPECT_EQ(damaged({.dimension = 1, .src = 0}), (Links{{0, 3}}));
  EXPECT_EQ(damaged({.src = 8, .dst = 6}), (Links{{8, 6}}));
}

}  // namespace
}  // namespace chakra
