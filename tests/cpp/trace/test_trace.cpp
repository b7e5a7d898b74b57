// SPDX-License-Identifier: MIT
#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "message.hpp"
#include "traces.hpp"

namespace chakra {
namespace {

using namespace chakra::test;

std::vector<NodeIndex> list(std::span<const NodeIndex> rows) { return {rows.begin(), rows.end()}; }

TEST(Trace, ChildrenAreEachOnceAscendingByKind) {
  const TracePtr trace = make_trace({{0}, {1, {0, 0}, {0}}, {2, {1}, {0}}, {3, {0}}});
  EXPECT_EQ(list(trace->children()[0]), (std::vector<NodeIndex>{1, 2, 3}));
  EXPECT_EQ(list(trace->children(DependencyKind::data)[0]), (std::vector<NodeIndex>{1, 3}));
  EXPECT_EQ(list(trace->children(DependencyKind::control)[0]), (std::vector<NodeIndex>{1, 2}));
  EXPECT_EQ(list(trace->children()[3]), std::vector<NodeIndex>{});
}

TEST(Trace, ChildrenAgreeWithParentsOnRandomGraphs) {
  std::mt19937 random(5);
  std::vector<Plain> nodes;
  for (NodeId id = 0; id < 500; ++id) {
    nodes.push_back({id, {}, {}});
    for (auto i = random() % 6; i > 0; --i) {
      nodes.back().data.push_back(random() % 500);
      nodes.back().ctrl.push_back(random() % 500);
    }
  }
  const TracePtr trace = make_trace(nodes);
  std::vector<std::set<NodeIndex>> expected(500);
  for (NodeIndex row = 0; row < 500; ++row) {
    for (const NodeId parent : nodes[row].data) {
      expected[parent].insert(row);
    }
    for (const NodeId parent : nodes[row].ctrl) {
      expected[parent].insert(row);
    }
  }
  for (NodeIndex row = 0; row < 500; ++row) {
    ASSERT_EQ(list(trace->children()[row]), std::vector<NodeIndex>(expected[row].begin(), expected[row].end()));
  }
}

TEST(Trace, ColdPartsThatAreMalformedThrowWhenAskedFor) {
  TraceBuilder builder;
  builder.add_record(number_field(1, 6) + attribute("list", bytes_field(10, bytes_field(1, "\x80"))));
  builder.add_record(number_field(1, 7) + bytes_field(8, "\x0a\x09"));
  const TracePtr trace = builder.build();
  EXPECT_THROW((void)trace->attributes(0), FormatError);
  EXPECT_THROW((void)trace->attribute(0, "list"), FormatError);
  EXPECT_EQ(trace->attribute(0, "other"), std::nullopt);
  EXPECT_THROW((void)trace->inputs(1), FormatError);
  EXPECT_EQ(trace->outputs(1), IoInfo{});
}

TEST(Trace, MemoryCountsChildrenOnceMade) {
  const TracePtr trace = make_trace({{0}, {1, {0}}});
  const std::size_t before = trace->memory_bytes();
  (void)trace->children();
  const std::size_t after = trace->memory_bytes();
  EXPECT_GT(after, before);
  (void)trace->children();
  EXPECT_EQ(trace->memory_bytes(), after);
}

TEST(NodeTypes, NamesAreReadBack) {
  for (std::int32_t number = 0; number < 8; ++number) {
    const auto type = static_cast<NodeType>(number);
    EXPECT_EQ(parse_node_type(to_string(type)), type);
  }
  for (std::int32_t number = 0; number < 10; ++number) {
    const auto type = static_cast<CollectiveType>(number);
    EXPECT_EQ(parse_collective_type(to_string(type)), type);
  }
  EXPECT_EQ(to_string(static_cast<NodeType>(8)), "NODE_TYPE_8");
  EXPECT_EQ(to_string(static_cast<CollectiveType>(-1)), "COLLECTIVE_TYPE_-1");
  EXPECT_EQ(parse_node_type("comp_node"), std::nullopt);
}

TEST(Errors, SayWhere) {
  EXPECT_STREQ(FormatError({"a.et", 3, 17}, "bad").what(), "a.et: record 3, byte offset 17: bad");
  EXPECT_STREQ(FormatError({"a.et", {}, 17}, "bad").what(), "a.et: byte offset 17: bad");
  EXPECT_STREQ(FormatError({"", {}, {}}, "bad").what(), "<input>: bad");
}

}  // namespace
}  // namespace chakra
