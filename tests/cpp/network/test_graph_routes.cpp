// SPDX-License-Identifier: MIT
#include <algorithm>
#include <random>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "chakra_core/network.hpp"
#include "network/graph_routes.hpp"

namespace chakra {
namespace {

LinkGraph random_graph(std::mt19937& random, std::uint32_t npus, std::uint32_t switches) {
  LinkGraph graph{npus, switches};
  const std::uint32_t nodes = npus + switches;
  const auto number = [&](std::uint32_t limit) {
    return std::uniform_int_distribution<std::uint32_t>(0, limit - 1)(random);
  };
  std::vector<std::vector<bool>> linked(nodes, std::vector<bool>(nodes));
  const auto link = [&](std::uint32_t a, std::uint32_t b, bool one_way) {
    if (a == b || linked[a][b] || (!one_way && linked[b][a])) return;
    linked[a][b] = true;
    if (!one_way) linked[b][a] = true;
    graph.links.push_back({a, b, 1.0 + number(3), static_cast<double>(number(3)), one_way});
  };
  for (std::uint32_t node = 1; node < nodes; ++node) link(node, number(node), false);
  for (std::uint32_t i = 0; i < 2 * nodes; ++i) link(number(nodes), number(nodes), number(2) == 0);
  return graph;
}

/// Least latency, then fewest links, then the smallest nodes one after the other: over all ways of up to `nodes` links.
class AllWays {
 public:
  using Way = std::tuple<double, std::size_t, std::vector<std::uint32_t>>;

  explicit AllWays(const LinkGraph& graph) : nodes_(graph.npus + graph.switches) {
    const Way none{1e9, 0, {}};
    best_.assign(nodes_, std::vector<Way>(nodes_, none));
    for (std::uint32_t node = 0; node < nodes_; ++node) best_[node][node] = {0, 0, {node}};
    // Longer ways by a link in front, until nothing gets better.
    for (bool changed = true; std::exchange(changed, false);) {
      for (const GraphLink& link : graph.links) {
        for (std::uint32_t dst = 0; dst < nodes_; ++dst) {
          changed |= improve(link.src, link.dst, dst, link.latency_ns);
          if (!link.one_way) changed |= improve(link.dst, link.src, dst, link.latency_ns);
        }
      }
    }
  }
  const std::vector<std::uint32_t>& way(std::uint32_t src, std::uint32_t dst) const {
    return std::get<2>(best_[src][dst]);
  }

 private:
  bool improve(std::uint32_t from, std::uint32_t to, std::uint32_t dst, double latency) {
    if (from == dst || std::get<2>(best_[to][dst]).empty()) return false;
    Way longer = best_[to][dst];
    std::get<0>(longer) += latency;
    ++std::get<1>(longer);
    std::get<2>(longer).insert(std::get<2>(longer).begin(), from);
    if (longer >= best_[from][dst]) return false;
    best_[from][dst] = longer;
    return true;
  }

  std::uint32_t nodes_;
  std::vector<std::vector<Way>> best_;
};

TEST(GraphRoutes, ShortestOfAllWaysHoweverOftenAsked) {
  std::mt19937 random(5);
  for (int repetition = 0; repetition < 60; ++repetition) {
    const LinkGraph graph = random_graph(random, 2 + static_cast<std::uint32_t>(repetition) % 7, 4);
    const GraphRoutes routes(graph);
    const AllWays all(graph);
    // First single searches, later whole trees.
    for (int round = 0; round < 12; ++round) {
      std::uint32_t src = static_cast<std::uint32_t>(random()) % graph.npus;
      const std::uint32_t dst = static_cast<std::uint32_t>(random()) % graph.npus;
      std::vector<std::uint32_t> way{src};
      while (src != dst && way.size() < 100) way.push_back(src = routes.links()[routes.next(src, dst)].to);
      ASSERT_EQ(way, all.way(way.front(), dst));
    }
    for (std::uint32_t src = 0; src < graph.npus; ++src) {
      for (std::uint32_t dst = 0; dst < graph.npus; ++dst) {
        if (src == dst) continue;
        ASSERT_EQ(routes.links()[routes.next(src, dst)].to, all.way(src, dst)[1]);
      }
    }
  }
}

TEST(GraphRoutes, DelayIsAllLatenciesAndTheSlowestLink) {
  const Network network =
      Network::of_links({2, 2, {{0, 2, 50, 100}, {2, 3, 10, 1000}, {3, 1, 25, 10}, {1, 0, 1, 7, true}}});
  const double slowest = 10 * 1073741824.0 / 1e9;
  EXPECT_EQ(network.delay(0, 1, 1 << 20), static_cast<std::uint64_t>(1110 + (1 << 20) / slowest));
  EXPECT_EQ(network.delay(1, 0, 1 << 20), static_cast<std::uint64_t>(7 + (1 << 20) / (slowest / 10)));
  EXPECT_EQ(network.delay(1, 1, 1 << 20), 0U);
  EXPECT_GE(network.longest_delay(1 << 20), static_cast<double>(network.delay(1, 0, 1 << 20)));
  const Network damaged = Network::of_links({2, 1, {{0, 2, 50, 100}, {2, 1, 50, 100}}},
                                            {{.src = 2, .dst = 1, .bandwidth = 0.5, .latency = 3}});
  EXPECT_EQ(damaged.delay(0, 1, 0), 400U);
  EXPECT_EQ(damaged.delay(1, 0, 0), 200U);
}

TEST(GraphRoutes, BadGraphsAreRefused) {
  const auto message = [](const LinkGraph& graph) {
    try {
      GraphRoutes routes(graph);
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const auto has = [&](const LinkGraph& graph, const char* part) {
    EXPECT_NE(message(graph).find(part), std::string::npos) << message(graph);
  };
  has({0, 1, {}}, "no NPU");
  has({2, 0, {{0, 2, 1, 1}}}, "node 2 of link 0 is unknown");
  has({2, 0, {{1, 1, 1, 1}}}, "both ends of link 0 are node 1");
  has({2, 0, {{0, 1, 0, 1}}}, "bandwidth of link 0");
  has({2, 0, {{0, 1, 1, -1}}}, "latency of link 0");
  has({2, 0, {{0, 1, 1, 1}, {1, 0, 1, 1, true}}}, "from node 1 to node 0 is there twice");
  has({3, 1, {{0, 3, 1, 1}, {3, 1, 1, 1}}}, "no way leads from NPU 0 to NPU 2");
  has({2, 0, {{0, 1, 1, 1, true}}}, "no way leads from NPU 1 to NPU 0");
  EXPECT_EQ(message({1, 1, {}}), "no error");
  EXPECT_EQ(message({2, 0, {{0, 1, 1, 1, true}, {1, 0, 2, 2, true}}}), "no error");
}

}  // namespace
}  // namespace chakra
