// SPDX-License-Identifier: MIT
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "astra_sim/trace_bytes.hpp"
#include "wrapper_node.h"

using namespace chakra::test;

namespace {

const std::vector<FileNode> chain = {
    {1, {}, {}, 4, "compute", number_field(7, 5) + attribute("is_cpu_op", number_field(27, 1))},
    {2, {1}, {}, 5, "send", attribute("comm_size", number_field(9, 64)) + attribute("comm_dst", number_field(7, 3))},
    {3, {1}, {}, 4, "other"},
};

// The form that the Chakra repository's own JSON files have.
const char* const chain_json = R"({"workload_graph": [
  {"Id": 1, "Name": "compute", "NodeType": 4, "is_cpu_op": true, "runtime": 5, "data_deps": []},
  {"Id": 2, "Name": "send", "NodeType": 5, "is_cpu_op": false, "data_deps": [1], "comm_size": 64, "comm_dst": 3},
  {"Id": 3, "Name": "other", "NodeType": 4, "is_cpu_op": false, "data_deps": [1]}]})";

/// What a program that drives the wrapper sees, as text.
std::string story(WrapperNode wrapper) {
  std::string text;
  while (wrapper.hasNodesToIssue()) {
    wrapper.getNextIssuableNode();
    if (!wrapper.isValidNode()) {
      return text + "stuck";
    }
    text += std::to_string(wrapper.getNodeID()) + " " + wrapper.getNodeName() + " " +
            std::to_string(wrapper.getNodeType()) + (wrapper.isCPUOp() ? " cpu " : " gpu ") +
            std::to_string(wrapper.getRuntime()) + " " + std::to_string(wrapper.getCommSize()) + " " +
            std::to_string(wrapper.getCommDst()) + " " + std::to_string(wrapper.getCommType()) + "\n";
    wrapper.freeChildrenNodes(wrapper.getNodeID());
    wrapper.removeNode(wrapper.getNodeID());
  }
  return text;
}

TEST(WrapperNode, TellsTheSameOfBothForms) {
  const TraceOnDisk records = on_disk(chain);
  const TraceOnDisk json("trace.json", chain_json);
  const char* expected = "1 compute 4 cpu 5 0 0 0\n2 send 5 gpu 0 64 3 0\n3 other 4 gpu 0 0 0 0\n";
  EXPECT_EQ(story(WrapperNode(records.path())), expected);
  EXPECT_EQ(story(WrapperNode(json.path())), expected);
}

TEST(WrapperNode, GivesChildrenOfEitherKind) {
  const TraceOnDisk json("trace.json", chain_json);
  WrapperNode wrapper;
  wrapper.createWrapper(json.path());
  wrapper.lookupNode(1);
  std::vector<JSONNode> values;
  wrapper.getChildren(values);
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(values[0].id(), 2u);
  EXPECT_EQ(values[1].id(), 3u);
  std::vector<std::shared_ptr<Chakra::ETFeederNode>> handles;
  wrapper.getChildren(handles);
  ASSERT_EQ(handles.size(), 2u);
  EXPECT_EQ(handles[1]->id(), 3u);
}

TEST(WrapperNode, QueuesAndPushesBack) {
  const TraceOnDisk records = on_disk(chain);
  WrapperNode wrapper(records.path());
  EXPECT_TRUE(wrapper.is_queue_empty());
  wrapper.getNextIssuableNode();
  wrapper.push_to_queue();
  wrapper.getNextIssuableNode();
  EXPECT_FALSE(wrapper.isValidNode());
  wrapper.queue_front();
  EXPECT_EQ(wrapper.getNodeID(), 1u);
  wrapper.pushBackIssuableNode(wrapper.getNodeID());
  wrapper.pop_from_queue();
  EXPECT_TRUE(wrapper.is_queue_empty());
  EXPECT_THROW(wrapper.queue_front(), std::runtime_error);
  EXPECT_THROW(wrapper.pop_from_queue(), std::runtime_error);
  wrapper.getNextIssuableNode();
  EXPECT_EQ(wrapper.getNodeID(), 1u);
}

TEST(WrapperNode, RemovesAndAdds) {
  const TraceOnDisk records = on_disk(chain);
  WrapperNode wrapper(records.path());
  wrapper.lookupNode(2);
  const auto handle = wrapper.getProtobufNode();
  const JSONNode value = wrapper.getJSONNode();
  wrapper.removeNode(2);
  EXPECT_THROW(wrapper.lookupNode(2), std::out_of_range);
  wrapper.addNode(handle);
  wrapper.lookupNode(2);
  EXPECT_EQ(wrapper.getNodeID(), 2u);
  wrapper.removeNode(2);
  wrapper.addNode(value);
  wrapper.lookupNode(2);
  EXPECT_TRUE(wrapper.getJSONNode() == value);
}

TEST(WrapperNode, SaysThatThereIsNoFileOrNode) {
  WrapperNode wrapper;
  EXPECT_THROW(wrapper.getNextIssuableNode(), std::runtime_error);
  EXPECT_THROW(wrapper.getNodeID(), std::runtime_error);
  EXPECT_THROW(wrapper.createWrapper("/nowhere/trace.json"), std::runtime_error);
  const TraceOnDisk records = on_disk(chain);
  wrapper.createWrapper(records.path());
  WrapperNode copy = wrapper;
  wrapper.releaseMemory();
  EXPECT_THROW(wrapper.hasNodesToIssue(), std::runtime_error);
  EXPECT_TRUE(copy.hasNodesToIssue()) << "a copy shares the feeder";
}

}  // namespace
