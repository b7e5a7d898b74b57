// SPDX-License-Identifier: MIT
#include <array>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "chakra_core/et_file.hpp"
#include "chakra_core/feeder.hpp"
#include "random_graph.hpp"
#include "scratch_directory.hpp"

namespace chakra {
namespace {

using namespace chakra::test;
using By = IssueOrder::By;
using Ids = std::vector<NodeId>;

constexpr std::array<std::size_t, 3> windows = {1, 2, 1000};

class Stream : public testing::Test {
 protected:
  std::filesystem::path file(const std::vector<GraphNode>& nodes, const char* name = "trace.et") {
    const auto path = directory_ / name;
    save(*make_trace(nodes), path);
    return path;
  }

  /// The file, without the nodes of some ids, whatever depends on them.
  std::filesystem::path file_without(const std::vector<GraphNode>& nodes, const std::set<NodeId>& absent) {
    const TracePtr trace = make_trace(nodes);
    const auto path = directory_ / "cut.et";
    std::ofstream out(path, std::ios::binary);
    const auto put = [&](std::string_view message) {
      std::uint64_t size = message.size();
      for (; size >= 0x80; size >>= 7) {
        out.put(static_cast<char>(size | 0x80));
      }
      out.put(static_cast<char>(size));
      out << message;
    };
    put(trace->metadata_record());
    for (NodeIndex row = 0; row < trace->size(); ++row) {
      if (!absent.contains(trace->ids()[row])) {
        put(trace->record(row));
      }
    }
    return path;
  }

