// SPDX-License-Identifier: MIT
#include <limits>

#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "chakra_core/network.hpp"

namespace chakra {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

TEST(Network, CoordinatesCountDimensionZeroFastest) {
  const Network network({{Topology::ring, 4, 50, 100}, {Topology::switch_, 3, 50, 100}, {Topology::ring, 2, 50, 100}});
  EXPECT_EQ(network.npus(), 24U);
  EXPECT_EQ(network.coordinates(0), (std::vector<std::uint32_t>{0, 0, 0}));
  EXPECT_EQ(network.coordinates(5), (std::vector<std::uint32_t>{1, 1, 0}));
  EXPECT_EQ(network.coordinates(23), (std::vector<std::uint32_t>{3, 2, 1}));
}

TEST(Network, HopsDependOnTheTopology) {
  const Network network(
      {{Topology::ring, 6, 1, 0}, {Topology::fully_connected, 6, 1, 0}, {Topology::switch_, 6, 1, 0}});
  const std::uint32_t ring[] = {0, 1, 2, 3, 2, 1};
  for (std::uint32_t to = 0; to < 6; ++to) {
    EXPECT_EQ(network.hops(0, 0, to), ring[to]);
    EXPECT_EQ(network.hops(0, to, 0), ring[to]);
    EXPECT_EQ(network.hops(1, 2, to), to == 2 ? 0U : 1U);
    EXPECT_EQ(network.hops(2, 2, to), to == 2 ? 0U : 2U);
  }
}

TEST(Network, DelayOverTwoDimensions) {
  const Network network({{Topology::ring, 4, 50, 100}, {Topology::ring, 2, 50, 1000}});
  EXPECT_EQ(network.delay(0, 5, 1 << 20, DelayRule::first_dimension), 19'631U);
  EXPECT_EQ(network.delay(0, 5, 1 << 20), 20'631U);
  EXPECT_EQ(network.delay(0, 4, 1 << 20), network.delay(0, 4, 1 << 20, DelayRule::first_dimension));
  EXPECT_EQ(network.delay(3, 3, 1 << 20), 0U);
}

TEST(Network, TheSlowestDimensionOnTheWayCounts) {
  const Network network({{Topology::ring, 2, 100, 0}, {Topology::ring, 2, 1, 0}, {Topology::ring, 2, 10, 0}});
  const std::uint64_t bytes = (1 << 30) + 7;  // not on the edge of a nanosecond
  EXPECT_EQ(network.delay(0, 1, bytes), 10'000'000U);
  EXPECT_EQ(network.delay(0, 5, bytes), 100'000'000U);
  EXPECT_EQ(network.delay(0, 7, bytes), 1'000'000'006U);
}

TEST(Network, RejectsBadValuesByName) {
  const auto message = [](const Dimension& dimension) {
    try {
      const Network network({dimension});
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_NE(message({Topology::ring, 0, 1, 1}).find("npus_count"), std::string::npos);
  for (const double bandwidth : {0.0, -1.0, inf, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_NE(message({Topology::ring, 2, bandwidth, 1}).find("bandwidth"), std::string::npos) << bandwidth;
  }
  for (const double latency : {-1.0, inf}) {
    EXPECT_NE(message({Topology::ring, 2, 1, latency}).find("latency"), std::string::npos) << latency;
  }
  EXPECT_THROW(Network({}), ConfigError);
  EXPECT_THROW(Network(std::vector<Dimension>(2, {Topology::ring, 1U << 20, 1, 1})), ConfigError);
  EXPECT_THROW(Network(std::vector<Dimension>(65, {Topology::ring, 1, 1, 1})), ConfigError);
}

TEST(Network, AMeshIsALine) {
  const Network network({{Topology::mesh, 5, 50, 100}, {Topology::mesh, 2, 50, 1000}});
  for (std::uint32_t from = 0; from < 5; ++from) {
    for (std::uint32_t to = 0; to < 5; ++to) EXPECT_EQ(network.hops(0, from, to), from < to ? to - from : from - to);
  }
  EXPECT_EQ(network.delay(0, 9, 0), 4 * 100 + 1000U);
}

TEST(Network, AnOversubscribedSwitchPassesOnLess) {
  const Network network({{Topology::switch_, 4, 50, 100, 3}});
  const Network slower({{Topology::switch_, 4, 50.0 / 3, 100}});
  EXPECT_EQ(network.delay(0, 3, 1 << 20), slower.delay(0, 3, 1 << 20));
  EXPECT_THROW(Network({{Topology::switch_, 4, 50, 100, 0.5}}), ConfigError);
  EXPECT_THROW(Network({{Topology::switch_, 4, 50, 100, inf}}), ConfigError);
  EXPECT_THROW(Network({{Topology::ring, 4, 50, 100, 2}}), ConfigError);
}

TEST(Network, AbsurdDelaysSaturate) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(Network({{Topology::ring, 2, 1e-300, 0}}).delay(0, 1, most), most);
  EXPECT_EQ(Network({{Topology::ring, 2, 1e-12, 0}}).delay(0, 1, most), most);
  EXPECT_EQ(Network({{Topology::ring, 2, 1, 1e300}}).delay(0, 1, 0), most);
  EXPECT_EQ(Network({{Topology::ring, 2, 1e290, 0}}).delay(0, 1, most), 0U);
  EXPECT_THROW(Network({{Topology::ring, 2, 1e308, 0}}), ConfigError) << "more than a double can count";
}

TEST(Network, DamageOfADimension) {
  const std::vector<Dimension> dimensions{{Topology::ring, 4, 50, 100}, {Topology::switch_, 2, 50, 100}};
  const Network damaged(dimensions, {{.dimension = 1, .bandwidth = 0.5, .latency = 3}, {.bandwidth = 0.5}});
  const Network same({{Topology::ring, 4, 25, 100}, {Topology::switch_, 2, 12.5, 300}});
  for (std::uint32_t dst = 0; dst < 8; ++dst) EXPECT_EQ(damaged.delay(0, dst, 12'345), same.delay(0, dst, 12'345));
  EXPECT_TRUE(damaged.is_damaged());
  EXPECT_TRUE(damaged.is_regular());
}

TEST(Network, DamageOfSingleLinks) {
  const std::vector<Dimension> dimensions{{Topology::ring, 6, 50, 100}, {Topology::switch_, 2, 100, 200}};
  const Network intact(dimensions);
  const Network damaged(dimensions, {{.src = 1, .dst = 2, .bandwidth = 0.25, .latency = 7},
                                     {.dimension = 1, .src = 3, .bandwidth = 0.1, .latency = 2},
                                     {.src = 1, .dst = 2, .latency = 2}});
  EXPECT_FALSE(damaged.is_regular());
  const std::uint64_t bytes = 1 << 20;
  const auto slow = [&](double latency, double gbps) {
    return static_cast<std::uint64_t>(latency + static_cast<double>(bytes) / (gbps * 1073741824.0 / 1e9));
  };
  EXPECT_EQ(damaged.delay(1, 2, bytes), slow(1400, 12.5));
  EXPECT_EQ(damaged.delay(0, 3, bytes), slow(100 + 1400 + 100, 12.5)) << "on the way";
  EXPECT_EQ(damaged.delay(2, 1, bytes), intact.delay(2, 1, bytes)) << "the other direction";
  EXPECT_EQ(damaged.delay(0, 9, bytes), slow(100 + 1400 + 100 + 400 + 200, 10)) << "up to the switch";
  EXPECT_EQ(damaged.delay(9, 3, bytes), intact.delay(9, 3, bytes)) << "down from it";
  EXPECT_GE(damaged.longest_delay(bytes), static_cast<double>(damaged.delay(0, 9, bytes)));
}

TEST(Network, BadDamageIsRefused) {
  const std::vector<Dimension> dimensions{{Topology::ring, 6, 50, 100}, {Topology::switch_, 2, 100, 200}};
  const auto message = [&](const LinkDamage& damage) {
    try {
      const Network network(dimensions, {damage});
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_NE(message({.bandwidth = 0}).find("factor on the bandwidth is 0"), std::string::npos);
  EXPECT_NE(message({.latency = -1}).find("factor on the latency is -1"), std::string::npos);
  EXPECT_NE(message({.dimension = 2}).find("dimension 2 is not there"), std::string::npos);
  EXPECT_NE(message({.src = 12}).find("node 12 is unknown"), std::string::npos);
  EXPECT_NE(message({.src = 0, .dst = 2}).find("no link from node 0 to node 2 is there"), std::string::npos);
  EXPECT_NE(message({.dimension = 1, .src = 0, .dst = 6}).find("in dimension 1"), std::string::npos) << "by a switch";
}

TEST(Network, TopologyNamesRoundTrip) {
  for (const Topology topology :
       {Topology::ring, Topology::fully_connected, Topology::switch_, Topology::mesh, Topology::graph}) {
    EXPECT_EQ(parse_topology(to_string(topology)), topology);
  }
  EXPECT_FALSE(parse_topology("ring"));
  EXPECT_FALSE(parse_topology("Torus"));
}

}  // namespace
}  // namespace chakra
