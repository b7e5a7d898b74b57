// SPDX-License-Identifier: MIT
#include <algorithm>

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

/// Finish of every rank after one collective, whose members are those of `group`, or all of them.
std::vector<std::uint64_t> finish(const SimulationConfig& config, CollectiveType type, std::int64_t bytes,
                                  std::int64_t root, const std::vector<std::uint32_t>& group = {}) {
  std::vector<TracePtr> traces;
  for (std::uint32_t r = 0; r < config.network.npus(); ++r) {
    const bool is_member = group.empty() || std::count(group.begin(), group.end(), r) > 0;
    const auto name = group.empty() ? std::nullopt : std::optional<std::string>("g");
    traces.push_back(is_member ? RankTrace().collective(type, bytes, name, root).build() : RankTrace().build());
  }
  return simulate(traces, config).finish_ns;
}

TEST(Groups, AGridIsANetworkOfItsOwn) {
  const Dimension ring{Topology::ring, 4, 25, 700};
  const Dimension port{Topology::switch_, 3, 50, 300};
  const Dimension full{Topology::fully_connected, 4, 10, 100};
  const auto algorithms = [](SimulationConfig& config, std::vector<std::string> names) {
    SystemConfig& system = config.system;
    for (auto* list : {&system.all_reduce, &system.all_gather, &system.reduce_scatter, &system.all_to_all}) {
      list->clear();
      for (const std::string& name : names) list->push_back(parse_algorithm(name));
    }
    system.endpoint_delay_ns = 13;
    system.local_mem_bw = 900;
    system.preferred_dataset_splits = 3;
  };
  const auto grid = [](std::vector<std::uint32_t> xs, std::vector<std::uint32_t> ys, std::vector<std::uint32_t> zs) {
    std::vector<std::uint32_t> npus;
    for (const std::uint32_t z : zs) {
      for (const std::uint32_t y : ys) {
        for (const std::uint32_t x : xs) npus.push_back(x + 4 * y + 12 * z);
      }
    }
    return npus;
  };
  Dimension two_ports = port;
  two_ports.npus = 2;
  struct Case {
    std::vector<std::uint32_t> members;
    std::vector<Dimension> alone;
    std::vector<std::string> names;
  };
  const Case cases[] = {
      {grid({0, 1, 2, 3}, {1}, {2}), {ring}, {"ring"}},
      {grid({2}, {0, 1, 2}, {3}), {port}, {"direct"}},
      {grid({1}, {0}, {0, 1, 2, 3}), {full}, {"direct2"}},
      {grid({0, 1, 2, 3}, {0, 1, 2}, {1}), {ring, port}, {"ring", "direct"}},
      {grid({3}, {0, 2}, {0, 1, 2, 3}), {two_ports, full}, {"direct", "direct2"}},
  };
  for (const Case& one : cases) {
    SimulationConfig whole = on({ring, port, full});
    algorithms(whole, {"ring", "direct", "direct2"});
    whole.groups = {{"g", one.members}};
    SimulationConfig alone = on(one.alone);
    algorithms(alone, one.names);
    for (const auto optimization : {CollectiveOptimization::baseline, CollectiveOptimization::local_bw_aware}) {
      whole.system.collective_optimization = alone.system.collective_optimization = optimization;
      for (std::uint8_t type = 0; type < 10; ++type) {
        for (const std::int64_t bytes : {100'000, 1'001, 5}) {
          const auto kind = static_cast<CollectiveType>(type);
          const std::size_t root = one.members.size() / 2;
          const auto expected = finish(alone, kind, bytes, static_cast<std::int64_t>(root));
          const auto found = finish(whole, kind, bytes, one.members[root], one.members);
          for (std::size_t i = 0; i < one.members.size(); ++i) {
            EXPECT_EQ(found[one.members[i]], expected[i]) << to_string(kind) << " " << bytes << " member " << i;
          }
        }
      }
    }
  }
}

TEST(Groups, NoGridIsOneRing) {
  SimulationConfig config = on({{Topology::ring, 2, 50, 500}, {Topology::switch_, 2, 50, 500}});
  testing::use(config, "direct");
  const auto steps = [&](const std::vector<std::uint32_t>& members) {
    config.groups = {{"g", members}};
    return finish(config, ar, 600, members[0], members)[0];
  };
  const Network& network = config.network;
  // Four steps on the ring 0, 1, 2; what comes last to rank 0 has gone 2, 0, 1, 2, 0.
  const std::uint64_t last_hop = network.delay(2, 0, 200);
  EXPECT_EQ(steps({2, 0, 1}), last_hop + network.delay(0, 1, 200) + network.delay(1, 2, 200) + last_hop);
  EXPECT_EQ(steps({0, 2}), 2 * network.delay(0, 2, 300));
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
