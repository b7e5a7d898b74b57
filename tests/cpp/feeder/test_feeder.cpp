// SPDX-License-Identifier: MIT
#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "chakra_core/feeder.hpp"
#include "traces.hpp"

namespace chakra {
namespace {

using namespace chakra::test;
using Ids = std::vector<NodeId>;

/// The order when every node completes as soon as it was taken.
Ids drain(Feeder& feeder) {
  Ids order;
  while (const auto row = feeder.pop()) {
    order.push_back(feeder.trace().ids()[*row]);
    feeder.complete(*row);
  }
  return order;
}

Ids drain(const std::vector<Plain>& nodes, DependencyKind kind = DependencyKind::both) {
  Feeder feeder(make_trace(nodes), kind);
  return drain(feeder);
}

TEST(Feeder, EmptyTraceIsDone) {
  Feeder feeder(make_trace({}));
  EXPECT_TRUE(feeder.done());
  EXPECT_EQ(feeder.pop(), std::nullopt);
  EXPECT_EQ(feeder.peek(), std::nullopt);
}

TEST(Feeder, SmallestIdFirstWhateverTheFileOrder) {
  EXPECT_EQ(drain({{9}, {3}, {~NodeId{0}}, {0}}), (Ids{0, 3, 9, ~NodeId{0}}));
  EXPECT_EQ(drain({{5, {7}}, {7}, {6}}), (Ids{6, 7, 5}));
}

TEST(Feeder, KindsOfDependenciesThatCount) {
  const std::vector<Plain> nodes = {{1, {3}}, {2, {}, {3}}, {3}};
  EXPECT_EQ(drain(nodes), (Ids{3, 1, 2}));
  EXPECT_EQ(drain(nodes, DependencyKind::data), (Ids{2, 3, 1}));
  EXPECT_EQ(drain(nodes, DependencyKind::control), (Ids{1, 3, 2}));
}

TEST(Feeder, DoubledDependenciesCountOnce) {
  EXPECT_EQ(drain({{1}, {2, {1, 1}, {1, 1}}, {3, {2, 1, 2}}}), (Ids{1, 2, 3}));
}

TEST(Feeder, ANodeWaitsForAllItsParents) {
  Feeder feeder(make_trace({{1}, {2}, {3, {1}, {2}}}));
  const auto one = *feeder.pop();
  const auto two = *feeder.pop();
  EXPECT_EQ(feeder.pop(), std::nullopt);
  std::vector<NodeIndex> became_ready;
  feeder.complete(two, became_ready);
  EXPECT_TRUE(became_ready.empty());
  EXPECT_EQ(feeder.pop(), std::nullopt);
  feeder.complete(one, became_ready);
  EXPECT_EQ(became_ready, std::vector<NodeIndex>{2});
  EXPECT_EQ(feeder.pop(), 2U);
}

TEST(Feeder, CountsFollowEachStep) {
  Feeder feeder(make_trace({{1}, {2}, {3, {1}}}));
  EXPECT_EQ(feeder.ready(), 2U);
  EXPECT_EQ(feeder.ready_nodes(), (std::vector<NodeIndex>{0, 1}));
  EXPECT_EQ(feeder.peek(), 0U);
  EXPECT_EQ(feeder.peek(), 0U);
  (void)feeder.pop();
  EXPECT_EQ(feeder.ready(), 1U);
  EXPECT_EQ(feeder.in_flight(), 1U);
  EXPECT_EQ(feeder.remaining(), 3U);
  feeder.complete(0);
  EXPECT_EQ(feeder.ready(), 2U);
  EXPECT_EQ(feeder.in_flight(), 0U);
  EXPECT_EQ(feeder.remaining(), 2U);
  EXPECT_FALSE(feeder.done());
}

TEST(Feeder, PushBackReturnsANode) {
  Feeder feeder(make_trace({{1}, {2}, {3, {1}}}));
  (void)feeder.pop();
  EXPECT_EQ(feeder.pop(), 1U);
  feeder.push_back(0);
  EXPECT_EQ(feeder.in_flight(), 1U);
  EXPECT_EQ(feeder.pop(), 0U);
  feeder.push_back(1);
  feeder.complete(0);
  EXPECT_EQ(drain(feeder), (Ids{2, 3}));
  EXPECT_TRUE(feeder.done());
}

TEST(Feeder, OnlyNodesInFlightCompleteOrGoBack) {
  Feeder feeder(make_trace({{1}, {2, {1}}}));
  EXPECT_THROW(feeder.complete(0), ChakraError);
  EXPECT_THROW(feeder.push_back(1), ChakraError);
  EXPECT_THROW(feeder.complete(2), ChakraError);
  EXPECT_THROW(feeder.push_back(~NodeIndex{0}), ChakraError);
  (void)feeder.pop();
  feeder.complete(0);
  EXPECT_THROW(feeder.complete(0), ChakraError);
  EXPECT_THROW(feeder.push_back(0), ChakraError);
  EXPECT_EQ(feeder.remaining(), 1U);
  EXPECT_EQ(drain(feeder), Ids{2});
}

TEST(Feeder, CyclesEndWithTheirNodesNamed) {
  Feeder feeder(make_trace({{1, {3}}, {2, {1}}, {3, {2}}, {4}}));
  EXPECT_EQ(feeder.pop(), 3U);
  EXPECT_EQ(feeder.pop(), std::nullopt);  // something is in flight: no verdict yet
  feeder.complete(3);
  for (int again = 0; again < 2; ++again) {
    try {
      (void)feeder.pop();
      FAIL() << "no error";
    } catch (const DependencyError& error) {
      EXPECT_EQ(error.nodes(), (Ids{1, 3, 2}));
      EXPECT_NE(std::string(error.what()).find("3 of 4 nodes"), std::string::npos) << error.what();
    }
  }
  EXPECT_EQ(feeder.peek(), std::nullopt);
}

TEST(Feeder, ACycleOfTheOtherKindIsNone) {
  const std::vector<Plain> nodes = {{1, {2}}, {2, {}, {1}}};
  EXPECT_EQ(drain(nodes, DependencyKind::data), (Ids{2, 1}));
  EXPECT_EQ(drain(nodes, DependencyKind::control), (Ids{1, 2}));
  EXPECT_THROW(drain(nodes), DependencyError);
}

TEST(Feeder, ResetStartsOver) {
  Feeder feeder(make_trace({{3, {1}}, {1}, {2}}));
  const Ids first = drain(feeder);
  feeder.reset();
  (void)feeder.pop();
  feeder.reset();
  EXPECT_EQ(feeder.in_flight(), 0U);
  EXPECT_EQ(feeder.remaining(), 3U);
  EXPECT_EQ(drain(feeder), first);
}

TEST(Feeder, DependenciesStayReadableAfterAll) {
  const TracePtr trace = make_trace({{0}, {1, {0}}, {2, {1}}});
  Feeder feeder(trace);
  drain(feeder);
  EXPECT_EQ(trace->data_deps()[2][0], 1U);
}

TEST(Feeder, MovesWithItsState) {
  Feeder feeder(make_trace({{1}, {2, {1}}}));
  (void)feeder.pop();
  Feeder moved = std::move(feeder);
  moved.complete(0);
  EXPECT_EQ(drain(moved), Ids{2});
}

TEST(Feeder, MoreThanAMillionChildrenOfOneNode) {
  constexpr NodeId size = 1'050'576;
  TraceBuilder builder;
  builder.add_node({.id = 0});
  const std::vector<NodeId> parents = {0};
  for (NodeId id = 1; id <= size; ++id) {
    builder.add_node({.id = id, .data_deps = parents});
  }
  Feeder feeder(builder.build());
  EXPECT_EQ(feeder.ready(), 1U);
  const Ids order = drain(feeder);
  EXPECT_EQ(order.size(), size + 1);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(Feeder, ANodeWithAHundredThousandParents) {
  std::vector<Plain> nodes = {{0}};
  for (NodeId id = 1; id <= 100'000; ++id) {
    nodes.push_back({id});
    nodes[0].data.push_back(id);
    nodes[0].ctrl.push_back(id);
  }
  const Ids order = drain(nodes);
  EXPECT_EQ(order.size(), 100'001U);
  EXPECT_EQ(order.back(), 0U);
}

/// The definition, in quadratic time: again and again the smallest id whose parents all ran.
Ids plain_order(const std::vector<Plain>& nodes) {
  std::set<NodeId> ran;
  Ids order;
  while (order.size() < nodes.size()) {
    const Plain* next = nullptr;
    for (const Plain& node : nodes) {
      const auto has_run = [&](NodeId parent) { return ran.contains(parent); };
      if (!has_run(node.id) && std::all_of(node.data.begin(), node.data.end(), has_run) &&
          std::all_of(node.ctrl.begin(), node.ctrl.end(), has_run) && (next == nullptr || node.id < next->id)) {
        next = &node;
      }
    }
    ran.insert(next->id);
    order.push_back(next->id);
  }
  return order;
}

TEST(Feeder, RandomGraphsInTheOrderOfTheDefinition) {
  std::mt19937_64 random(23);
  for (int round = 0; round < 100; ++round) {
    std::vector<Plain> nodes;
    for (NodeId i = 0; i < 60; ++i) {
      nodes.push_back({round % 2 == 0 ? random() : (i * 37) % 60, {}, {}});
      for (NodeId parent = random() % 4; parent > 0 && i > 0; --parent) {
        (random() % 2 == 0 ? nodes.back().data : nodes.back().ctrl).push_back(nodes[random() % i].id);
      }
    }
    std::shuffle(nodes.begin(), nodes.end(), random);
    ASSERT_EQ(drain(nodes), plain_order(nodes)) << "round " << round;
  }
}

}  // namespace
}  // namespace chakra
