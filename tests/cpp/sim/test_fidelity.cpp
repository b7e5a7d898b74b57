// SPDX-License-Identifier: MIT
// What is simulated how, and that one rank can stand for all. That the times are equal is tested over
// random runs in tests/python/sim/test_fidelity.py, and by test_phase_recurrences.cpp.
#include <random>

#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "collective/phase_times.hpp"
#include "sim/workload.hpp"

namespace chakra {
namespace {

using testing::on;
using testing::RankTrace;
using testing::skewed_collective;

constexpr CollectiveType ar = CollectiveType::all_reduce;

SimulationConfig ring_of(std::uint32_t n) { return on({{Topology::ring, n, 50, 500}}); }

std::vector<TracePtr> separate(std::uint32_t n, CollectiveType type, std::int64_t bytes) {
  std::vector<TracePtr> traces;
  for (std::uint32_t r = 0; r < n; ++r) traces.push_back(RankTrace().collective(type, bytes).build());
  return traces;
}

TEST(Fidelity, NamesRoundTripAndOthersAreRefused) {
  for (const Fidelity fidelity : {Fidelity::automatic, Fidelity::closed, Fidelity::phase, Fidelity::message}) {
    EXPECT_EQ(parse_fidelity(to_string(fidelity)), fidelity);
  }
  EXPECT_THROW(parse_fidelity("exact"), ConfigError);
}

TEST(Fidelity, InStepIsClosedAndSkewedIsAPhase) {
  SimulationConfig config = ring_of(4);
  EXPECT_EQ(simulate(skewed_collective(ar, 1 << 20, {1, 1, 1, 1}), config).phases, (PhaseCounts{.closed = 4}));
  EXPECT_EQ(simulate(skewed_collective(ar, 1 << 20, {1, 2, 3, 4}), config).phases, (PhaseCounts{.phase = 4}));
  config.fidelity = Fidelity::phase;
  EXPECT_EQ(simulate(skewed_collective(ar, 1 << 20, {1, 1, 1, 1}), config).phases, (PhaseCounts{.phase = 4}));
  config.fidelity = Fidelity::message;
  const SimulationResult result = simulate(skewed_collective(ar, 1 << 20, {1, 1, 1, 1}), config);
  EXPECT_EQ(result.phases, (PhaseCounts{.message = 4}));
  EXPECT_EQ(result.messages, 4U * 6);
}

TEST(Fidelity, WhatHasNoFormulaGoesByMessage) {
  SimulationConfig config = ring_of(4);
  EXPECT_EQ(simulate(separate(4, CollectiveType::broadcast, 1 << 20), config).phases, (PhaseCounts{.message = 4}));
  EXPECT_EQ(simulate(separate(4, ar, 3), config).phases, (PhaseCounts{.message = 4})) << "blocks of 0 bytes";
  config.congestion = true;
  EXPECT_EQ(simulate(separate(4, ar, 1 << 20), config).phases, (PhaseCounts{.message = 4}));
  config.congestion = false;
  testing::use(config, "direct2");
  EXPECT_EQ(simulate(separate(4, ar, 1 << 20), config).phases, (PhaseCounts{.message = 4}));
}

TEST(Fidelity, ADirectAllReduceThatTurnsRoundInATieBeginsAgain) {
  SimulationConfig config = on({{Topology::switch_, 4, 50, 500}});
  testing::use(config, "direct");
  const SimulationResult result = simulate(separate(4, ar, 1 << 20), config);
  EXPECT_EQ(result.phases, (PhaseCounts{.message = 4}));
  EXPECT_NE(result.order_mattered, "");
  config.system.endpoint_delay_ns = 10;
  EXPECT_EQ(simulate(separate(4, ar, 1 << 20), config).order_mattered, "");
}

TEST(Fidelity, OneRankStandsForAllThatAreAlike) {
  SimulationConfig config = ring_of(8);
  const SimulationResult folded = simulate(separate(8, ar, 1 << 20), config);
  EXPECT_EQ(folded.folded_ranks, 7U);
  config.fold = false;
  const SimulationResult unfolded = simulate(separate(8, ar, 1 << 20), config);
  EXPECT_EQ(unfolded.folded_ranks, 0U);
  EXPECT_EQ(folded.finish_ns, unfolded.finish_ns);
  EXPECT_EQ(folded.first_node, unfolded.first_node);
  EXPECT_EQ(folded.node_end_ns, unfolded.node_end_ns);
  EXPECT_EQ(folded.phases, unfolded.phases);
}

TEST(Fidelity, GroupsOfOneFormFoldAndOthersDoNot) {
  SimulationConfig config = ring_of(8);
  const auto in_groups = [&](const std::vector<std::vector<std::uint32_t>>& groups) {
    config.groups.clear();
    std::vector<TracePtr> traces(8);
    for (const auto& ranks : groups) {
      const std::string name = "g" + std::to_string(config.groups.size());
      config.groups.push_back({name, ranks});
      for (const std::uint32_t r : ranks) traces[r] = RankTrace().collective(ar, 1 << 20, name).build();
    }
    return simulate(traces, config).folded_ranks;
  };
  EXPECT_EQ(in_groups({{0, 2, 4, 6}, {1, 3, 5, 7}}), 7U);
  EXPECT_EQ(in_groups({{0, 1, 4, 5}, {2, 3, 6, 7}}), 0U) << "neighbours are not equally far";
  EXPECT_EQ(in_groups({{0, 4}, {1, 2, 3, 5, 6, 7}}), 0U) << "the groups differ";
}

TEST(Fidelity, RanksThatDifferOrTalkAreNotFolded) {
  const SimulationConfig config = ring_of(2);
  const auto folded = [&](const TracePtr& first, const TracePtr& second) {
    return simulate(std::vector<TracePtr>{first, second}, config).folded_ranks;
  };
  const auto computes = [](std::uint64_t ns) { return RankTrace().compute(ns).build(); };
  EXPECT_EQ(folded(computes(5), computes(5)), 1U);
  EXPECT_EQ(folded(computes(5), computes(6)), 0U);
  EXPECT_EQ(folded(RankTrace().compute(5).then().compute(5).build(), RankTrace().compute(5).compute(5).build()), 0U);
  EXPECT_EQ(folded(RankTrace().collective(ar, 64).build(), RankTrace().collective(ar, 64).build()), 1U);
  EXPECT_EQ(folded(RankTrace().send(1, 64).receive(1, 64).build(), RankTrace().send(0, 64).receive(0, 64).build()), 0U);
}

TEST(Fidelity, AStallIsReportedForAllRanks) {
  SimulationConfig config = ring_of(3);
  config.groups = {{"pair", {0, 1}}};
  const std::vector<TracePtr> traces{RankTrace().collective(ar, 1 << 20, "pair").build(),
                                     RankTrace().compute(5).build(), RankTrace().compute(5).build()};
  try {
    simulate(traces, config);
    FAIL() << "nobody meets rank 0";
  } catch (const SimulationError& error) {
    EXPECT_NE(std::string(error.what()).find("group \"pair\": rank 1 to begin it"), std::string::npos) << error.what();
  }
}

TEST(Fidelity, TimesBeyond64BitsAreAnErrorAsWithMessages) {
  SimulationConfig config = on({{Topology::ring, 4, 5e-8, 500}});
  for (const Fidelity fidelity : {Fidelity::automatic, Fidelity::phase, Fidelity::message}) {
    config.fidelity = fidelity;
    EXPECT_THROW(simulate(separate(4, ar, std::int64_t{1} << 40), config), SimulationError);
  }
}

}  // namespace
}  // namespace chakra
