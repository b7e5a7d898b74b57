// SPDX-License-Identifier: MIT
#include <algorithm>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "sim/workload.hpp"

namespace chakra {
namespace {

using testing::on;
using testing::RankTrace;
using testing::skewed_collective;
using testing::use;

std::vector<TracePtr> same_on_all(std::uint32_t npus, const TracePtr& trace) { return {npus, trace}; }

TEST(Collectives, T29RingOfEight) {
  SimulationConfig config = on({{Topology::ring, 8, 50, 500}});
  const auto traces = same_on_all(8, RankTrace().collective(CollectiveType::all_reduce, 1 << 20).build());
  for (const bool parity : {false, true}) {
    config.parity = parity;
    const SimulationResult result = simulate(traces, config);
    EXPECT_EQ(result.finish_ns, std::vector<std::uint64_t>(8, 41'174));
    EXPECT_EQ(result.messages, 0U);
    EXPECT_EQ(result.phases, (PhaseCounts{.closed = 8}));

    SimulationConfig by_message = config;
    by_message.fidelity = Fidelity::message;
    const SimulationResult messages = simulate(traces, by_message);
    EXPECT_EQ(messages.finish_ns, result.finish_ns);
    EXPECT_EQ(messages.messages, 8U * 14);
    EXPECT_EQ(messages.phases, (PhaseCounts{.message = 8}));
  }
}

TEST(Collectives, T39TinyAndEmpty) {
  SimulationConfig config = on({{Topology::ring, 8, 50, 500}});
  config.system.preferred_dataset_splits = 4;
  SimulationResult result =
      simulate(same_on_all(8, RankTrace().collective(CollectiveType::all_reduce, 0).build()), config);
  EXPECT_EQ(result.finish_ns, std::vector<std::uint64_t>(8, 0));
  EXPECT_EQ(result.messages, 0U);
  EXPECT_EQ(result.warnings, std::vector<std::string>{"8 collectives of 0 bytes took no time"});

  for (const std::string algorithm : {"ring", "direct", "direct2", "halvingDoubling"}) {
    use(config, algorithm);
    result = simulate(same_on_all(8, RankTrace().collective(CollectiveType::all_reduce, 3).build()), config);
    EXPECT_GT(result.finish_ns[0], 500U);
    EXPECT_EQ(result.warnings, std::vector<std::string>{"8 collectives have fewer bytes than their group has ranks"});
    EXPECT_LT(result.messages, 8U * 14) << "nothing is sent where there is no byte";
  }
}

TEST(Collectives, DirectAllReduceOnARingTurnsAtTheFirstTokenAfterTheBarrier) {
  SimulationConfig config = on({{Topology::ring, 8, 50, 50}});
  use(config, "direct");
  config.system.endpoint_delay_ns = 100;
  config.system.local_mem_bw = 1600;
  const auto traces = same_on_all(8, RankTrace().collective(CollectiveType::all_reduce, 524'288).build());
  EXPECT_EQ(simulate(traces, config).finish_ns, std::vector<std::uint64_t>(8, 3160));
}

const CollectiveType all_types[] = {
    CollectiveType::all_reduce, CollectiveType::reduce,         CollectiveType::all_gather,
    CollectiveType::gather,     CollectiveType::scatter,        CollectiveType::broadcast,
    CollectiveType::all_to_all, CollectiveType::reduce_scatter, CollectiveType::reduce_scatter_block,
    CollectiveType::barrier};

/// Every type, algorithm and odd size ends, in one to three dimensions, with and without congestion,
/// from ranks that start at different times, several in a row.
TEST(Collectives, AllTypesEndWhateverTheSizes) {
  std::mt19937 engine(5);
  const auto random = [&engine] { return static_cast<std::uint32_t>(engine()); };
  const std::vector<std::vector<Dimension>> networks{
      {{Topology::ring, 1, 50, 100}},
      {{Topology::ring, 2, 50, 100}},
      {{Topology::switch_, 8, 50, 100}},
      {{Topology::ring, 4, 50, 100}, {Topology::fully_connected, 2, 20, 700}},
      {{Topology::ring, 2, 50, 100}, {Topology::ring, 4, 20, 300}, {Topology::switch_, 2, 10, 900}}};
  for (const auto& dimensions : networks) {
    for (const CollectiveType type : all_types) {
      for (const std::string algorithm : {"ring", "direct", "direct2", "halvingDoubling", "doubleBinaryTree"}) {
        SimulationConfig config = on(dimensions);
        const std::uint32_t npus = config.network.npus();
        use(config, algorithm);
        if (type == CollectiveType::all_to_all) use(config, "ring");
        const bool is_rooted_or_all_reduce = type != CollectiveType::all_gather &&
                                             type != CollectiveType::reduce_scatter &&
                                             type != CollectiveType::reduce_scatter_block;
        if (algorithm == "doubleBinaryTree" && !is_rooted_or_all_reduce) continue;
        config.congestion = random() % 2 == 0;
        config.rendezvous_protocol = random() % 3 == 0;
        config.num_queues_per_dim = 1 + random() % 3;
        config.system.preferred_dataset_splits = 1 + random() % 5;
        config.system.active_chunks_per_dimension = 1 + random() % 3;
        config.system.endpoint_delay_ns = random() % 20;
        config.system.local_mem_bw = 100;
        if (random() % 2 == 0) config.system.collective_optimization = CollectiveOptimization::local_bw_aware;
        const std::int64_t sizes[] = {1, npus - 1, 37, 1000, 12'345};
        std::vector<TracePtr> traces;
        const std::int64_t bytes = sizes[random() % 5];
        const std::int64_t root = random() % npus;
        for (std::uint32_t r = 0; r < npus; ++r) {
          RankTrace trace;
          trace.compute(random() % 3000).then().collective(type, bytes, {}, root).then().collective(type, bytes);
          traces.push_back(trace.build());
        }
        const SimulationResult result = simulate(traces, config);
        EXPECT_EQ(testing::ended_nodes(result), npus * std::size_t{3}) << to_string(type) << " " << algorithm;
      }
    }
  }
}

TEST(Collectives, BroadcastOverAChainAStarAndABinomialTree) {
  SimulationConfig config = on({{Topology::switch_, 8, 50, 500}});
  const auto traces = same_on_all(8, RankTrace().collective(CollectiveType::broadcast, 1 << 20).build());
  const std::uint64_t hop = config.network.delay(0, 1, 1 << 20);
  const auto last = [&](const std::string& algorithm) {
    use(config, algorithm);
    const SimulationResult result = simulate(traces, config);
    return *std::max_element(result.finish_ns.begin(), result.finish_ns.end());
  };
  EXPECT_EQ(last("ring"), 7 * hop);
  EXPECT_EQ(last("direct"), hop);
  EXPECT_EQ(last("halvingDoubling"), 3 * hop);
  EXPECT_EQ(last("doubleBinaryTree"), 3 * hop);
}

TEST(Collectives, ScatterAndGatherCarryWhatIsLeftForTheRest) {
  SimulationConfig config = on({{Topology::switch_, 4, 50, 500}});
  const auto net = [&](std::uint64_t bytes) { return config.network.delay(0, 1, bytes); };
  const auto scatter = same_on_all(4, RankTrace().collective(CollectiveType::scatter, 4 << 20).build());
  EXPECT_EQ(simulate(scatter, config).finish_ns[3], net(3 << 20) + net(2 << 20) + net(1 << 20));
  const auto gather = same_on_all(4, RankTrace().collective(CollectiveType::gather, 1 << 20).build());
  EXPECT_EQ(simulate(gather, config).finish_ns[0], net(1 << 20) + net(2 << 20) + net(3 << 20));
}

TEST(Collectives, NobodyLeavesABarrierBeforeTheLastHasEntered) {
  for (const std::string algorithm : {"ring", "direct", "halvingDoubling", "doubleBinaryTree"}) {
    SimulationConfig config = on({{Topology::ring, 3, 50, 10}, {Topology::switch_, 4, 50, 20}});
    use(config, algorithm);
    for (std::uint32_t late = 0; late < 12; ++late) {
      std::vector<std::uint64_t> skew(12, 1);
      skew[late] = 1'000'000;
      if (algorithm == "halvingDoubling" || algorithm == "ring" || late % 5 == 0) {
        const SimulationResult result = simulate(skewed_collective(CollectiveType::barrier, 0, skew), config);
        EXPECT_GE(*std::min_element(result.finish_ns.begin(), result.finish_ns.end()), 1'000'000U);
      }
    }
  }
}

TEST(Collectives, RootOutsideTheGroupOrUnknownTypeIsRefused) {
  const SimulationConfig config = on({{Topology::ring, 2, 50, 10}});
  EXPECT_THROW(simulate(same_on_all(2, RankTrace().collective(CollectiveType::broadcast, 64, {}, 2).build()), config),
               SimulationError);
  EXPECT_THROW(simulate(same_on_all(2, RankTrace().collective(static_cast<CollectiveType>(77), 64).build()), config),
               SimulationError);
}

TEST(Collectives, AbsurdSizesAreRefused) {
  SimulationConfig config = on({{Topology::ring, 4, 50, 10}});
  const auto huge = std::numeric_limits<std::int64_t>::max();
  const auto traces = same_on_all(4, RankTrace().collective(CollectiveType::all_gather, huge).build());
  for (const bool parity : {false, true}) {
    config.parity = parity;
    EXPECT_THROW(simulate(traces, config), SimulationError);
  }
}

TEST(Collectives, HalvingDoublingOfThreeRunsAsRingAndSaysSo) {
  SimulationConfig config = on({{Topology::switch_, 3, 50, 10}});
  const auto traces = same_on_all(3, RankTrace().collective(CollectiveType::all_reduce, 3000).build());
  const auto ring = simulate(traces, config).finish_ns;
  use(config, "halvingDoubling");
  config.system.all_to_all = {{}};
  const SimulationResult result = simulate(traces, config);
  EXPECT_EQ(result.finish_ns, ring);
  EXPECT_EQ(result.warnings.size(), 1U);
  config.parity = true;
  EXPECT_THROW(simulate(traces, config), SimulationError);
}

TEST(Collectives, RanksThatDisagreeAreNamed) {
  const SimulationConfig config = on({{Topology::ring, 2, 50, 10}});
  const std::vector<TracePtr> traces{RankTrace().collective(CollectiveType::all_reduce, 64).build(),
                                     RankTrace().compute(5).collective(CollectiveType::all_gather, 64).build()};
  try {
    simulate(traces, config);
    ADD_FAILURE();
  } catch (const SimulationError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("rank 0 issued node 0, ALL_REDUCE of 64 bytes"), std::string::npos) << text;
    EXPECT_NE(text.find("rank 1 issued node 1, ALL_GATHER of 64 bytes"), std::string::npos) << text;
  }
}

/// T34: chunks that come back meet chunks on their way out in the middle dimension.
TEST(Collectives, T34SkewedRanksInThreeDimensionsEnd) {
  std::mt19937 random(34);
  for (int round = 0; round < 100; ++round) {
    SimulationConfig config =
        on({{Topology::ring, 4, 50, 100}, {Topology::ring, 2, 50, 1000}, {Topology::ring, 2, 50, 300}});
    config.system.preferred_dataset_splits = 8;
    config.system.collective_optimization = CollectiveOptimization::local_bw_aware;
    config.system.endpoint_delay_ns = 10;
    std::vector<std::uint64_t> skew(16);
    for (std::uint64_t& delay : skew) delay = random() % 20'000;
    const auto traces = skewed_collective(CollectiveType::all_reduce, 1 << 20, skew);
    EXPECT_NO_THROW(simulate(traces, config)) << "round " << round;
  }
}

}  // namespace
}  // namespace chakra
