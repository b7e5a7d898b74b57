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

TEST(Network, TopologyNamesRoundTrip) {
  for (const Topology topology : {Topology::ring, Topology::fully_connected, Topology::switch_}) {
    EXPECT_EQ(parse_topology(to_string(topology)), topology);
  }
  EXPECT_FALSE(parse_topology("ring"));
  EXPECT_FALSE(parse_topology("Mesh"));
}

}  // namespace
}  // namespace chakra
