// SPDX-License-Identifier: MIT
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "message.hpp"
#include "traces.hpp"
#include "wire/decode.hpp"

namespace chakra {
namespace {

using namespace chakra::test;

TracePtr build_one(const NodeSpec& node) {
  TraceBuilder builder;
  builder.add_node(node);
  return builder.build();
}

TEST(TraceBuilder, EmptyTraceIsATrace) {
  const TracePtr trace = TraceBuilder().build();
  EXPECT_EQ(trace->size(), 0U);
  EXPECT_EQ(trace->metadata().version, "0.0.4");
  EXPECT_EQ(trace->children().offsets.size(), 1U);
  EXPECT_EQ(trace->find(0), std::nullopt);
  EXPECT_TRUE(validate(*trace).ok());
}

TEST(TraceBuilder, ColumnsAndRecordSayTheSame) {
  const std::vector<Attribute> attributes = {make_int64("comm_size", 8), make_bool("is_cpu_op", false),
                                             make_string("pg_name", "dp"),
                                             make_bool_list("involved_dim", {true, false}), make_string("note", "n")};
  const IoInfo inputs{"[1]", "[[]]", "[Int]"};
  const TracePtr trace = build_one({.id = 9,
                                    .name = "ar",
                                    .type = NodeType::comm_coll,
                                    .start_ns = 1'500,
                                    .duration_ns = 2'000,
                                    .attributes = attributes,
                                    .inputs = &inputs});
  EXPECT_EQ(trace->name(0), "ar");
  EXPECT_EQ(trace->column(IntegerAttribute::comm_size).get(0), 8);
  EXPECT_EQ(trace->column(IntegerAttribute::tid).get(0), std::nullopt);
  EXPECT_EQ(trace->is_cpu_op().get(0), 0);
  EXPECT_EQ(trace->string(*trace->pg_name().get(0)), "dp");
  EXPECT_EQ(trace->string(*trace->involved_dim().get(0)), "10");
  EXPECT_EQ(trace->inputs(0), inputs);
  EXPECT_EQ(trace->outputs(0), IoInfo{});

  wire::DecodedNode node{};
  const std::string record = trace->record(0);
  wire::decode_node(record, node);
  EXPECT_EQ(node.id, 9U);
  EXPECT_EQ(node.name, "ar");
  EXPECT_EQ(node.start_ns, 1'500U);
  EXPECT_EQ(node.duration_ns, 2'000U);
  EXPECT_EQ(node.pg_name, "dp");
  // The exact start is written as an attribute, since 1.5 us is no whole number of them.
  EXPECT_EQ(trace->attribute(0, "start_ns")->value, AttributeValue(std::uint64_t{1'500}));
  EXPECT_EQ(trace->attribute(0, "duration_ns"), std::nullopt);
}

TEST(TraceBuilder, TimesOfTheWholeRangeSurvive) {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint64_t ns :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{768}, std::uint64_t{1000}, most / 1000 * 1000, most}) {
    const TracePtr trace = build_one({.start_ns = ns, .duration_ns = ns});
    wire::DecodedNode node{};
    const std::string record = trace->record(0);
    wire::decode_node(record, node);
    EXPECT_EQ(node.start_ns, ns);
    EXPECT_EQ(node.duration_ns, ns);
    EXPECT_TRUE(node.problems.empty());
  }
}

TEST(TraceBuilder, DependenciesMayPointForwardAndKeepTheirOrder) {
  const TracePtr trace = make_trace({{5, {7, 6, 7}, {5}}, {6}, {7}});
  const auto parents = trace->data_deps()[0];
  EXPECT_EQ(std::vector<NodeIndex>(parents.begin(), parents.end()), (std::vector<NodeIndex>{2, 1, 2}));
  EXPECT_EQ(trace->ctrl_deps()[0][0], 0U);
}

TEST(TraceBuilder, DuplicateIdNamesBothRecords) {
  TraceBuilder builder;
  builder.add_node({.id = 3});
  builder.add_node({.id = 4});
  builder.add_node({.id = 3});
  try {
    builder.build();
    FAIL() << "no error";
  } catch (const FormatError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("record 3"), std::string::npos) << text;
    EXPECT_NE(text.find("record 1"), std::string::npos) << text;
  }
  EXPECT_EQ(builder.size(), 0U);
}

TEST(TraceBuilder, MissingParentsAreNamed) {
  try {
    make_trace({{1}, {2, {99}, {0, 99}}});
    FAIL() << "no error";
  } catch (const DependencyError& error) {
    EXPECT_NE(std::string(error.what()).find("node 2 depends on missing node 99"), std::string::npos);
    EXPECT_EQ(error.nodes(), (std::vector<NodeId>{0, 99}));
  }
}

TEST(TraceBuilder, IsEmptyAndUsableAfterBuild) {
  TraceBuilder builder;
  builder.set_metadata({"9", {}});
  builder.add_node({.id = 1});
  const TracePtr first = builder.build();
  builder.add_node({.id = 1});
  const TracePtr second = builder.build();
  EXPECT_EQ(first->metadata().version, "9");
  EXPECT_EQ(second->metadata().version, "0.0.4");
  EXPECT_EQ(second->size(), 1U);
}

TEST(TraceBuilder, WhatDoesNotFitIsRefusedAndLeavesNoRow) {
  TraceBuilder builder;
  const auto refused = [&](const std::vector<Attribute>& attributes) {
    EXPECT_THROW(builder.add_node({.id = 1, .attributes = attributes}), ChakraError) << attributes[0].name;
    EXPECT_EQ(builder.size(), 0U);
  };
  refused({make_string("comm_size", "8")});
  refused({make_uint64("comm_size", ~std::uint64_t{0})});
  refused({make_int64("pg_name", 0)});
  refused({{"x", AttributeKind::int32_value, std::int64_t{1} << 40, {}}});
  refused({{"x", AttributeKind::int64_value, std::string("1"), {}}});
  refused({make_string("x", "\xff")});
  refused({make_string("\xff", "x")});
  refused({make_uint64("start_ns", 5)});
  refused({make_int64("duration_ns", 0)});
}

TEST(TraceBuilder, TextThatIsNotUtf8IsRefused) {
  TraceBuilder builder;
  const IoInfo bad{"ok", "\xff", ""};
  EXPECT_THROW(builder.add_node({.name = "\xff"}), ChakraError);
  EXPECT_THROW(builder.add_node({.inputs = &bad}), ChakraError);
  EXPECT_THROW(builder.add_node({.outputs = &bad}), ChakraError);
  EXPECT_THROW(builder.set_metadata({"\xff", {}}), ChakraError);
  EXPECT_EQ(builder.size(), 0U);
}

TEST(TraceBuilder, RecordsAreKeptAsTheyAre) {
  const std::string message = number_field(1, 4) + number_field(3, 8) + bytes_field(11, "abc") + fixed32_field(77, 1);
  TraceBuilder builder;
  {
    const std::string short_lived = message;
    builder.add_record(short_lived);
  }
  builder.add_record("");
  const TracePtr trace = builder.build();
  EXPECT_EQ(trace->record(0), message);
  EXPECT_EQ(static_cast<int>(trace->types()[0]), 8);
  EXPECT_EQ(trace->record(1), "");
}

TEST(TraceBuilder, RecordsThatAreNoneAreRefused) {
  TraceBuilder builder;
  builder.add_record(number_field(1, 1));
  for (const std::string& bad : {std::string("\x08"), bytes_field(2, "\xff"), attribute("tid", bytes_field(29, "x"))}) {
    try {
      builder.add_record(bad);
      FAIL() << "no error";
    } catch (const FormatError& error) {
      EXPECT_EQ(error.location().record, 2U);
    }
  }
  EXPECT_EQ(builder.build()->size(), 1U);
}

TEST(TraceBuilder, ManyRecordsOfAllSizesStayApart) {
  TraceBuilder builder;
  std::vector<std::string> messages;
  for (std::size_t i = 0; i < 300; ++i) {
    messages.push_back(number_field(1, i) +
                       bytes_field(50, std::string(i * i % 20'000, static_cast<char>('a' + i % 26))));
    builder.add_record(messages.back());
  }
  const TracePtr trace = builder.build();
  for (NodeIndex row = 0; row < 300; ++row) {
    ASSERT_EQ(trace->record(row), messages[row]);
  }
}

TEST(TraceBuilder, NodesLikeAPatternAreAsIfGivenWhole) {
  const std::vector<Attribute> attributes{make_int64("comm_size", 5), make_string("pg_name", "tp"),
                                          make_string("other", "text")};
  const NodeSpec shared{.type = NodeType::comm_coll, .start_ns = 3, .duration_ns = 1500, .attributes = attributes};
  const std::vector<NodeId> data{1};
  const std::vector<NodeId> control{1, 9};
  TraceBuilder whole;
  TraceBuilder like;
  const std::size_t pattern = like.add_pattern(shared);
  for (const NodeId id : {NodeId{1}, NodeId{9}, NodeId{4}}) {
    NodeSpec node = shared;
    node.id = id;
    const std::string name = "n" + std::to_string(id);
    node.name = name;
    if (id == 4) {
      node.data_deps = data;
      node.ctrl_deps = control;
    }
    whole.add_node(node);
    like.add_node_like(pattern, id, node.name, node.data_deps, node.ctrl_deps);
  }
  const TracePtr expected = whole.build();
  const TracePtr made = like.build();
  ASSERT_EQ(made->size(), 3U);
  for (NodeIndex row = 0; row < 3; ++row) {
    EXPECT_EQ(made->record(row), expected->record(row));
    EXPECT_EQ(made->name(row), expected->name(row));
    EXPECT_EQ(made->duration_ns()[row], 1500U);
    EXPECT_EQ(made->column(IntegerAttribute::comm_size).get(row), 5);
    EXPECT_EQ(made->string(*made->pg_name().get(row)), "tp");
  }
}

TEST(TraceBuilder, PatternsThatDoNotFitAreErrors) {
  TraceBuilder builder;
  EXPECT_THROW(builder.add_node_like(0, 1, "a"), ChakraError);
  const Attribute wrong = make_string("comm_size", "five");
  EXPECT_THROW(builder.add_pattern({.attributes = {&wrong, 1}}), ChakraError);
  const std::size_t pattern = builder.add_pattern({});
  EXPECT_THROW(builder.add_node_like(pattern, 1, "\xff"), ChakraError);
  EXPECT_EQ(builder.size(), 0U);
}

}  // namespace
}  // namespace chakra
