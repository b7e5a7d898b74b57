// SPDX-License-Identifier: MIT
#include <random>

#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "chakra_core/replay.hpp"
#include "chakra_core/trace_builder.hpp"

namespace chakra {
namespace {

void add(TraceBuilder& builder, NodeId id, std::uint64_t start, std::uint64_t duration, std::vector<NodeId> data,
         std::vector<NodeId> ctrl = {}, std::vector<Attribute> attributes = {}, std::string_view name = "n") {
  NodeSpec node;
  node.id = id;
  node.name = name;
  node.type = NodeType::comp;
  node.start_ns = start;
  node.duration_ns = duration;
  node.data_deps = data;
  node.ctrl_deps = ctrl;
  node.attributes = attributes;
  builder.add_node(node);
}

TEST(Replay, ComparesWithTheRecord) {
  TraceBuilder builder;
  add(builder, 5, 0, 100, {});
  add(builder, 3, 150, 50, {5});  // 50 ns that nothing explains
  const ReplayReport report = replay(*builder.build());
  EXPECT_EQ(report.recorded_ns, 200U);
  EXPECT_EQ(report.replayed_ns, 150U);
  EXPECT_DOUBLE_EQ(report.total_error, -0.25);
  EXPECT_EQ(report.start_error_max_ns, 50U);
}

TEST(Replay, ControlDependenciesOnlyWhenAsked) {
  TraceBuilder builder;
  add(builder, 1, 0, 100, {});
  add(builder, 2, 0, 10, {}, {1});
  const TracePtr trace = builder.build();
  EXPECT_EQ(replay(*trace).replayed_ns, 100U);
  EXPECT_EQ(replay(*trace, ReplayDependencies::both).replayed_ns, 110U);
}

TEST(Replay, StreamsInversionsAndUnexplainedWaits) {
  const std::vector<Attribute> gpu = {make_bool("is_cpu_op", false), make_int64("stream", 7)};
  TraceBuilder builder;
  add(builder, 1, 0, 30'000, {}, {}, gpu, "lag");
  add(builder, 2, 30'000, 5, {1}, {}, gpu);
  add(builder, 3, 40'000, 5, {}, {}, gpu);  // replayed at 0, before its neighbour
  const ReplayReport report = replay(*builder.build());
  EXPECT_EQ(report.inversions, 1U);
  EXPECT_EQ(report.unexplained_device_waits, 1U);
  EXPECT_EQ(report.unexplained_device_wait_ns, 30'000U);
  EXPECT_EQ(report.start_error_by_stream.at(7), 40'000U);
  EXPECT_NE(report.text().find("inversions on streams: 1"), std::string::npos);
}

TEST(Replay, RefusesCycles) {
  TraceBuilder builder;
  add(builder, 1, 0, 1, {2});
  add(builder, 2, 0, 1, {1});
  EXPECT_THROW(replay(*builder.build()), DependencyError);
}

TEST(Replay, EmptyTrace) {
  const ReplayReport report = replay(*TraceBuilder().build());
  EXPECT_EQ(report.nodes, 0U);
  EXPECT_EQ(report.total_error, 0.0);
}

// The obvious recurrence, over nodes whose parents come in any order and may repeat.
TEST(Replay, AgreesWithTheRecurrence) {
  std::mt19937 random(11);
  for (int round = 0; round < 50; ++round) {
    const std::size_t count = 1 + random() % 40;
    std::vector<NodeId> ids(count);
    for (std::size_t i = 0; i < count; ++i) ids[i] = 7 * i;
    std::shuffle(ids.begin(), ids.end(), random);
    std::vector<std::uint64_t> end(count, 0);
    TraceBuilder builder;
    std::uint64_t latest = 0;
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<NodeId> parents;
      std::uint64_t start = 0;
      for (std::size_t p = 0; p < i; ++p) {
        if (random() % 4 != 0) continue;
        parents.push_back(ids[p]);
        if (random() % 3 == 0) parents.push_back(ids[p]);
        start = std::max(start, end[p]);
      }
      end[i] = start + random() % 1000;
      latest = std::max(latest, end[i]);
      add(builder, ids[i], start, end[i] - start, parents);
    }
    const ReplayReport report = replay(*builder.build());
    EXPECT_EQ(report.start_error_max_ns, 0U);
    EXPECT_EQ(report.replayed_ns, latest);
  }
}

}  // namespace
}  // namespace chakra
