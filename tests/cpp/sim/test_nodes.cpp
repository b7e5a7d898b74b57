// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "sim/workload.hpp"

namespace chakra {
namespace {

using testing::on;
using testing::RankTrace;

SimulationConfig one_npu() { return on({{Topology::ring, 1, 50, 500}}); }

SimulationResult run(RankTrace trace, const SimulationConfig& config) {
  const std::vector<TracePtr> traces{trace.build()};
  return simulate(traces, config);
}

using Times = std::vector<std::uint64_t>;

TEST(Nodes, OneSlotEachForHostAndDevice) {
  const SimulationResult result =
      run(std::move(RankTrace().compute(10).compute(20, true).compute(30).compute(5, true)), one_npu());
  EXPECT_EQ(result.node_start_ns, (Times{0, 0, 10, 20}));
  EXPECT_EQ(result.node_end_ns, (Times{10, 20, 40, 25}));
  EXPECT_EQ(result.compute_ns[0], 40U);
  EXPECT_EQ(result.cpu_ns[0], 25U);
  EXPECT_EQ(result.idle_ns[0], 0U);
  EXPECT_EQ(result.node_places[0]->resource[1], Resource::cpu);
}

TEST(Nodes, DependenciesHoldAndTheSmallestIdGoesFirst) {
  RankTrace trace;
  trace.compute(10).after({0}).compute(1).after({}).compute(2).after({2}).compute(3);
  // 0 first; then 2 waits for the slot, and at 10 both 1 and 2 are ready.
  const SimulationResult result = run(std::move(trace), one_npu());
  EXPECT_EQ(result.node_start_ns, (Times{0, 10, 11, 13}));
}

TEST(Nodes, ZeroDurationTakesANanosecondInParityOnly) {
  SimulationConfig config = one_npu();
  EXPECT_EQ(run(std::move(RankTrace().compute(0).then().compute(0)), config).finish_ns[0], 0U);
  config.parity = true;
  EXPECT_EQ(run(std::move(RankTrace().compute(0).then().compute(0)), config).finish_ns[0], 2U);
}

TEST(Nodes, MetadataAndInvalidTakeNoTimeAndHoldNothingUp) {
  SimulationConfig config = one_npu();
  const auto trace = [] {
    RankTrace t;
    t.empty(NodeType::metadata).then().empty(NodeType::invalid).then().compute(5).then().empty(NodeType::invalid);
    return t;
  };
  const SimulationResult result = run(trace(), config);
  EXPECT_EQ(result.finish_ns[0], 5U);
  EXPECT_EQ(testing::ended_nodes(result), 4U);
  config.parity = true;
  EXPECT_THROW(run(trace(), config), SimulationError);
}

TEST(Nodes, AnEmptyTraceIsFinishedAtOnce) { EXPECT_EQ(run(RankTrace(), one_npu()).finish_ns, Times{0}); }

TEST(Nodes, RooflineTakesTheLargerOfComputeAndMemoryTime) {
  SimulationConfig config = one_npu();
  config.system.roofline_enabled = true;
  config.system.peak_perf = 0.5;  // 500 operations a ns
  config.system.local_mem_bw = 50;
  const auto ns = [&](std::optional<std::int64_t> operations, std::optional<std::int64_t> bytes) {
    return run(std::move(RankTrace().roofline(operations, bytes)), config).finish_ns[0];
  };
  EXPECT_EQ(ns(1'000'000, 50), 2000U);
  EXPECT_EQ(ns(10, 50'000), 1000U);
  EXPECT_EQ(ns(0, 50'000), 1000U);
  EXPECT_EQ(ns(1'000'000, 0), 2000U);
  EXPECT_EQ(ns(0, 0), 0U);
  EXPECT_EQ(ns(1'000'000, std::nullopt), 2000U);
  EXPECT_EQ(ns(std::nullopt, std::nullopt), 7000U) << "nothing to model: the recorded time";
  config.parity = true;
  EXPECT_EQ(ns(1'000'000, 0), 0U);
}

TEST(Nodes, ReplayTakesTheRecordedTimeOfEveryNode) {
  SimulationConfig config = one_npu();
  config.system.replay_only = true;
  RankTrace trace;
  trace.compute(10).then().add(NodeType::comm_coll, 300, {}).then().add(NodeType::comm_send, 20, {});
  EXPECT_EQ(run(std::move(trace), config).finish_ns[0], 330U);
}

TEST(Nodes, MemoryServersServeOneAfterTheOther) {
  const auto finish = [](MemoryConfig memory) {
    SimulationConfig config = on({{Topology::ring, 4, 50, 500}});
    config.memory = memory;
    const std::vector<TracePtr> traces(4, RankTrace().memory(1000).then().memory(1000).build());
    return simulate(traces, config).finish_ns;
  };
  // An access takes 7 + 100 ns.
  EXPECT_EQ(finish({MemoryType::per_npu, 7, 10}), Times(4, 214));
  EXPECT_EQ(finish({MemoryType::pool, 7, 10}), (Times{5 * 107, 6 * 107, 7 * 107, 8 * 107}));
  EXPECT_EQ(finish({MemoryType::per_node, 7, 10, 2, 2}), (Times{3 * 107, 4 * 107, 3 * 107, 4 * 107}));
  EXPECT_THROW(finish({MemoryType::none}), SimulationError);
  EXPECT_THROW(finish({MemoryType::pool, 7, 0}), ConfigError);
}

TEST(Nodes, ExposedCommunicationIsWhatNoComputationCovers) {
  const SimulationConfig config = on({{Topology::ring, 2, 50, 500}});
  RankTrace trace;
  trace.compute(300).collective(CollectiveType::all_reduce, 2).then().compute(100);
  const std::vector<TracePtr> traces(2, trace.build());
  const SimulationResult result = simulate(traces, config);
  // The all-reduce takes 2 * 500 ns beside the computation of 300.
  EXPECT_EQ(result.finish_ns[0], 1100U);
  EXPECT_EQ(result.comm_ns[0], 1000U);
  EXPECT_EQ(result.compute_ns[0], 400U);
  EXPECT_EQ(result.exposed_comm_ns[0], 700U);
  EXPECT_EQ(result.finish_minus_compute_ns[0], 700U);
  EXPECT_EQ(result.idle_ns[0], 0U);
}

TEST(Nodes, CommunicationFlaggedForTheHostRunsByDefault) {
  SimulationConfig config = on({{Topology::ring, 2, 50, 500}});
  RankTrace trace;
  trace.add(NodeType::comm_coll, 0,
            {make_bool("is_cpu_op", true), make_int64("comm_type", 0), make_int64("comm_size", 64)});
  const std::vector<TracePtr> traces(2, trace.build());
  EXPECT_EQ(simulate(traces, config).finish_ns[0], 2 * config.network.delay(0, 1, 32));
  config.parity = true;
  EXPECT_THROW(simulate(traces, config), SimulationError);
}

TEST(Nodes, MissingAndNegativeAttributesAreNamed) {
  const SimulationConfig config = on({{Topology::ring, 2, 50, 500}});
  const auto message = [&](NodeType type, std::vector<Attribute> attributes) {
    const std::vector<TracePtr> traces(2, RankTrace().add(type, 0, std::move(attributes)).build());
    try {
      simulate(traces, config);
    } catch (const SimulationError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message(NodeType::comm_coll, {make_int64("comm_type", 0)}),
            "rank 0: node 0 \"node0\" (COMM_COLL_NODE): attribute comm_size is missing");
  EXPECT_EQ(message(NodeType::comm_coll, {make_int64("comm_type", 0), make_int64("comm_size", -5)}),
            "rank 0: node 0 \"node0\" (COMM_COLL_NODE): attribute comm_size is -5; it must not be negative");
  EXPECT_EQ(message(NodeType::comm_send, {make_int64("comm_dst", 2), make_int64("comm_size", 5)}),
            "rank 0: node 0 \"node0\" (COMM_SEND_NODE): comm_dst is 2, but the network has 2 NPUs");
  EXPECT_NE(message(NodeType::comm_send, {make_int64("comm_src", 1), make_int64("comm_dst", 1)}), "");
}

TEST(Nodes, NumberOfTracesMustBeThatOfNpus) {
  const SimulationConfig config = on({{Topology::ring, 16, 50, 500}});
  const std::vector<TracePtr> traces(8, RankTrace().build());
  EXPECT_THROW(simulate(traces, config), ConfigError);
}

TEST(Nodes, CancelledByProgress) {
  SimulationConfig config = on({{Topology::ring, 64, 50, 500}});
  config.fidelity = Fidelity::message;
  const std::vector<TracePtr> traces(64, RankTrace().collective(CollectiveType::all_reduce, 1 << 20).build());
  Progress progress;
  EXPECT_NO_THROW(simulate(traces, config, &progress));
  EXPECT_EQ(progress.done, 64U);
  EXPECT_EQ(progress.total, 64U);
  progress.cancel = true;
  EXPECT_THROW(simulate(traces, config, &progress), Cancelled);
}

}  // namespace
}  // namespace chakra