  ScratchDirectory directory_;
};

std::vector<std::string> names_of_all_compressions() {
  std::vector<std::string> names = {"trace.et", "trace.et.gz"};
  if (has_zstd()) {
    names.push_back("trace.et.zst");
  }
  return names;
}

TEST_F(Stream, OrderIsThatOfTheWholeTrace) {
  std::mt19937_64 random(41);
  const std::vector<IssueOrder> orders = {{},
                                          {.by = By::start_time},
                                          {.by = By::file},
                                          {.by = By::attribute, .attribute = "comm_priority"},
                                          {.by = By::attribute, .attribute = "my_rank", .smallest_first = true}};
  for (int round = 0; round < 16; ++round) {
    const auto in_file = static_cast<GraphShape::File>(round % 4);
    const auto nodes =
        random_graph(random, {.nodes = 1 + random() % 120, .sparse_ids = round % 3 == 0, .file = in_file});
    for (const std::string& name : names_of_all_compressions()) {
      const auto path = file(nodes, name.c_str());
      const TracePtr whole = load(path);
      for (std::size_t i = 0; i < orders.size(); ++i) {
        Feeder expected(whole, {.order = orders[i]});
        const Ids order = drain(expected);
        for (const std::size_t window : windows) {
          Feeder feeder = Feeder::stream(path, {.order = orders[i]}, {.window = window});
          ASSERT_FALSE(feeder.done());
          if (orders[i].by != By::file) {
            ASSERT_EQ(feeder.remaining(), nodes.size());
          }
          ASSERT_EQ(drain(feeder), order) << name << ", order " << i << ", window " << window << ", round " << round;
          ASSERT_TRUE(feeder.done());
          ASSERT_EQ(feeder.statistics().nodes_read, nodes.size());
        }
      }
    }
  }
}

TEST_F(Stream, ManyBlocksInEveryFileOrder) {
  std::mt19937_64 random(42);
  for (const auto in_file :
       {GraphShape::File::in_order, GraphShape::File::nearly, GraphShape::File::shuffled, GraphShape::File::reversed}) {
    const auto nodes = random_graph(random, {.nodes = 9000, .sparse_ids = true, .reach = 3000, .file = in_file});
    const auto path = file(nodes, "trace.et.gz");
    Feeder whole(load(path));
    const Ids order = drain(whole);
    for (const std::size_t window : windows) {
      for (const unsigned threads : {1U, 3U}) {
        Feeder feeder = Feeder::stream(path, {}, {.window = window, .threads = threads});
        ASSERT_EQ(drain(feeder), order) << "window " << window;
      }
    }
  }
}

TEST_F(Stream, HoldsNoMoreThanTheWindowAndWhatIsOpen) {
  std::vector<GraphNode> nodes;
  for (NodeId id = 0; id < 20'000; ++id) {
    nodes.push_back({.id = id, .data = id == 0 ? Ids{} : Ids{id - 1}});
  }
  const auto path = file(nodes);
  for (const std::size_t window : windows) {
    Feeder feeder = Feeder::stream(path, {}, {.window = window});
    EXPECT_EQ(drain(feeder).size(), nodes.size());
    const StreamStatistics statistics = feeder.statistics();
    EXPECT_LE(statistics.most_held, window + 1);
    EXPECT_EQ(statistics.forward_references, 0U);
    EXPECT_EQ(statistics.read_on_for_dependencies, 0U);
    EXPECT_EQ(statistics.read_on_for_order, 0U);
  }
}

TEST_F(Stream, ReadsOnForAForwardReferenceAndSaysSo) {
  std::vector<GraphNode> nodes = {{.id = 0, .data = {500}}, {.id = 1}};
  for (NodeId id = 2; id < 500; ++id) {
    nodes.push_back({.id = id, .data = {0}});
  }
  nodes.push_back({.id = 500});
  Feeder feeder = Feeder::stream(file(nodes), {}, {.window = 3});
  const Ids order = drain(feeder);
  EXPECT_EQ(order.front(), 1U);
  EXPECT_EQ(order[1], 500U);
  EXPECT_EQ(order[2], 0U);
  EXPECT_EQ(feeder.statistics().forward_references, 1U);
  EXPECT_GT(feeder.statistics().read_on_for_dependencies, 400U);
}

TEST_F(Stream, ParentsThatFinishedLongAgo) {
  std::vector<GraphNode> nodes = {{.id = 3}};
  for (NodeId id = 1; id <= 100'000; ++id) {
    nodes.push_back({.id = id * 1000});
    if (id % 1000 == 0) {
      nodes.back().data = {3, (id - 900) * 1000};
    }
  }
  Feeder feeder = Feeder::stream(file(nodes), {}, {.window = 10});
  EXPECT_EQ(drain(feeder).size(), nodes.size());
  EXPECT_LE(feeder.statistics().most_held, 11U);
}

TEST_F(Stream, FewNodesLeftOfManyBlocksKeepFewBlocks) {
  std::vector<GraphNode> nodes;
  for (NodeId id = 0; id < 100'000; ++id) {
    nodes.push_back({.id = id, .data = id % 1000 == 0 ? Ids{100'000} : Ids{}});
  }
  nodes.push_back({.id = 100'000});
  for (const std::string& name : names_of_all_compressions()) {
    Feeder feeder = Feeder::stream(file(nodes, name.c_str()), {}, {.window = 1});
    std::size_t most = 0;
    std::vector<NodeIndex> kept;
    std::size_t count = 0;
    while (const auto row = feeder.pop()) {
      if (++count % 5000 == 1) {
        most = std::max(most, feeder.memory_bytes());
      }
      const FeederNode node = feeder.node(*row);
      ASSERT_EQ(node.data_deps(), nodes[node.id()].data);
      if (node.id() % 777 == 5) {
        kept.push_back(*row);  // stays in flight
      } else {
        feeder.complete(*row);
      }
    }
    EXPECT_EQ(count, nodes.size());
    for (const NodeIndex row : kept) {
      EXPECT_EQ(feeder.node(row).id(), row);
      feeder.complete(row);
    }
    EXPECT_TRUE(feeder.done());
    EXPECT_LT(most, 8'000'000U) << "of about 15 MB for all nodes";
  }
}

TEST_F(Stream, ANodeStaysReadableAfterItRan) {
  const std::vector<GraphNode> nodes = {{.id = 1}, {.id = 2, .data = {1}, .ctrl = {1, 3}}, {.id = 3}};
  Feeder feeder = Feeder::stream(file(nodes, "trace.et.gz"), {}, {.window = 1});
  std::vector<FeederNode> ran;
  while (const auto row = feeder.pop()) {
    ran.push_back(feeder.node(*row));
    feeder.complete(*row);
    EXPECT_THROW((void)feeder.node(*row), ChakraError);
  }
  ASSERT_EQ(ran.size(), 3U);
  EXPECT_EQ(ran[2].id(), 2U);
  EXPECT_EQ(ran[2].data_deps(), Ids{1});
  EXPECT_EQ(ran[2].ctrl_deps(), (Ids{1, 3}));
}

TEST_F(Stream, OnlyNodesInTheRightStateCanBeUsed) {
  Feeder feeder = Feeder::stream(file({{.id = 5}, {.id = 6, .data = {5}}, {.id = 7}}), {}, {.window = 10});
  EXPECT_EQ(feeder.find(6), 1U);
  EXPECT_EQ(feeder.find(8), std::nullopt);
  EXPECT_THROW((void)feeder.trace(), ChakraError);
  EXPECT_THROW(feeder.complete(0), ChakraError);
  EXPECT_THROW(feeder.take(1), ChakraError);
  EXPECT_THROW(feeder.take(3), ChakraError);
  EXPECT_THROW(feeder.push_back(2), ChakraError);
  feeder.take(2);
  EXPECT_EQ(feeder.peek(), 0U);
  EXPECT_EQ(feeder.pop(), 0U);
  EXPECT_EQ(feeder.pop(), std::nullopt);
  EXPECT_THROW(feeder.complete_many(std::vector<NodeIndex>{0, 2, 0}), ChakraError);
  EXPECT_EQ(feeder.in_flight(), 2U);
  feeder.complete_many(std::vector<NodeIndex>{0, 2});
  EXPECT_THROW(feeder.complete(0), ChakraError);
  EXPECT_EQ(feeder.find(5), std::nullopt);
  EXPECT_EQ(drain(feeder), Ids{6});
}

TEST_F(Stream, PushBackAgainAndAgain) {
  std::mt19937_64 random(43);
  const auto nodes = random_graph(random, {.nodes = 300});
  const auto path = file(nodes);
  Feeder whole(load(path));
  Feeder feeder = Feeder::stream(path, {}, {.window = 1000});
  std::vector<std::pair<NodeIndex, NodeIndex>> flying;
  while (!whole.done()) {
    ASSERT_EQ(feeder.ready(), whole.ready());
    ASSERT_EQ(feeder.in_flight(), whole.in_flight());
    ASSERT_EQ(feeder.remaining(), whole.remaining());
    ASSERT_EQ(feeder.peek(), whole.peek());
    ASSERT_EQ(feeder.ready_nodes(), whole.ready_nodes());
    const auto action = random() % 10;
    if (action < 3 && !flying.empty()) {
      std::swap(flying[random() % flying.size()], flying.back());
      std::vector<NodeIndex> one;
      std::vector<NodeIndex> other;
      whole.complete(flying.back().first, one);
      feeder.complete(flying.back().second, other);
      ASSERT_EQ(one, other);
      flying.pop_back();
    } else if (action < 5 && !flying.empty()) {
      std::swap(flying[random() % flying.size()], flying.back());
      whole.push_back(flying.back().first);
      feeder.push_back(flying.back().second);
      flying.pop_back();
    } else if (action < 6 && whole.ready() > 0) {
      const auto rows = whole.ready_nodes();
      const NodeIndex row = rows[random() % rows.size()];
      whole.take(row);
      feeder.take(row);
      flying.emplace_back(row, row);
    } else if (const auto row = whole.pop()) {
      ASSERT_EQ(feeder.pop(), row);
      flying.emplace_back(*row, *row);
    }
  }
  EXPECT_TRUE(feeder.done());
}

TEST_F(Stream, BatchesAreTheReadyNodesInOrder) {
  std::mt19937_64 random(44);
  const auto nodes = random_graph(random, {.nodes = 400, .file = GraphShape::File::in_order});
  const auto path = file(nodes);
  Feeder whole(load(path));
  Feeder feeder = Feeder::stream(path, {}, {.window = 1000});
  std::vector<NodeIndex> one;
  std::vector<NodeIndex> other;
  while (whole.pop_all(one, 7) > 0) {
    feeder.pop_all(other, 7);
    ASSERT_EQ(one, other);
    whole.complete_many(one);
    feeder.complete_many(other);
    one.clear();
    other.clear();
  }
  EXPECT_TRUE(feeder.done());
  EXPECT_EQ(feeder.pop_all(other), 0U);
}

TEST_F(Stream, CyclesAndMissingParentsAreNamed) {
  const std::vector<GraphNode> nodes = {{.id = 1, .data = {3}}, {.id = 2, .data = {1}},
                                        {.id = 3, .data = {2}}, {.id = 4},
                                        {.id = 5, .data = {9}}, {.id = 9}};
  Feeder cycle = Feeder::stream(file(nodes), {}, {.window = 1});
  EXPECT_EQ(cycle.pop(), 3U);
  EXPECT_FALSE(cycle.blocked().text.empty());
  cycle.complete(3);
  try {
    EXPECT_EQ(drain(cycle), (Ids{9, 5}));
    FAIL() << "no error";
  } catch (const DependencyError& error) {
    EXPECT_EQ(error.nodes(), (Ids{1, 3, 2}));
  }
  EXPECT_EQ(cycle.blocked().cycle, (Ids{1, 3, 2}));

  Feeder missing = Feeder::stream(
      file_without({{.id = 4}, {.id = 5, .data = {9, 4}}, {.id = 6, .ctrl = {5, 8}}, {.id = 8}, {.id = 9}}, {8, 9}), {},
      {.window = 1});
  try {
    drain(missing);
    FAIL() << "no error";
  } catch (const DependencyError& error) {
    EXPECT_EQ(error.nodes(), (Ids{8, 9}));
    EXPECT_NE(std::string(error.what()).find("8, 9"), std::string::npos) << error.what();
  }
  const Blockage why = missing.blocked();
  EXPECT_TRUE(why.is_deadlock());
  EXPECT_EQ(why.missing, (Ids{8, 9}));
  ASSERT_EQ(why.nodes.size(), 2U);
  EXPECT_EQ(why.nodes[0].node, 5U);
  EXPECT_EQ(why.nodes[0].parents, Ids{9});
  EXPECT_EQ(why.nodes[1].parents, (Ids{5, 8}));
  // Of the other kind of dependencies, one of them does not count.
  Feeder data = Feeder::stream(directory_ / "cut.et", {.dependencies = DependencyKind::control});
  EXPECT_THROW(drain(data), DependencyError);
  EXPECT_EQ(data.blocked().missing, Ids{8});
}

TEST_F(Stream, DoubledIdsAreAFault) {
  const auto path = file({{.id = 1}, {.id = 2}});
  const TracePtr trace = load(path);
  const std::string again = std::string(1, static_cast<char>(trace->record(0).size())) + trace->record(0);
  std::ofstream(path, std::ios::binary | std::ios::app) << again;
  for (const std::size_t window : {std::size_t{1}, std::size_t{100}}) {
    Feeder feeder = Feeder::stream(path, {.order = {.by = By::file}}, {.window = window});
    EXPECT_THROW(drain(feeder), FormatError);
  }
}

TEST_F(Stream, ATruncatedFileIsAFaultAtOpeningOrAtItsPlace) {
  std::mt19937_64 random(45);
  const auto nodes = random_graph(random, {.nodes = 5000, .reach = 5, .file = GraphShape::File::in_order});
  const auto path = file(nodes);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 3);
  EXPECT_THROW((void)Feeder::stream(path), FormatError);
  Feeder feeder = Feeder::stream(path, {}, {.window = 10, .in_issue_order = true});
  Ids order;
  try {
    while (const auto row = feeder.pop()) {
      order.push_back(feeder.node(*row).id());
      feeder.complete(*row);
    }
    FAIL() << "no error";
  } catch (const FormatError& error) {
    EXPECT_EQ(error.location().record, 5000U);
  }
  EXPECT_EQ(order.size(), 4999U);
  EXPECT_FALSE(feeder.done());
  EXPECT_THROW((void)feeder.pop(), FormatError);
}

TEST_F(Stream, APromiseOfOrderIsChecked) {
  const auto path = file({{.id = 1}, {.id = 3}, {.id = 2}});
  Feeder feeder = Feeder::stream(path, {}, {.window = 1, .in_issue_order = true});
  EXPECT_THROW(drain(feeder), FormatError);
  Feeder right = Feeder::stream(path);
  EXPECT_EQ(drain(right), (Ids{1, 2, 3}));
}

TEST_F(Stream, WhatCannotBeStreamed) {
  const auto json = directory_ / "trace.json";
  save(*make_trace(std::vector<GraphNode>{{.id = 1}}), json);
  EXPECT_THROW((void)Feeder::stream(json), FormatError);
  EXPECT_THROW((void)Feeder::stream(directory_ / "absent.et"), IoError);
  const auto path = file({{.id = 1}});
  EXPECT_THROW((void)Feeder::stream(
                   path, {.order = {.by = By::comparator, .before = [](NodeIndex a, NodeIndex b) { return a < b; }}}),
               ChakraError);
  std::ofstream(directory_ / "empty.et").close();
  EXPECT_THROW((void)Feeder::stream(directory_ / "empty.et"), FormatError);
}

TEST_F(Stream, AFileWithoutNodesIsDone) {
  for (const By by : {By::id, By::file}) {
    Feeder feeder = Feeder::stream(file({}), {.order = {.by = by}});
    EXPECT_TRUE(feeder.done());
    EXPECT_EQ(feeder.pop(), std::nullopt);
    EXPECT_EQ(feeder.blocked().text, "all nodes are complete");
  }
}

TEST_F(Stream, ResetStartsOver) {
  std::mt19937_64 random(46);
  const auto path = file(random_graph(random, {.nodes = 5000}), "trace.et.gz");
  Feeder feeder = Feeder::stream(path, {}, {.window = 5});
  const Ids order = drain(feeder);
  feeder.reset();
  for (int i = 0; i < 100; ++i) {
    (void)feeder.pop();
  }
  feeder.reset();
  EXPECT_EQ(drain(feeder), order);
}

TEST_F(Stream, MayBeLeftInTheMiddle) {
  std::mt19937_64 random(47);
  const auto path =
      file(random_graph(random, {.nodes = 50'000, .reach = 5, .file = GraphShape::File::in_order}), "trace.et.gz");
  for (int round = 0; round < 10; ++round) {
    Feeder feeder = Feeder::stream(path, {}, {.window = 10});
    (void)feeder.pop();
  }
}

}  // namespace
}  // namespace chakra
