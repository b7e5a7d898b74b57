// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "sim/workload.hpp"

namespace chakra {
namespace {

using testing::on;
using testing::RankTrace;

using Times = std::vector<std::uint64_t>;
using Names = std::vector<std::string>;

/// Host node of a thread.
void host(RankTrace& trace, std::uint64_t duration_ns, std::int64_t tid, NodeType type = NodeType::comp) {
  trace.add(type, duration_ns, {make_bool("is_cpu_op", true), make_int64("tid", tid)});
}

void device(RankTrace& trace, std::uint64_t duration_ns, std::int64_t stream, NodeType type = NodeType::comp) {
  trace.add(type, duration_ns, {make_bool("is_cpu_op", false), make_int64("stream", stream)});
}

SimulationConfig one_npu() { return on({{Topology::ring, 1, 50, 500}}); }
SimulationConfig two_npus() { return on({{Topology::ring, 2, 50, 500}}); }

SimulationResult run(RankTrace& trace, const SimulationConfig& config) {
  const std::vector<TracePtr> traces(config.network.npus(), trace.build());
  return simulate(traces, config);
}

/// Lane of each node of the first rank.
Names lanes(const SimulationResult& result, std::size_t nodes) {
  Names names;
  for (std::size_t i = 0; i < nodes; ++i) names.push_back(result.lanes[result.node_places[0]->lane[i]]);
  return names;
}

TEST(Lanes, EveryThreadAndStreamHasASlot) {
  RankTrace trace;
  for (const std::int64_t number : {1, 2, 1}) host(trace, 10, number);
  for (const std::int64_t number : {7, 20, 7}) device(trace, 100, number);
  const SimulationResult result = run(trace, one_npu());
  EXPECT_EQ(result.node_start_ns, (Times{0, 0, 10, 0, 0, 100}));
  EXPECT_EQ(lanes(result, 6), (Names{"thread 1", "thread 2", "thread 1", "stream 7", "stream 20", "stream 7"}));
  EXPECT_EQ(result.cpu_ns[0], 20U) << "two threads at a time count once";
  EXPECT_EQ(result.compute_ns[0], 200U);
  EXPECT_EQ(result.idle_ns[0], 0U);
}

TEST(Lanes, OneSlotForWhatNamesNone) {
  RankTrace trace;
  trace.compute(10).compute(10, true).compute(10).compute(10, true);
  host(trace, 5, 3);
  device(trace, 5, 3);
  const SimulationResult result = run(trace, one_npu());
  EXPECT_EQ(result.node_start_ns, (Times{0, 0, 10, 10, 0, 0}));
  EXPECT_EQ(lanes(result, 6), (Names{"compute", "cpu", "compute", "cpu", "thread 3", "stream 3"}));
}

TEST(Lanes, StreamsOfDifferentDevicesAreDifferent) {
  RankTrace trace;
  for (const std::int64_t number : {0, 1, 1}) {
    trace.add(NodeType::comp, 10, {make_int64("stream", 7), make_int64("device", number)});
  }
  const SimulationResult result = run(trace, one_npu());
  EXPECT_EQ(result.node_start_ns, (Times{0, 0, 10}));
  EXPECT_EQ(result.lanes, (Names{"device 0 stream 7", "device 1 stream 7"}));
}

TEST(Lanes, CommunicationOfAStreamSharesItWithComputation) {
  RankTrace trace;
  device(trace, 300, 7);
  trace.add(NodeType::comm_coll, 0, {make_int64("comm_type", 0), make_int64("comm_size", 2), make_int64("stream", 7)});
  const SimulationResult result = run(trace, two_npus());
  EXPECT_EQ(result.node_start_ns, (Times{0, 300, 0, 300}));
  EXPECT_EQ(result.exposed_comm_ns[0], result.comm_ns[0]);
}

TEST(Lanes, OneSlotForTheCommunicationOfEachGroup) {
  SimulationConfig config = two_npus();
  config.groups = {{"tp", {0, 1}}};
  RankTrace trace;
  trace.collective(CollectiveType::all_reduce, 2).collective(CollectiveType::all_reduce, 2, "tp");
  trace.collective(CollectiveType::all_reduce, 2, "0").collective(CollectiveType::all_reduce, 2, "tp");
  const SimulationResult result = run(trace, config);
  EXPECT_EQ(lanes(result, 4), (Names{"comm", "comm tp", "comm", "comm tp"}));
  EXPECT_EQ(result.node_start_ns[0], 0U);
  EXPECT_EQ(result.node_start_ns[1], 0U);
  EXPECT_EQ(result.node_start_ns[2], result.node_end_ns[0]);
  EXPECT_EQ(result.node_start_ns[3], result.node_end_ns[1]);
}

TEST(Lanes, GroupsMayComeInAnotherOrderOnAnotherRank) {
  SimulationConfig config = two_npus();
  config.groups = {{"tp", {0, 1}}, {"dp", {0, 1}}};
  std::vector<TracePtr> traces;
  for (const bool tp_first : {true, false}) {
    RankTrace trace;
    for (const bool first : {true, false}) {
      trace.collective(CollectiveType::all_reduce, 2, first == tp_first ? "tp" : "dp");
    }
    traces.push_back(trace.compute(1'000'000).build());
  }
  const SimulationResult result = simulate(traces, config);
  EXPECT_EQ(result.node_end_ns, (Times{1000, 1000, 1'000'000, 1000, 1000, 1'000'000}));
}

TEST(Lanes, ConvertedTracesOrderTheirCommunicationByDependencies) {
  const auto starts = [](const std::string& layout) {
    TraceBuilder builder;
    builder.set_metadata({"0.0.4", {make_string("layout", layout)}});
    for (const NodeId id : {NodeId{0}, NodeId{1}, NodeId{2}}) {
      const std::vector<Attribute> attributes{make_int64("comm_type", 0), make_int64("comm_size", 2)};
      const std::vector<NodeId> parents = id == 2 ? std::vector<NodeId>{1} : std::vector<NodeId>{};
      builder.add_node({.id = id, .type = NodeType::comm_coll, .data_deps = parents, .attributes = attributes});
    }
    const std::vector<TracePtr> traces(2, builder.build());
    const Times all = simulate(traces, two_npus()).node_start_ns;
    return Times(all.begin(), all.begin() + 3);
  };
  // Issued at once, they take turns on the network.
  EXPECT_EQ(starts("exact"), (Times{0, 0, 2000}));
  EXPECT_EQ(starts("ops"), (Times{0, 0, 2000}));
  EXPECT_EQ(starts("other"), (Times{0, 1000, 2000}));
}

TEST(Lanes, PausesAreIdleTime) {
  RankTrace trace;
  const auto pause = [&](const std::string& name, std::vector<Attribute> attributes) {
    attributes.push_back(make_string("piece", "lag"));
    TraceBuilder builder;
    builder.add_node({.id = 0, .name = name, .type = NodeType::comp, .duration_ns = 30, .attributes = attributes});
    builder.add_node({.id = 1, .name = name, .type = NodeType::comp, .duration_ns = 30, .attributes = attributes});
    const std::vector<TracePtr> traces{builder.build()};
    return simulate(traces, one_npu());
  };
  const SimulationResult lag = pause("lag", {});
  EXPECT_EQ(lag.node_start_ns, (Times{0, 0})) << "before communication that no stream runs: waits for nobody";
  EXPECT_EQ(lag.compute_ns[0], 0U);
  EXPECT_EQ(lag.idle_ns[0], 30U);
  EXPECT_EQ(lag.node_places[0]->resource[0], Resource::none);
  const SimulationResult of_stream = pause("lag", {make_int64("stream", 7)});
  EXPECT_EQ(of_stream.node_start_ns, (Times{0, 30}));
  EXPECT_EQ(of_stream.idle_ns[0], 60U);
  EXPECT_EQ(pause("other", {}).compute_ns[0], 60U);
}

TEST(Lanes, MetadataThatAThreadSpentTimeOnTakesIt) {
  RankTrace trace;
  host(trace, 40, 1, NodeType::metadata);
  host(trace, 10, 1);
  trace.add(NodeType::metadata, 99, {make_bool("is_cpu_op", true)});
  const SimulationResult result = run(trace, one_npu());
  EXPECT_EQ(result.node_start_ns, (Times{0, 40, 0}));
  EXPECT_EQ(result.finish_ns[0], 50U);
  EXPECT_EQ(result.cpu_ns[0], 50U);
}

TEST(Lanes, MemoryHasItsOwn) {
  SimulationConfig config = one_npu();
  config.memory = {MemoryType::per_npu, 7, 10};
  RankTrace trace;
  trace.memory(1000).memory(1000).compute(10);
  const SimulationResult result = run(trace, config);
  EXPECT_EQ(result.node_start_ns, (Times{0, 107, 0}));
  EXPECT_EQ(lanes(result, 3), (Names{"memory", "memory", "compute"}));
}

TEST(Lanes, ReceivesWaitBesideEverythingUnlessAStreamRunsThem) {
  SimulationConfig config = two_npus();
  RankTrace sender;
  sender.compute(5000).then().send(1, 8, 0).send(1, 8, 1).send(1, 8, 2);
  RankTrace receiver;
  const auto receive = [&](std::int64_t tag, std::vector<Attribute> attributes) {
    for (const char* name : {"comm_src", "comm_size", "comm_tag"}) {
      const std::string text = name;
      attributes.push_back(make_int64(text, text == "comm_size" ? 8 : text == "comm_tag" ? tag : 0));
    }
    receiver.add(NodeType::comm_recv, 0, std::move(attributes));
  };
  receive(0, {});
  receive(1, {});
  receive(2, {make_int64("stream", 7)});
  device(receiver, 10, 7);
  receiver.compute(10);
  const std::vector<TracePtr> traces{sender.build(), receiver.build()};
  const SimulationResult result = simulate(traces, config);
  const Times starts(result.node_start_ns.begin() + 4, result.node_start_ns.end());
  EXPECT_EQ(starts, (Times{0, 0, 0, result.node_end_ns[6], 0}));
  EXPECT_EQ(result.lanes[result.node_places[1]->lane[0]], "receive");
  EXPECT_EQ(result.lanes[result.node_places[1]->lane[2]], "stream 7");
}

/// Two ranks whose workers began two all-reduces of different size in a different order.
std::vector<TracePtr> racing_workers(bool both_launched) {
  std::vector<TracePtr> traces;
  for (const std::int64_t rank : {0, 1}) {
    TraceBuilder builder;
    builder.set_metadata({"0.0.4", {make_string("layout", "exact")}});
    const auto host_node = [&](NodeId id, std::vector<NodeId> parents) {
      builder.add_node({.id = id,
                        .type = NodeType::comp,
                        .data_deps = parents,
                        .duration_ns = 10,
                        .attributes = std::vector<Attribute>{make_bool("is_cpu_op", true), make_int64("tid", 1)}});
    };
    const auto pause = [&](NodeId id, NodeId launch, std::uint64_t duration_ns) {
      builder.add_node({.id = id,
                        .name = "lag",
                        .type = NodeType::comp,
                        .data_deps = std::vector<NodeId>{launch},
                        .duration_ns = duration_ns,
                        .attributes = std::vector<Attribute>{make_string("piece", "lag")}});
    };
    const auto all_reduce = [&](NodeId id, NodeId parent, std::int64_t bytes) {
      builder.add_node(
          {.id = id,
           .type = NodeType::comm_coll,
           .data_deps = std::vector<NodeId>{parent},
           .attributes = std::vector<Attribute>{make_int64("comm_type", 0), make_int64("comm_size", bytes)}});
    };
    host_node(0, {});
    host_node(1, {0});
    pause(2, 0, rank == 0 ? 5 : 500);
    pause(3, 1, 20);
    // The first one launched has the smaller id on rank 0 only.
    if (both_launched) all_reduce(rank == 0 ? 4 : 9, 2, 2);
    all_reduce(5, 3, 4);
    traces.push_back(builder.build());
  }
  return traces;
}

TEST(LaunchOrder, HoldsForTheCollectivesOfAGroup) {
  for (const auto& slots :
       {std::optional<SlotCounts>{}, std::optional{SlotCounts{}}, std::optional{SlotCounts{1, 9, 9}}}) {
    SimulationConfig config = two_npus();
    config.slots = slots;
    const SimulationResult result = simulate(racing_workers(true), config);
    // Rows are in file order: the one launched first is the fifth.
    const std::uint64_t launched_first = result.node_start_ns[6 + 4];
    EXPECT_GE(launched_first, 510U);
    EXPECT_GE(result.node_start_ns[6 + 5], launched_first);
    EXPECT_EQ(testing::ended_nodes(result), 12U);
  }
}

TEST(LaunchOrder, OfOneCollectiveIsNoOrder) {
  const SimulationResult result = simulate(racing_workers(false), two_npus());
  EXPECT_EQ(result.node_start_ns[4], 40U);
}

TEST(LaunchOrder, AnOrderThatCannotBeKeptIsReported) {
  TraceBuilder builder;
  builder.set_metadata({"0.0.4", {make_string("layout", "exact")}});
  const std::vector<Attribute> host_attributes{make_bool("is_cpu_op", true), make_int64("tid", 1)};
  const std::vector<Attribute> attributes{make_int64("comm_type", 0), make_int64("comm_size", 2)};
  const std::vector<NodeId> none, first{0}, second{1}, both{0, 3};
  builder.add_node({.id = 0, .type = NodeType::comp, .data_deps = none, .attributes = host_attributes});
  builder.add_node({.id = 1, .type = NodeType::comp, .data_deps = first, .attributes = host_attributes});
  builder.add_node(
      {.id = 3, .name = "late", .type = NodeType::comm_coll, .data_deps = second, .attributes = attributes});
  builder.add_node(
      {.id = 4, .name = "early", .type = NodeType::comm_coll, .data_deps = both, .attributes = attributes});
  const std::vector<TracePtr> traces(2, builder.build());
  try {
    simulate(traces, two_npus());
    FAIL() << "must not end";
  } catch (const SimulationError& error) {
    const std::string text = error.what();
    EXPECT_NE(
        text.find("node 3 \"late\" (COMM_COLL_NODE) waits for a collective of its group that was launched before"),
        std::string::npos)
        << text;
    EXPECT_NE(text.find("node 4 \"early\" (COMM_COLL_NODE) waits for its parent node 3"), std::string::npos) << text;
  }
}

TEST(Counts, OfSlots) {
  RankTrace trace;
  for (const std::int64_t number : {1, 2, 3}) host(trace, 10, number);
  for (const std::int64_t number : {1, 2, 3}) device(trace, 10, number);
  SimulationConfig config = one_npu();
  config.slots = SlotCounts{2, 1, 1};
  const TracePtr built = trace.build();
  const std::vector<TracePtr> traces{built};
  const SimulationResult result = simulate(traces, config);
  EXPECT_EQ(result.node_start_ns, (Times{0, 0, 10, 0, 10, 20}));
  EXPECT_EQ(result.lanes, (Names{"cpu", "compute"}));
  config.slots = SlotCounts{};
  EXPECT_EQ(simulate(traces, config).node_start_ns, (Times{0, 10, 20, 0, 10, 20}));
  config.slots.reset();
  config.parity = true;
  EXPECT_EQ(simulate(traces, config).node_start_ns, (Times{0, 10, 20, 0, 10, 20}));
}

TEST(Counts, OfCommunication) {
  SimulationConfig config = two_npus();
  RankTrace trace;
  trace.collective(CollectiveType::all_reduce, 2).collective(CollectiveType::all_reduce, 2);
  const std::vector<TracePtr> traces(2, trace.build());
  config.slots = SlotCounts{};
  EXPECT_EQ(simulate(traces, config).node_start_ns, (Times{0, 1000, 0, 1000}));
  config.slots = SlotCounts{1, 1, 2};
  EXPECT_EQ(simulate(traces, config).node_start_ns, (Times{0, 0, 0, 0}));
}

TEST(Counts, WrongOnesAreRefused) {
  RankTrace trace;
  const std::vector<TracePtr> traces{trace.compute(1).build()};
  SimulationConfig config = one_npu();
  config.slots = SlotCounts{1, 0, 1};
  EXPECT_THROW(simulate(traces, config), ConfigError);
  config.slots = SlotCounts{1, 2, 1};
  EXPECT_NO_THROW(simulate(traces, config));
  config.parity = true;
  EXPECT_THROW(simulate(traces, config), ConfigError);
  config.slots = SlotCounts{};
  EXPECT_NO_THROW(simulate(traces, config));
  config.communication = CommunicationTimes::recorded;
  EXPECT_THROW(simulate(traces, config), ConfigError);
}

TEST(RecordedCommunication, TakesItsDurationOnEachRankByItself) {
  SimulationConfig config = two_npus();
  config.communication = CommunicationTimes::recorded;
  RankTrace first;
  first.compute(10).then().add(NodeType::comm_coll, 300, {make_string("pg_name", "unknown")});
  first.then().add(NodeType::comm_send, 20, {}).then().add(NodeType::comm_recv, 0, {});
  RankTrace second;
  second.add(NodeType::comm_recv, 7, {});
  const std::vector<TracePtr> traces{first.build(), second.build()};
  const SimulationResult result = simulate(traces, config);
  EXPECT_EQ(result.finish_ns, (Times{330, 7}));
  EXPECT_EQ(result.comm_ns, (Times{320, 7}));
  EXPECT_EQ(result.messages, 0U);
  EXPECT_EQ(result.warnings, Names{"1 communication nodes have no recorded time and took none"});
}

}  // namespace
}  // namespace chakra
