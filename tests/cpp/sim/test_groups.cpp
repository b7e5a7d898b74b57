// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "sim/workload.hpp"

namespace chakra {
namespace {

using testing::on;
using testing::RankTrace;

constexpr auto ar = CollectiveType::all_reduce;

TEST(Groups, T33OneGroupMayHaveRunMoreThanAnother) {
  SimulationConfig config = on({{Topology::ring, 8, 50, 500}});
  config.groups = {{"1", {0, 1, 2, 3, 4, 5, 6, 7}}, {"2", {4, 5, 6, 7}}};
  std::vector<TracePtr> traces;
  for (std::uint32_t r = 0; r < 8; ++r) {
    RankTrace trace;
    if (r >= 4) trace.collective(ar, 1 << 20, "2").then();
    traces.push_back(trace.collective(ar, 1 << 20).then().collective(ar, 1 << 20, "1").build());
  }
  const SimulationResult result = simulate(traces, config);
  EXPECT_GT(result.finish_ns[0], 2 * 41'174U) << "ranks 4-7 come later than the others";
  EXPECT_EQ(testing::ended_nodes(result), 20U);
  config.parity = true;
  EXPECT_THROW(simulate(traces, config), SimulationError) << "ASTRA-sim counts the tags of both together";
}

TEST(Groups, T36Names) {
  SimulationConfig config = on({{Topology::ring, 4, 50, 500}});
  config.groups = {{"tp", {1, 2}}, {"odd", {3, 1, 2, 0}}};
  const auto finish = [&](std::optional<std::string> name) {
    std::vector<TracePtr> traces;
    for (int r = 0; r < 4; ++r) traces.push_back(RankTrace().collective(ar, 1 << 20, name).build());
    return simulate(traces, config).finish_ns;
  };
  const auto world = finish(std::nullopt);
  EXPECT_EQ(finish(""), world);
  EXPECT_EQ(finish("0"), world);
  EXPECT_EQ(finish("odd"), world) << "as large as the world, and in network order by default";
  const std::vector<TracePtr> pair{RankTrace().build(), RankTrace().collective(ar, 1 << 20, "tp").build(),
                                   RankTrace().collective(ar, 1 << 20, "tp").build(), RankTrace().build()};
  EXPECT_EQ(simulate(pair, config).finish_ns[1], 2 * config.network.delay(1, 2, 1 << 19));
  try {
    finish("tp9");
    ADD_FAILURE();
  } catch (const SimulationError& error) {
    EXPECT_EQ(std::string(error.what()),
              "rank 0: node 0 \"node0\" (COMM_COLL_NODE): pg_name \"tp9\" is not in the communicator groups (tp, odd)");
  }
}

TEST(Groups, RingGoesAscendingOrAsListed) {
  SimulationConfig config = on({{Topology::ring, 8, 50, 500}});
  config.groups = {{"g", {0, 4, 1, 5}}};
  std::vector<TracePtr> traces;
  for (int r = 0; r < 8; ++r) {
    RankTrace trace;
    const bool member = r == 0 || r == 4 || r == 1 || r == 5;
    traces.push_back(member ? trace.collective(ar, 4 << 10, "g").build() : trace.build());
  }
  const std::uint64_t ascending = simulate(traces, config).finish_ns[0];
  config.groups_as_listed = true;
  EXPECT_LT(ascending, simulate(traces, config).finish_ns[0]) << "0-1-4-5 has two long hops, 0-4-1-5 four";
}

TEST(Groups, OneRankIsDoneAtOnce) {
  SimulationConfig config = on({{Topology::ring, 2, 50, 500}});
  config.groups = {{"me", {1}}};
  const std::vector<TracePtr> traces{
      RankTrace().build(), RankTrace().compute(7).then().collective(ar, 1 << 20, "me").then().compute(5).build()};
  EXPECT_EQ(simulate(traces, config).finish_ns[1], 12U);
}

TEST(Groups, SubgroupsOfAnySizeAndAlgorithm) {
  for (const std::string algorithm : {"ring", "direct", "direct2", "doubleBinaryTree"}) {
    SimulationConfig config = on({{Topology::switch_, 8, 50, 500}});
    testing::use(config, algorithm);
    config.groups = {{"a", {0, 2, 7}}, {"b", {1, 3, 4, 5, 6}}};
    std::vector<TracePtr> traces;
    for (int r = 0; r < 8; ++r) {
      const bool in_a = r == 0 || r == 2 || r == 7;
      traces.push_back(RankTrace().collective(ar, 1001, in_a ? "a" : "b").then().collective(ar, 77).build());
    }
    EXPECT_NO_THROW(simulate(traces, config)) << algorithm;
  }
}

TEST(Groups, BadGroupsAreRefused) {
  const auto message = [](std::vector<ProcessGroup> groups, bool parity = false) {
    SimulationConfig config = on({{Topology::ring, 2, 50, 500}});
    config.groups = std::move(groups);
    config.parity = parity;
    const std::vector<TracePtr> traces(2, RankTrace().build());
    try {
      simulate(traces, config);
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message({{"a", {0, 2}}}), "communicator group \"a\" lists rank 2, but the network has 2 NPUs");
  EXPECT_EQ(message({{"a", {0, 0}}}), "communicator group \"a\" lists rank 0 twice");
  EXPECT_EQ(message({{"a", {}}}), "communicator group \"a\" has no ranks");
  EXPECT_EQ(message({{"a", {0}}, {"a", {1}}}), "communicator group \"a\" is listed twice");
  EXPECT_NE(message({{"a", {0, 1}}}, true), "");
  EXPECT_EQ(message({{"a", {1, 0}}}), "");
}

TEST(Groups, ARankThatIsNoMemberIsNamed) {
  SimulationConfig config = on({{Topology::ring, 2, 50, 500}});
  config.groups = {{"me", {1}}};
  const std::vector<TracePtr> traces(2, RankTrace().collective(ar, 64, "me").build());
  try {
    simulate(traces, config);
    ADD_FAILURE();
  } catch (const SimulationError& error) {
    EXPECT_NE(std::string(error.what()).find("rank 0 is not in communicator group \"me\""), std::string::npos);
  }
}

}  // namespace
}  // namespace chakra
