// SPDX-License-Identifier: MIT
// That stragglers are what their traces would be is tested over random runs in tests/python/sim/test_stragglers.py.
#include <array>

#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "sim/workload.hpp"

namespace chakra {
namespace {

using testing::on;
using testing::RankTrace;

TEST(Stragglers, SpeedDelayAndGivenTimes) {
  SimulationConfig config = on({{Topology::ring, 2, 50, 500}});
  const TracePtr trace = RankTrace().compute(100).then().compute(10, true).build();
  const std::vector<TracePtr> traces{trace, trace};
  config.stragglers.compute_speed = {1, 0.5};
  config.stragglers.start_delay_ns = {7, 0};
  config.stragglers.node_delays = {{1, 1, 1000}};
  EXPECT_EQ(simulate(traces, config).finish_ns, (std::vector<std::uint64_t>{117, 1220}));
  const std::array<std::uint64_t, 2> given{5, given_elsewhere};
  config.compute_ns = {given, {}};
  EXPECT_EQ(simulate(traces, config).finish_ns, (std::vector<std::uint64_t>{22, 1220}));
}

TEST(Stragglers, TheFactorDependsOnSeedRankAndNode) {
  const Stragglers one{.jitter = 0.5, .seed = 1};
  EXPECT_EQ(one.jitter_factor(3, 4), (Stragglers{.jitter = 0.5, .seed = 1}).jitter_factor(3, 4));
  EXPECT_NE(one.jitter_factor(3, 4), one.jitter_factor(3, 5));
  EXPECT_NE(one.jitter_factor(3, 4), one.jitter_factor(4, 4));
  EXPECT_NE(one.jitter_factor(3, 4), (Stragglers{.jitter = 0.5, .seed = 2}).jitter_factor(3, 4));
}

TEST(Stragglers, WhatDoesNotFitIsRefused) {
  const SimulationConfig fine = on({{Topology::ring, 2, 50, 500}});
  const std::vector<TracePtr> traces(2, RankTrace().compute(100).build());
  const std::array<std::uint64_t, 2> two{5, 6};
  const auto refused = [&](auto change) {
    SimulationConfig config = fine;
    change(config);
    EXPECT_THROW(simulate(traces, config), ConfigError);
  };
  refused([](SimulationConfig& config) { config.stragglers.compute_speed = {1}; });
  refused([](SimulationConfig& config) { config.stragglers.compute_speed = {1, -1}; });
  refused([](SimulationConfig& config) { config.stragglers.start_delay_ns = {1, 2, 3}; });
  refused([](SimulationConfig& config) { config.stragglers.jitter = 1.5; });
  refused([](SimulationConfig& config) { config.stragglers.node_delays = {{2, 0, 1}}; });
  refused([](SimulationConfig& config) { config.stragglers.node_delays = {{0, 5, 1}}; });
  refused([&](SimulationConfig& config) { config.compute_ns = {two, two}; });
  refused([&](SimulationConfig& config) { config.compute_ns = {{}}; });
}

TEST(Stragglers, ATimeBeyondAllClocksIsAnError) {
  SimulationConfig config = on({{Topology::ring, 1, 50, 500}});
  config.stragglers.compute_speed = {1e-300};
  EXPECT_THROW(simulate(std::vector<TracePtr>{RankTrace().compute(100).build()}, config), SimulationError);
}

}  // namespace
}  // namespace chakra
