// SPDX-License-Identifier: MIT
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "chakra_core/feeder.hpp"
#include "random_graph.hpp"
#include "trace/sort_rows.hpp"

namespace chakra {
namespace {

using namespace chakra::test;
using By = IssueOrder::By;

struct NamedOrder {
  const char* name;
  IssueOrder order;
  std::function<bool(const GraphNode&, const GraphNode&)> before;
};

auto priority_key(const GraphNode& node, bool smallest_first) {
  const std::int64_t value = node.priority.value_or(0);
  return std::tuple(!node.priority.has_value(), smallest_first ? value : -value, node.id);
}

std::vector<NamedOrder> orders() {
  const auto by_priority = [](const GraphNode& one, const GraphNode& other) {
    return priority_key(one, false) < priority_key(other, false);
  };
  return {
      {"id", {}, [](const GraphNode& one, const GraphNode& other) { return one.id < other.id; }},
      {"start",
       {.by = By::start_time},
       [](const GraphNode& one, const GraphNode& other) {
         return std::pair(one.start_ns, one.id) < std::pair(other.start_ns, other.id);
       }},
      {"file", {.by = By::file}, [](const GraphNode& one, const GraphNode& other) { return &one < &other; }},
      {"priority", {.by = By::attribute, .attribute = "comm_priority"}, by_priority},
      {"attribute without a column", {.by = By::attribute, .attribute = "my_rank"}, by_priority},
      {"smallest priority",
       {.by = By::attribute, .attribute = "comm_priority", .smallest_first = true},
       [](const GraphNode& one, const GraphNode& other) {
         return priority_key(one, true) < priority_key(other, true);
       }},
  };
}

TEST(IssueOrder, EachIsTheTopologicalOrderThatItDefines) {
  std::mt19937_64 random(31);
  for (int round = 0; round < 24; ++round) {
    const auto file = static_cast<GraphShape::File>(round % 4);
    const auto nodes = random_graph(random, {.sparse_ids = round % 3 == 0, .file = file});
    const TracePtr trace = make_trace(nodes);
    for (const DependencyKind kind : {DependencyKind::both, DependencyKind::data, DependencyKind::control}) {
      for (const NamedOrder& by : orders()) {
        Feeder feeder(trace, {kind, by.order});
        const auto expected = plain_order(nodes, kind, by.before);
        ASSERT_EQ(drain(feeder), expected) << by.name << ", round " << round;
        feeder.reset();
        ASSERT_EQ(drain(feeder), expected) << by.name << ", again";
      }
    }
  }
}

TEST(IssueOrder, ByComparatorWithTiesById) {
  std::mt19937_64 random(32);
  const auto nodes = random_graph(random, {.nodes = 80});
  const TracePtr trace = make_trace(nodes);
  Feeder feeder(trace, {.order = {.by = By::comparator, .before = [&](NodeIndex one, NodeIndex other) {
                                    return nodes[one].start_ns % 3000 > nodes[other].start_ns % 3000;
                                  }}});
  EXPECT_EQ(drain(feeder), plain_order(nodes, DependencyKind::both, [](const GraphNode& one, const GraphNode& other) {
              return std::tuple(other.start_ns % 3000, one.id) < std::tuple(one.start_ns % 3000, other.id);
            }));
}

TEST(IssueOrder, WhatBecameReadyComesInOrder) {
  std::vector<GraphNode> nodes = {{.id = 9}};
  for (const NodeId id : std::vector<NodeId>{4, 8, 1, 6}) {
    nodes.push_back({.id = id, .data = {9}, .start_ns = id % 4 * 1000});
  }
  const TracePtr trace = make_trace(nodes);
  const auto freed = [&](const IssueOrder& order) {
    Feeder feeder(trace, {.order = order});
    std::vector<NodeIndex> rows = {77};
    feeder.complete(*feeder.pop(), rows);
    std::vector<NodeId> ids;
    for (std::size_t i = 1; i < rows.size(); ++i) {
      ids.push_back(trace->ids()[rows[i]]);
    }
    return ids;
  };
  EXPECT_EQ(freed({}), (std::vector<NodeId>{1, 4, 6, 8}));
  EXPECT_EQ(freed({.by = By::file}), (std::vector<NodeId>{4, 8, 1, 6}));
  EXPECT_EQ(freed({.by = By::start_time}), (std::vector<NodeId>{4, 8, 1, 6}));
}

TEST(IssueOrder, SaysWhatItLacks) {
  const TracePtr trace = make_trace(std::vector<GraphNode>{{.id = 1}, {.id = 2}});
  EXPECT_THROW(Feeder(trace, {.order = {.by = By::attribute}}), ChakraError);
  EXPECT_THROW(Feeder(trace, {.order = {.by = By::comparator}}), ChakraError);
  TraceBuilder builder;
  const std::vector<Attribute> attributes = {make_string("urgency", "high")};
  builder.add_node({.id = 7, .attributes = attributes});
  try {
    Feeder feeder(builder.build(), {.order = {.by = By::attribute, .attribute = "urgency"}});
    FAIL() << "no error";
  } catch (const ChakraError& error) {
    EXPECT_NE(std::string(error.what()).find("node 7: attribute urgency"), std::string::npos) << error.what();
  }
}

TEST(SortRows, AgreesWithAStableSort) {
  std::mt19937_64 random(33);
  for (const unsigned bits : {1U, 8U, 11U, 12U, 40U, 64U}) {
    std::vector<std::uint64_t> keys(3000);
    detail::Column<NodeIndex> rows(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      keys[i] = (random() >> (64 - bits)) << (bits == 12 ? 50 : 0);
      rows[i] = static_cast<NodeIndex>(i);
    }
    std::shuffle(rows.begin(), rows.end(), random);
    auto expected = rows;
    std::stable_sort(expected.begin(), expected.end(), [&](NodeIndex a, NodeIndex b) { return keys[a] < keys[b]; });
    detail::sort_rows(rows, keys);
    ASSERT_EQ(rows, expected) << bits;
  }
}

}  // namespace
}  // namespace chakra
