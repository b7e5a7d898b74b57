// SPDX-License-Identifier: MIT
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <unordered_set>
#include <vector>

#include <gtest/gtest.h>

#include "astra_sim/trace_bytes.hpp"
#include "extern/graph_frontend/chakra/src/feeder_v3/et_feeder.h"

using namespace chakra::test;
using Chakra::FeederV3::ETFeeder;
using Chakra::FeederV3::NodeId;

namespace {

std::vector<NodeId> free_ids(ETFeeder& feeder) {
  const auto& ids = feeder.getDependancyResolver().get_dependancy_free_nodes();
  return {ids.begin(), ids.end()};
}

/// What opening a file throws as std::runtime_error.
std::string refusal(const std::string& path) {
  try {
    ETFeeder feeder(path);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

std::string zigzag_field(std::uint32_t field, std::int64_t value) {
  return number_field(field, (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
}

struct OneNode {
  explicit OneNode(const std::string& fields)
      : disk(on_disk({{7, {}, {}, 7, "node seven", fields}})), feeder(disk.path()) {}
  std::shared_ptr<Chakra::ETFeederNode> operator->() { return feeder.lookupNode(7); }
  TraceOnDisk disk;
  ETFeeder feeder;
};

TEST(FeederV3Open, RefusesWhatCannotBeRead) {
  const ScratchDirectory directory;
  const std::string absent = (directory / "absent.et").string();
  EXPECT_NE(refusal(absent).find("absent.et"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(absent)) << "opened for writing";
  EXPECT_NE(refusal(TraceOnDisk("trace.et", "no trace at all").path()), "");
  const std::string whole = file_bytes({{1}, {2, {1}}});
  EXPECT_NE(refusal(TraceOnDisk("trace.et", whole.substr(0, whole.size() - 1)).path()), "");
}

TEST(FeederV3Open, RefusesAbsentParents) {
  const std::string why = refusal(on_disk({{1}, {2, {1, 77}}}).path());
  EXPECT_NE(why.find("77"), std::string::npos) << why;
}

TEST(FeederV3Open, RefusesATraceWithoutAFreeNode) {
  const std::string why = refusal(on_disk({{11, {12}}, {12, {}, {11}}}).path());
  EXPECT_NE(why.find("11"), std::string::npos) << why;
  EXPECT_NE(why.find("12"), std::string::npos) << why;
}

TEST(FeederV3Open, RefusesACycleBesideFreeNodes) {
  const std::string why = refusal(on_disk({{1}, {2, {1}}, {31, {33, 1}}, {32, {31}}, {33, {}, {32}}}).path());
  for (const char* member : {"31", "32", "33"}) {
    EXPECT_NE(why.find(member), std::string::npos) << why;
  }
}

TEST(FeederV3Open, RefusesANodeThatWaitsForItself) { EXPECT_NE(refusal(on_disk({{1}, {2, {2}}}).path()), ""); }

TEST(FeederV3Open, LeavesTheFileAlone) {
  const TraceOnDisk disk = on_disk({{1}, {2, {1}}});
  std::filesystem::permissions(disk.path(), std::filesystem::perms::owner_read);
  const auto written = std::filesystem::last_write_time(disk.path());
  const std::string bytes = read_file(disk.path());
  {
    ETFeeder feeder(disk.path());
    EXPECT_EQ(free_ids(feeder), std::vector<NodeId>{1});
  }
  EXPECT_EQ(std::filesystem::last_write_time(disk.path()), written);
  EXPECT_EQ(read_file(disk.path()), bytes);
}

TEST(FeederV3Open, AnEmptyTraceHasNothingToDo) {
  const TraceOnDisk disk = on_disk({});
  ETFeeder feeder(disk.path());
  EXPECT_TRUE(feeder.getDependancyResolver().get_dependancy_free_nodes().empty());
  EXPECT_TRUE(feeder.getDependancyResolver().get_ongoing_nodes().empty());
  EXPECT_EQ(feeder.global_metadata.version(), "0.0.4");
}

TEST(FeederV3Resolver, DataAndControlCountTogetherAndOnce) {
  const TraceOnDisk disk = on_disk({{5, {3, 3}, {4, 3}}, {4}, {3}});
  ETFeeder feeder(disk.path());
  auto& resolver = feeder.getDependancyResolver();
  EXPECT_EQ(free_ids(feeder), (std::vector<NodeId>{3, 4}));
  resolver.take_node(3);
  EXPECT_EQ(free_ids(feeder), std::vector<NodeId>{4});
  EXPECT_EQ(resolver.get_ongoing_nodes().count(3), 1u);
  resolver.finish_node(3);
  EXPECT_TRUE(resolver.get_ongoing_nodes().empty());
  EXPECT_EQ(free_ids(feeder), std::vector<NodeId>{4}) << "5 still waits for its control dependency";
  resolver.take_node(4);
  resolver.finish_node(4);
  EXPECT_EQ(free_ids(feeder), std::vector<NodeId>{5});
}

TEST(FeederV3Resolver, ThrowsWhenTheStateIsWrong) {
  const TraceOnDisk disk = on_disk({{1}, {2, {1}}});
  ETFeeder feeder(disk.path());
  auto& resolver = feeder.getDependancyResolver();
  EXPECT_THROW(resolver.take_node(2), std::runtime_error);
  EXPECT_THROW(resolver.finish_node(1), std::runtime_error);
  EXPECT_THROW(resolver.take_node(99), std::runtime_error);
  EXPECT_THROW(feeder.lookupNode(99), std::runtime_error);
  resolver.take_node(1);
  EXPECT_THROW(resolver.take_node(1), std::runtime_error);
  resolver.finish_node(1);
  EXPECT_THROW(resolver.finish_node(1), std::runtime_error);
  EXPECT_THROW(resolver.take_node(1), std::runtime_error);
  EXPECT_EQ(free_ids(feeder), std::vector<NodeId>{2});
}

TEST(FeederV3Resolver, ACopyOfTheIdsStaysAsItWas) {
  const TraceOnDisk disk = on_disk({{9}, {2}, {4}});
  ETFeeder feeder(disk.path());
  auto& resolver = feeder.getDependancyResolver();
  const auto& live = resolver.get_dependancy_free_nodes();
  auto copy = live;
  const std::unordered_set<NodeId> unordered = live;
  std::vector<NodeId> seen;
  for (const auto id : copy) {
    seen.push_back(id);
    resolver.take_node(id);
  }
  EXPECT_EQ(seen, (std::vector<NodeId>{2, 4, 9})) << "ascending, whatever the file";
  EXPECT_EQ(copy.size(), 3u);
  EXPECT_TRUE(live.empty());
  EXPECT_EQ(unordered, (std::unordered_set<NodeId>{2, 4, 9}));
  copy = live;
  EXPECT_TRUE(copy.empty());
  const auto ongoing = resolver.get_ongoing_nodes();
  EXPECT_EQ(std::vector<NodeId>(ongoing.begin(), ongoing.end()), (std::vector<NodeId>{2, 4, 9}));
}

TEST(FeederV3Resolver, AgreesWithTheObviousOne) {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    const auto nodes = random_nodes(seed, 60);
    const TraceOnDisk disk = on_disk(nodes);
    ETFeeder feeder(disk.path());
    ObviousResolver oracle(nodes, true);
    std::mt19937 random(seed);
    std::vector<NodeId> ongoing;
    std::size_t finished = 0;
    while (finished < nodes.size()) {
      ASSERT_EQ(free_ids(feeder), oracle.free()) << "seed " << seed;
      const auto free = oracle.free();
      if (!free.empty() && (ongoing.empty() || random() % 2 == 0)) {
        const NodeId id = free[random() % free.size()];
        feeder.getDependancyResolver().take_node(id);
        oracle.take(id);
        ongoing.push_back(id);
      } else {
        std::swap(ongoing[random() % ongoing.size()], ongoing.back());
        const bool finish = random() % 4 != 0;
        if (finish) {
          feeder.getDependancyResolver().finish_node(ongoing.back());
          oracle.finish(ongoing.back());
        } else {
          feeder.getDependancyResolver().push_back_node(ongoing.back());
          oracle.push_back(ongoing.back());
        }
        ongoing.pop_back();
        finished += finish ? 1 : 0;
      }
    }
    EXPECT_TRUE(free_ids(feeder).empty());
  }
}

TEST(FeederV3Resolver, MoreThanAMillionNodesThatDependOnOne) {
  constexpr NodeId count = 1'050'576;
  std::string bytes = record(bytes_field(1, "0.0.4"));
  for (NodeId id = 0; id < count; ++id) {
    bytes += record(number_field(1, id) + number_field(3, 4) + (id == 0 ? "" : number_field(5, 0)));
  }
  const TraceOnDisk disk("trace.et", bytes);
  ETFeeder feeder(disk.path());
  auto& resolver = feeder.getDependancyResolver();
  NodeId issued = 0;
  while (!resolver.get_dependancy_free_nodes().empty()) {
    const auto free = resolver.get_dependancy_free_nodes();
    for (const NodeId id : free) {
      const auto node = feeder.lookupNode(id);
      ASSERT_EQ(node->id(), issued);
      resolver.take_node(id);
      resolver.finish_node(id);
      ++issued;
    }
  }
  EXPECT_EQ(issued, count);
  EXPECT_EQ(feeder.lookupNode(count - 1)->type(), ChakraProtoMsg::NodeType::COMP_NODE);
}

TEST(FeederV3Resolver, VerbsOfTheOlderFeeder) {
  const TraceOnDisk disk = on_disk({{3}, {2, {3}}});
  ETFeeder feeder(disk.path());
  EXPECT_TRUE(feeder.hasNodesToIssue());
  auto node = feeder.getNextIssuableNode();
  EXPECT_EQ(node->id(), 3u);
  EXPECT_FALSE(feeder.hasNodesToIssue());
  EXPECT_EQ(feeder.getNextIssuableNode(), nullptr);
  feeder.pushBackIssuableNode(3);
  node = feeder.getNextIssuableNode();
  feeder.freeChildrenNodes(node->id());
  feeder.removeNode(node->id());
  EXPECT_EQ(feeder.getNextIssuableNode()->id(), 2u);
  EXPECT_THROW(feeder.addNode(node), std::runtime_error);
}

TEST(FeederV3Node, IsReadFromTheFile) {
  OneNode node(number_field(7, 12) + bytes_field(8, bytes_field(1, "[1, 2]") + bytes_field(2, "[]")) +
               attribute("pg_name", bytes_field(29, "3")));
  EXPECT_EQ(node->id(), 7u);
  EXPECT_EQ(node->name(), "node seven");
  EXPECT_EQ(node->type(), ChakraProtoMsg::NodeType::COMM_COLL_NODE);
  EXPECT_EQ(node->runtime(), 12u);
  EXPECT_EQ(node->get_inputs_values(), "[1, 2]");
  EXPECT_EQ(node->get_inputs_shapes(), "[]");
  EXPECT_EQ(node->get_outputs_values(), "");
  EXPECT_EQ(node->get_outputs_types("none"), "none");
  EXPECT_EQ(node->pg_name(), "3");
  EXPECT_EQ(node->pg_name<std::string>(""), "3");
}

TEST(FeederV3Node, SaysWhatIsMissing) {
  OneNode node("");
  EXPECT_EQ(node->runtime(), 0u);
  EXPECT_FALSE(node->is_cpu_op());
  EXPECT_FALSE(node->is_cpu_op<bool>());
  EXPECT_TRUE(node->is_cpu_op<bool>(true));
  EXPECT_EQ(node->comm_priority(), 0u);
  EXPECT_EQ(node->comm_priority<std::uint32_t>(), 0u);
  EXPECT_EQ(node->comm_priority<std::uint32_t>(5), 5u);
  EXPECT_THROW(node->num_ops(), std::runtime_error);
  EXPECT_THROW(node->tensor_loc(), std::runtime_error);
  EXPECT_THROW(node->tensor_size<std::uint64_t>(), std::runtime_error);
  EXPECT_THROW(node->comm_type(), std::runtime_error);
  EXPECT_THROW(node->comm_size<std::uint64_t>(), std::runtime_error);
  EXPECT_THROW(node->comm_src(), std::runtime_error);
  EXPECT_THROW(node->comm_dst<std::uint32_t>(), std::runtime_error);
  EXPECT_THROW(node->comm_tag<std::uint32_t>(), std::runtime_error);
  EXPECT_THROW(node->pg_name(), std::runtime_error);
  EXPECT_THROW(node->get_attr_msg("involved_dim"), std::runtime_error);
  EXPECT_FALSE(node->has_attr("involved_dim"));
  EXPECT_EQ(node->comm_src<std::uint32_t>(3), 3u);
  const int rank = 4;
  EXPECT_EQ(node->comm_src(rank), 4) << "the type of the default, where none is named";
  EXPECT_EQ(node->pg_name<std::string>(""), "");
}

TEST(FeederV3Node, ConvertsAnyIntegerArm) {
  const std::vector<std::string> arms = {
      number_field(7, 42),  number_field(9, 42),   number_field(11, 42),  number_field(13, 42),  zigzag_field(15, 42),
      zigzag_field(17, 42), fixed32_field(19, 42), fixed64_field(21, 42), fixed32_field(23, 42), fixed64_field(25, 42),
  };
  for (const std::string& arm : arms) {
    for (const char* name : {"comm_size", "my_own"}) {
      OneNode node(attribute(name, arm));
      EXPECT_EQ(node->get_attr<std::uint64_t>(name), 42u);
      EXPECT_EQ(node->get_attr<std::int32_t>(name), 42);
      EXPECT_EQ(node->get_attr<double>(name), 42.0);
      EXPECT_TRUE(node->get_attr<bool>(name));
      EXPECT_EQ(node->get_attr<std::uint64_t>(name, 1), 42u);
      EXPECT_THROW(node->get_attr<std::string>(name), std::bad_cast);
    }
  }
  OneNode flag(attribute("is_cpu_op", number_field(27, 1)) + attribute("comm_type", number_field(9, 2)));
  EXPECT_TRUE(flag->is_cpu_op());
  EXPECT_EQ(flag->is_cpu_op<std::uint64_t>(), 1u);
  EXPECT_EQ(flag->comm_type(), ChakraProtoMsg::CollectiveCommType::ALL_GATHER);
  EXPECT_EQ(flag->comm_type<std::uint64_t>(), 2u);
}

TEST(FeederV3Node, KeepsTheSignAndTheWholeRange) {
  OneNode node(attribute("low", zigzag_field(17, -5)) + attribute("high", number_field(13, ~std::uint64_t{0})));
  EXPECT_EQ(node->get_attr<std::int64_t>("low"), -5);
  EXPECT_EQ(node->get_attr<double>("low"), -5.0);
  EXPECT_EQ(node->get_attr<std::uint64_t>("high"), ~std::uint64_t{0});
}

TEST(FeederV3Node, RefusesOtherConversions) {
  OneNode node(attribute("real", fixed64_field(3, 0x3ff8000000000000)) +
               attribute("half", fixed32_field(5, 0x3f000000)) + attribute("text", bytes_field(29, "12")) +
               attribute("list", bytes_field(28, number_field(1, 1))) + attribute("nothing", ""));
  EXPECT_EQ(node->get_attr<double>("real"), 1.5);
  EXPECT_EQ(node->get_attr<float>("half"), 0.5f);
  EXPECT_EQ(node->get_attr<double>("half"), 0.5);
  EXPECT_THROW(node->get_attr<std::uint64_t>("real"), std::bad_cast);
  EXPECT_THROW(node->get_attr<std::int32_t>("half"), std::bad_cast);
  EXPECT_THROW(node->get_attr<std::uint64_t>("text"), std::bad_cast);
  EXPECT_THROW(node->get_attr<double>("text"), std::bad_cast);
  EXPECT_THROW(node->get_attr<std::uint64_t>("text", 3), std::bad_cast) << "a default is for what is absent";
  EXPECT_THROW(node->get_attr<bool>("list"), std::invalid_argument);
  EXPECT_THROW(node->get_attr<bool>("nothing"), std::invalid_argument);
  EXPECT_TRUE(node->has_attr("nothing"));
  try {
    node->get_attr<std::uint64_t>("text");
  } catch (const std::bad_cast& error) {
    EXPECT_NE(std::string(error.what()).find("text"), std::string::npos);
  }
}

TEST(FeederV3Node, StrictTakesTheArmsOwnTypeOnly) {
  OneNode node(attribute("comm_size", number_field(9, 42)));
  EXPECT_EQ(node->get_attr<std::int64_t>("comm_size", true), 42);
  EXPECT_THROW(node->get_attr<std::uint64_t>("comm_size", true), std::bad_cast);
  EXPECT_EQ(node->get_attr<std::uint64_t>("comm_size", false), 42u);
  EXPECT_THROW(node->comm_size<std::uint64_t>(1, true), std::bad_cast);
}

TEST(FeederV3Node, TheFirstOfDuplicateNamesWins) {
  OneNode node(attribute("comm_size", number_field(9, 1)) + attribute("comm_size", number_field(9, 2)) +
               attribute("mine", bytes_field(29, "a")) + attribute("mine", bytes_field(29, "b")));
  EXPECT_EQ(node->comm_size(), 1u);
  EXPECT_EQ(node->get_attr<std::string>("mine"), "a");
  EXPECT_EQ(node->get_attr_msg("comm_size").int64_val(), 1);
}

TEST(FeederV3Node, HandsOutMessages) {
  const std::string dims = number_field(1, 1) + number_field(1, 0) + number_field(1, 1);
  OneNode node(attribute("involved_dim", bytes_field(28, dims)) +
               attribute("inputs", bytes_field(30, bytes_field(1, "tensor") + bytes_field(1, "64"))));
  ASSERT_TRUE(node->has_attr("involved_dim"));
  const ChakraProtoMsg::AttributeProto& attribute = node->get_attr_msg("involved_dim");
  ASSERT_TRUE(attribute.has_bool_list());
  EXPECT_FALSE(attribute.has_string_list());
  const ChakraProtoMsg::BoolList& list = attribute.bool_list();
  std::vector<bool> values;
  for (int i = 0; i < list.values_size(); ++i) {
    values.push_back(list.values(i));
  }
  EXPECT_EQ(values, (std::vector<bool>{true, false, true}));

  const auto inputs = node->get_attr<Chakra::FeederV3::ChakraAttr>("inputs");
  ASSERT_TRUE(inputs.has_string_list());
  const google::protobuf::RepeatedPtrField<std::string>& strings = inputs.string_list().values();
  ASSERT_EQ(strings.size(), 2);
  EXPECT_FALSE(strings.empty());
  EXPECT_EQ(strings.Get(0), "tensor");
  EXPECT_EQ(strings.Get(1), "64");
  EXPECT_TRUE(inputs.bool_list().values().empty());

  const Chakra::FeederV3::ChakraAttr* found = nullptr;
  const auto handle = node.feeder.lookupNode(7);
  EXPECT_TRUE(handle->get_attr_msg("inputs", &found));
  EXPECT_EQ(handle->get_attr_type(*found), Chakra::FeederV3::ChakraAttr::kStringList);
  EXPECT_FALSE(handle->get_attr_msg("outputs", &found));
}

TEST(FeederV3Node, StaysReadableAfterItRanAndAfterTheFeeder) {
  const TraceOnDisk disk =
      on_disk({{1, {}, {}, 4, "first", attribute("num_ops", number_field(9, 10))}, {2, {1}, {}, 5, "second"}});
  std::shared_ptr<Chakra::ETFeederNode> node;
  {
    auto feeder = std::make_unique<ETFeeder>(disk.path());
    node = feeder->lookupNode(1);
    feeder->getDependancyResolver().take_node(1);
    feeder->getDependancyResolver().finish_node(1);
    EXPECT_EQ(feeder->lookupNode(1)->name(), "first");
  }
  EXPECT_EQ(node->name(), "first");
  EXPECT_EQ(node->num_ops(), 10u);
  EXPECT_EQ(node->get_attr_msg("num_ops").int64_val(), 10);
}

}  // namespace
