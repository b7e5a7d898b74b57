// SPDX-License-Identifier: MIT
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "sim/workload.hpp"

namespace chakra {
namespace {

using testing::on;
using testing::RankTrace;

constexpr CollectiveType ar = CollectiveType::all_reduce;

struct Times {
  std::uint64_t start = 0;
  std::uint64_t end = 0;

  bool operator==(const Times&) const = default;
};

class Recorder final : public SimulationObserver {
 public:
  void node_started(std::uint32_t rank, NodeIndex row, std::uint64_t now) override {
    tell(now);
    EXPECT_TRUE(nodes.emplace(std::pair(rank, row), Times{now, 0}).second);
  }
  void node_ended(std::uint32_t rank, NodeIndex row, std::uint64_t now) override {
    tell(now);
    nodes.at({rank, row}).end = now;
  }
  void collective_started(const ObservedCollective& collective, std::uint64_t now) override {
    tell(now);
    EXPECT_TRUE(collectives.emplace(std::pair(std::string(collective.group), collective.number), Times{now, 0}).second);
  }
  void collective_ended(const ObservedCollective& collective, std::uint64_t now) override {
    tell(now);
    collectives.at({std::string(collective.group), collective.number}).end = now;
    bytes += collective.size;
  }
  void restarted() override {
    nodes.clear();
    collectives.clear();
    last = bytes = 0;
    ++restarts;
  }

  std::map<std::pair<std::uint32_t, NodeIndex>, Times> nodes;
  std::map<std::pair<std::string, std::uint64_t>, Times> collectives;
  std::uint64_t last = 0;
  std::uint64_t bytes = 0;
  int restarts = 0;

 private:
  void tell(std::uint64_t now) {
    EXPECT_GE(now, last);
    last = now;
  }
};

void expect_told(const Recorder& told, const SimulationResult& result) {
  std::map<std::pair<std::uint32_t, NodeIndex>, Times> nodes;
  for (std::uint32_t rank = 0; rank < result.finish_ns.size(); ++rank) {
    for (std::size_t i = result.first_node[rank]; i < result.first_node[rank + 1]; ++i) {
      const auto row = static_cast<NodeIndex>(i - result.first_node[rank]);
      nodes[{rank, row}] = {result.node_start_ns[i], result.node_end_ns[i]};
    }
  }
  EXPECT_EQ(told.nodes, nodes);
  std::map<std::pair<std::string, std::uint64_t>, Times> collectives;
  const CollectiveColumns& table = result.collectives;
  for (std::size_t i = 0; i < table.group.size(); ++i) {
    collectives[{result.groups[table.group[i]].name, table.number[i]}] = {table.start_ns[i], table.end_ns[i]};
  }
  EXPECT_EQ(told.collectives, collectives);
}

TEST(Observer, IsToldWhatTheResultSays) {
  SimulationConfig config = on({{Topology::ring, 4, 50, 500}});
  config.groups = {{"low", {0, 1}}, {"high", {2, 3}}};
  std::vector<TracePtr> traces;
  for (std::uint64_t r = 0; r < 4; ++r) {
    RankTrace trace;
    trace.compute(100 * r).then().collective(ar, 4096, r < 2 ? "low" : "high").then().collective(ar, 64).then();
    traces.push_back(trace.empty(NodeType::metadata).build());
  }
  for (const Fidelity fidelity : {Fidelity::automatic, Fidelity::phase, Fidelity::message}) {
    Recorder told;
    config.observer = &told;
    config.fidelity = fidelity;
    const SimulationResult result = simulate(traces, config);
    expect_told(told, result);
    EXPECT_EQ(told.bytes, 4096U * 2 + 64);
    EXPECT_EQ(told.restarts, 0);
  }
}

TEST(Observer, IsToldOfAllRanksThatWouldBeFolded) {
  SimulationConfig config = on({{Topology::ring, 4, 50, 500}});
  const std::vector<TracePtr> traces(4, RankTrace().compute(7).then().collective(ar, 4096).build());
  EXPECT_EQ(simulate(traces, config).folded_ranks, 3U);
  Recorder told;
  config.observer = &told;
  const SimulationResult result = simulate(traces, config);
  EXPECT_EQ(result.folded_ranks, 0U);
  EXPECT_EQ(told.nodes.size(), 8U);
  expect_told(told, result);
}

TEST(Observer, IsToldThatARunBeginsAgain) {
  SimulationConfig config = on({{Topology::switch_, 4, 50, 500}});
  testing::use(config, "direct");
  Recorder told;
  config.observer = &told;
  const SimulationResult result = simulate(testing::skewed_collective(ar, 1 << 20, {1, 1, 1, 1}), config);
  EXPECT_NE(result.order_mattered, "");
  EXPECT_EQ(told.restarts, 1);
  expect_told(told, result);
}

TEST(Observer, ItsExceptionsEndTheRun) {
  class Thrower final : public SimulationObserver {
    void node_ended(std::uint32_t, NodeIndex, std::uint64_t) override { throw std::runtime_error("enough"); }
  } thrower;
  SimulationConfig config = on({{Topology::ring, 1, 50, 500}});
  config.observer = &thrower;
  EXPECT_THROW(simulate(std::vector<TracePtr>{RankTrace().compute(7).build()}, config), std::runtime_error);
}

}  // namespace
}  // namespace chakra
