// SPDX-License-Identifier: MIT
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "astra_sim/trace_bytes.hpp"
#include "et_feeder.h"

using namespace chakra::test;
using Chakra::ETFeeder;
using Chakra::ETFeederNode;

namespace {

using Ids = std::vector<std::uint64_t>;

/// 2 and 5 are free; 3 and 9 wait for 2, 4 for 3 and 9.
const std::vector<FileNode> diamond = {{9, {2}}, {4, {3, 9}}, {2}, {3, {2}}, {5}};

/// Issues what is issuable now, without running any of it.
Ids issue_all(ETFeeder& feeder) {
  Ids ids;
  while (const auto node = feeder.getNextIssuableNode()) {
    ids.push_back(node->id());
  }
  return ids;
}

/// The loop of a simulator that runs one node after the other.
Ids run(ETFeeder& feeder) {
  Ids ids;
  while (feeder.hasNodesToIssue()) {
    const auto node = feeder.getNextIssuableNode();
    if (!node) {
      ADD_FAILURE() << "nodes remain and none is issuable";
      return ids;
    }
    ids.push_back(node->id());
    feeder.freeChildrenNodes(node->id());
    feeder.removeNode(node->id());
  }
  return ids;
}

TEST(OlderFeeder, RunsInTheOrderOfIds) {
  const TraceOnDisk disk = on_disk(diamond);
  ETFeeder feeder(disk.path());
  EXPECT_EQ(run(feeder), (Ids{2, 3, 5, 9, 4}));
  EXPECT_EQ(feeder.getNextIssuableNode(), nullptr);
}

TEST(OlderFeeder, IsNullWhileNothingIsIssuable) {
  const TraceOnDisk disk = on_disk(diamond);
  ETFeeder feeder(disk.path());
  EXPECT_EQ(issue_all(feeder), (Ids{2, 5}));
  EXPECT_TRUE(feeder.hasNodesToIssue()) << "nodes that were not removed";
  feeder.freeChildrenNodes(2);
  EXPECT_EQ(issue_all(feeder), (Ids{3, 9}));
  feeder.freeChildrenNodes(9);
  EXPECT_EQ(issue_all(feeder), Ids{});
  feeder.freeChildrenNodes(3);
  EXPECT_EQ(issue_all(feeder), Ids{4});
}

TEST(OlderFeeder, FollowsDataDependenciesOnly) {
  const TraceOnDisk disk = on_disk({{1}, {2, {}, {1}}, {3, {2}, {1}}});
  ETFeeder feeder(disk.path());
  EXPECT_EQ(issue_all(feeder), (Ids{1, 2}));
}

TEST(OlderFeeder, RefusesWhatCannotRun) {
  EXPECT_THROW(ETFeeder("/nowhere/absent.et"), std::runtime_error);
  EXPECT_THROW(ETFeeder(TraceOnDisk("trace.et", "no trace").path()), std::runtime_error);
  EXPECT_THROW(ETFeeder(on_disk({{1}, {2, {3}}}).path()), std::runtime_error) << "absent parent";
  EXPECT_THROW(ETFeeder(on_disk({{1}, {2, {3}}, {3, {2}}}).path()), std::runtime_error) << "cycle beside a free node";
  EXPECT_NO_THROW(ETFeeder(on_disk({{1}, {2, {}, {3}}, {3, {}, {2}}}).path())) << "control does not count";
  EXPECT_EQ(ETFeeder(on_disk({{1}, {2, {1}, {77}}}).path()).lookupNode(2)->id(), 2u) << "not even absent parents";
}

TEST(OlderFeeder, CountsDoubledDependenciesOnce) {
  const TraceOnDisk disk = on_disk({{1}, {2, {1, 1, 1}}, {3, {2, 1, 2}}});
  ETFeeder feeder(disk.path());
  EXPECT_EQ(run(feeder), (Ids{1, 2, 3}));
}

TEST(OlderFeeder, PushesBack) {
  const TraceOnDisk disk = on_disk(diamond);
  ETFeeder feeder(disk.path());
  EXPECT_EQ(issue_all(feeder), (Ids{2, 5}));
  feeder.pushBackIssuableNode(5);
  feeder.pushBackIssuableNode(2);
  feeder.pushBackIssuableNode(2);
  EXPECT_EQ(run(feeder), (Ids{2, 3, 5, 9, 4}));
}

TEST(OlderFeeder, FreesChildrenOfANodeThatWasNotIssued) {
  const TraceOnDisk disk = on_disk(diamond);
  ETFeeder feeder(disk.path());
  feeder.freeChildrenNodes(2);
  feeder.freeChildrenNodes(2);
  EXPECT_EQ(issue_all(feeder), (Ids{2, 3, 5, 9}));
}

TEST(OlderFeeder, IssuesANodeThatWasPushedBackBeforeItsParentsRanJustOnce) {
  const TraceOnDisk disk = on_disk(diamond);
  ETFeeder feeder(disk.path());
  feeder.pushBackIssuableNode(3);
  EXPECT_EQ(issue_all(feeder), (Ids{2, 3, 5}));
  feeder.freeChildrenNodes(2);
  EXPECT_EQ(issue_all(feeder), Ids{9}) << "3 was issued before";
  feeder.freeChildrenNodes(3);
  feeder.freeChildrenNodes(9);
  EXPECT_EQ(issue_all(feeder), Ids{4});
}

TEST(OlderFeeder, FreedBeforeItsParentsRanTakesEffectWhenTheyHave) {
  const TraceOnDisk disk = on_disk({{1}, {2, {1}}, {3, {2}}, {4, {3}}});
  ETFeeder feeder(disk.path());
  feeder.pushBackIssuableNode(2);
  EXPECT_EQ(issue_all(feeder), (Ids{1, 2}));
  feeder.freeChildrenNodes(2);
  feeder.freeChildrenNodes(3);
  EXPECT_EQ(issue_all(feeder), Ids{}) << "3 comes after 1, however 2 was treated";
  feeder.freeChildrenNodes(1);
  EXPECT_EQ(issue_all(feeder), (Ids{3, 4})) << "both of the freed ones have caught up";
}

TEST(OlderFeeder, QueuedEarlyAndThenReadyIsIssuedOnce) {
  const TraceOnDisk disk = on_disk({{1}, {2, {1}}});
  ETFeeder feeder(disk.path());
  feeder.pushBackIssuableNode(2);
  feeder.freeChildrenNodes(1);
  EXPECT_EQ(issue_all(feeder), (Ids{1, 2}));
  feeder.pushBackIssuableNode(2);
  EXPECT_EQ(issue_all(feeder), Ids{2});
}

TEST(OlderFeeder, RemovedNodesAreNotFoundButStillIssued) {
  const TraceOnDisk disk = on_disk(diamond);
  ETFeeder feeder(disk.path());
  const auto node = feeder.lookupNode(2);
  feeder.removeNode(2);
  feeder.removeNode(2);
  feeder.removeNode(12345);
  EXPECT_THROW(feeder.lookupNode(2), std::out_of_range);
  EXPECT_EQ(feeder.getNextIssuableNode()->id(), 2u);
  feeder.addNode(node);
  EXPECT_EQ(feeder.lookupNode(2), node);
}

TEST(OlderFeeder, UnknownIdsAreOutOfRange) {
  const TraceOnDisk disk = on_disk(diamond);
  ETFeeder feeder(disk.path());
  EXPECT_THROW(feeder.lookupNode(1), std::out_of_range);
  EXPECT_THROW(feeder.pushBackIssuableNode(1), std::out_of_range);
  EXPECT_THROW(feeder.freeChildrenNodes(1), std::out_of_range);
}

TEST(OlderFeeder, TakesANodeOfTheCallersOwn) {
  const TraceOnDisk disk = on_disk({{5}});
  ETFeeder feeder(disk.path());
  ChakraProtoMsg::Node::Parts parts;
  parts.id = 3;
  parts.name = "mine";
  feeder.addNode(std::make_shared<ETFeederNode>(std::make_shared<ChakraProtoMsg::Node>(parts)));
  EXPECT_EQ(feeder.lookupNode(3)->name(), "mine");
  EXPECT_TRUE(feeder.lookupNode(3)->getChildren().empty());
  feeder.pushBackIssuableNode(3);
  EXPECT_EQ(run(feeder), (Ids{3, 5}));
}

TEST(OlderFeeder, AgreesWithTheObviousOne) {
  for (std::uint32_t seed = 100; seed < 140; ++seed) {
    auto nodes = random_nodes(seed, 60);
    const TraceOnDisk disk = on_disk(nodes);
    ETFeeder feeder(disk.path());
    ObviousResolver oracle(nodes, false);
    std::mt19937 random(seed);
    Ids flying;
    std::size_t finished = 0;
    while (finished < nodes.size()) {
      const auto free = oracle.free();
      if (flying.empty() || random() % 2 == 0) {
        const auto node = feeder.getNextIssuableNode();
        ASSERT_EQ(node == nullptr, free.empty()) << "seed " << seed;
        if (node) {
          ASSERT_EQ(node->id(), free.front()) << "seed " << seed;
          oracle.take(node->id());
          flying.push_back(node->id());
        }
        continue;
      }
      std::swap(flying[random() % flying.size()], flying.back());
      if (random() % 4 == 0) {
        feeder.pushBackIssuableNode(flying.back());
        oracle.push_back(flying.back());
      } else {
        feeder.freeChildrenNodes(flying.back());
        feeder.removeNode(flying.back());
        oracle.finish(flying.back());
        ++finished;
      }
      flying.pop_back();
    }
    EXPECT_FALSE(feeder.hasNodesToIssue());
  }
}

TEST(OlderFeeder, MoreThanAMillionNodesThatDependOnOne) {
  constexpr std::uint64_t count = 1'050'576;
  std::string bytes = record(bytes_field(1, "0.0.4"));
  for (std::uint64_t id = count; id-- > 0;) {
    bytes += record(number_field(1, id) + (id == 0 ? "" : number_field(5, 0)));
  }
  const TraceOnDisk disk("trace.et", bytes);
  ETFeeder feeder(disk.path());
  std::uint64_t expected = 0;
  while (const auto node = feeder.getNextIssuableNode()) {
    ASSERT_EQ(node->id(), expected++);
    feeder.freeChildrenNodes(node->id());
    feeder.removeNode(node->id());
  }
  EXPECT_EQ(expected, count);
  EXPECT_FALSE(feeder.hasNodesToIssue());
}

TEST(OlderNode, ChildrenComeInTheOrderOfTheFile) {
  const TraceOnDisk disk = on_disk(diamond);
  ETFeeder feeder(disk.path());
  const auto node = feeder.lookupNode(2);
  const auto children = node->getChildren();
  ASSERT_EQ(children.size(), 2u);
  EXPECT_EQ(children[0]->id(), 9u);
  EXPECT_EQ(children[1]->id(), 3u);
}

TEST(OlderNode, HasOneHandleWhileOneLives) {
  const TraceOnDisk disk = on_disk(diamond);
  ETFeeder feeder(disk.path());
  const auto node = feeder.lookupNode(9);
  EXPECT_EQ(feeder.lookupNode(9), node);
  EXPECT_EQ(feeder.lookupNode(2)->getChildren()[0], node);
  std::set<std::shared_ptr<ETFeederNode>> in_flight = {node};
  EXPECT_EQ(in_flight.erase(feeder.lookupNode(9)), 1u);
}

TEST(OlderNode, KeepsItsDependenciesWhenItRan) {
  const TraceOnDisk disk = on_disk({{1}, {2, {1, 1}, {1}}});
  ETFeeder feeder(disk.path());
  run(feeder);
  feeder.addNode(std::make_shared<ETFeederNode>(*std::make_unique<ETFeeder>(disk.path())->lookupNode(2)));
  const auto message = feeder.lookupNode(2)->getChakraNode();
  ASSERT_EQ(message->data_deps_size(), 2);
  EXPECT_EQ(message->data_deps(0), 1u);
  EXPECT_EQ(message->ctrl_deps_size(), 1);
}

TEST(OlderNode, IsReadFromTheFile) {
  const TraceOnDisk disk =
      on_disk({{7,
                {},
                {},
                7,
                "seven",
                number_field(7, 12) + bytes_field(9, bytes_field(1, "[3]") + bytes_field(3, "[int]")) +
                    attribute("is_cpu_op", number_field(27, 1)) + attribute("comm_size", number_field(13, 64)) +
                    attribute("comm_type", number_field(7, 7)) + attribute("pg_name", bytes_field(29, "pg")) +
                    attribute("rf_id", number_field(9, 216))}});
  ETFeeder feeder(disk.path());
  const auto node = feeder.lookupNode(7);
  EXPECT_EQ(node->name(), "seven");
  EXPECT_EQ(node->type(), ChakraProtoMsg::COMM_COLL_NODE);
  EXPECT_EQ(node->runtime(), 12u);
  EXPECT_TRUE(node->is_cpu_op());
  EXPECT_EQ(node->comm_size(), 64u) << "any integer arm";
  EXPECT_EQ(node->comm_type(), ChakraProtoMsg::REDUCE_SCATTER);
  EXPECT_EQ(node->pg_name(), "pg");
  EXPECT_EQ(node->get_outputs_values(), "[3]");
  EXPECT_EQ(node->get_outputs_shapes(), "");
  EXPECT_EQ(node->get_outputs_types(), "[int]");
  EXPECT_EQ(node->get_inputs_values(), "");
  ASSERT_TRUE(node->has_other_attr("rf_id"));
  const ChakraProtoMsg::AttributeProto rf_id = node->get_other_attr("rf_id");
  EXPECT_EQ(rf_id.int64_val(), 216);
  EXPECT_FALSE(node->has_other_attr("comm_size")) << "it has a getter";
  EXPECT_THROW(node->get_other_attr("absent"), std::runtime_error);
}

TEST(OlderNode, AbsentAttributesAreZero) {
  const TraceOnDisk disk = on_disk({{1}});
  ETFeeder feeder(disk.path());
  const auto node = feeder.lookupNode(1);
  EXPECT_FALSE(node->is_cpu_op());
  EXPECT_EQ(node->runtime(), 0u);
  EXPECT_EQ(node->num_ops(), 0u);
  EXPECT_EQ(node->tensor_loc(), 0u);
  EXPECT_EQ(node->tensor_size(), 0u);
  EXPECT_EQ(node->comm_type(), ChakraProtoMsg::ALL_REDUCE);
  EXPECT_EQ(node->comm_priority(), 0u);
  EXPECT_EQ(node->comm_size(), 0u);
  EXPECT_EQ(node->comm_src(), 0u);
  EXPECT_EQ(node->comm_dst(), 0u);
  EXPECT_EQ(node->comm_tag(), 0u);
  EXPECT_EQ(node->pg_name(), "");
}

}  // namespace
