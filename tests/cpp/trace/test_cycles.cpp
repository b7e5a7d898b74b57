// SPDX-License-Identifier: MIT
#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "trace/cycles.hpp"
#include "traces.hpp"

namespace chakra {
namespace {

using namespace chakra::test;
using Cycles = std::vector<std::vector<NodeId>>;

TEST(Cycles, AcyclicHasNone) { EXPECT_EQ(find_cycles(*make_trace({{1}, {2, {1}}, {3, {1, 2}, {1}}})), Cycles{}); }

TEST(Cycles, RingAndSelfDependencyAreFoundWithoutTheFreeNode) {
  const TracePtr trace = make_trace({{1, {3}}, {2, {1}}, {3, {2}}, {4}, {5, {5}}});
  EXPECT_EQ(find_cycles(*trace), (Cycles{{1, 3, 2}, {5}}));
}

TEST(Cycles, EachNodeWaitsForTheNext) {
  const TracePtr trace = make_trace({{10, {}, {30}}, {20, {10}}, {30, {20}}});
  for (const auto& cycle : find_cycles(*trace)) {
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      const NodeIndex row = *trace->find(cycle[i]);
      const NodeIndex next = *trace->find(cycle[(i + 1) % cycle.size()]);
      const auto data = trace->data_deps()[row];
      const auto ctrl = trace->ctrl_deps()[row];
      EXPECT_TRUE(std::count(data.begin(), data.end(), next) + std::count(ctrl.begin(), ctrl.end(), next) > 0);
    }
  }
}

TEST(Cycles, ShortestThroughTheSmallestRowIsCutAtInnerCycles) {
  // 1 -> 2 -> 3 -> 4 -> 1, and 3 -> 2 closes {2, 3}.
  EXPECT_EQ(find_cycles(*make_trace({{1, {2}}, {2, {3}}, {3, {4, 2}}, {4, {1}}})), (Cycles{{2, 3}}));
  EXPECT_EQ(find_cycles(*make_trace({{1, {2}}, {2, {3}}, {3, {1, 3}}})), (Cycles{{3}}));
}

TEST(Cycles, OnlyTheFollowedDependenciesCount) {
  const TracePtr trace = make_trace({{1, {2}}, {2, {}, {1}}});
  EXPECT_EQ(detail::minimal_cycles(*trace, true, true, 9).size(), 1U);
  EXPECT_EQ(detail::minimal_cycles(*trace, true, false, 9).size(), 0U);
  EXPECT_EQ(detail::minimal_cycles(*trace, false, true, 9).size(), 0U);
}

TEST(Cycles, AtMostSoManyAreLookedFor) {
  const TracePtr trace = make_trace({{1, {1}}, {2, {2}}, {3, {3}}});
  EXPECT_EQ(detail::minimal_cycles(*trace, true, true, 2).size(), 2U);
}

TEST(Cycles, AMillionNodesInOneRingNeedNoRecursion) {
  std::vector<Plain> nodes;
  constexpr NodeId size = 1'000'000;
  for (NodeId id = 0; id < size; ++id) {
    nodes.push_back({id, {(id + 1) % size}});
  }
  const TracePtr trace = make_trace(nodes);
  const auto cycles = find_cycles(*trace);
  ASSERT_EQ(cycles.size(), 1U);
  EXPECT_EQ(cycles[0].size(), size);
  EXPECT_LT(validate(*trace).problems()[0].message.size(), 1000U);
}

/// Ids of the nodes that can reach themselves, by plain search from each.
std::set<NodeId> on_a_cycle(const Trace& trace) {
  std::set<NodeId> found;
  for (NodeIndex start = 0; start < trace.size(); ++start) {
    std::vector<bool> seen(trace.size());
    std::vector<NodeIndex> open = {start};
    while (!open.empty()) {
      const NodeIndex row = open.back();
      open.pop_back();
      for (const NodeIndex parent : trace.data_deps()[row]) {
        if (parent == start) {
          found.insert(trace.ids()[start]);
        }
        if (!seen[parent]) {
          seen[parent] = true;
          open.push_back(parent);
        }
      }
    }
  }
  return found;
}

bool has_edge(const Trace& trace, NodeId from, NodeId to) {
  const auto parents = trace.data_deps()[*trace.find(from)];
  return std::find(parents.begin(), parents.end(), *trace.find(to)) != parents.end();
}

TEST(Cycles, RandomGraphsGiveMinimalCyclesOnlyOfNodesThatReachThemselves) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const NodeId size = 2 + random() % 12;
    std::vector<Plain> nodes;
    for (NodeId id = 0; id < size; ++id) {
      nodes.push_back({id, {}});
      while (random() % 5 < 2) {
        nodes.back().data.push_back(random() % size);
      }
    }
    const TracePtr trace = make_trace(nodes);
    const auto cycles = find_cycles(*trace);
    const auto expected = on_a_cycle(*trace);
    EXPECT_EQ(cycles.empty(), expected.empty());
    for (const auto& cycle : cycles) {
      for (std::size_t i = 0; i < cycle.size(); ++i) {
        ASSERT_TRUE(expected.contains(cycle[i]));
        // Minimal: the only edges among its members are those of the cycle itself.
        for (std::size_t j = 0; j < cycle.size(); ++j) {
          ASSERT_EQ(has_edge(*trace, cycle[i], cycle[j]), j == (i + 1) % cycle.size()) << "round " << round;
        }
      }
    }
  }
}

}  // namespace
}  // namespace chakra
