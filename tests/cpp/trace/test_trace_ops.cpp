// SPDX-License-Identifier: MIT
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "chakra_core/trace_ops.hpp"
#include "message.hpp"
#include "traces.hpp"

namespace chakra {
namespace {

using test::attribute;
using test::bytes_field;
using test::make_trace;
using test::number_field;

/// A Node message with an unpacked dependency and a field that the schema does not have.
std::string message(NodeId id, const std::vector<NodeId>& data_deps) {
  std::string bytes = number_field(1, id) + bytes_field(2, "n" + std::to_string(id)) + number_field(3, 4);
  for (const NodeId parent : data_deps) {
    bytes += number_field(5, parent);
  }
  return bytes + attribute("comm_size", number_field(9, 100 + id)) + bytes_field(77, "kept");
}

TracePtr trace_of(const std::vector<std::string>& messages) {
  TraceBuilder builder;
  for (const std::string& bytes : messages) {
    builder.add_record(bytes);
  }
  return builder.build();
}

std::vector<NodeId> parents(const Trace& trace, NodeIndex row) {
  std::vector<NodeId> ids;
  for (const NodeIndex parent : trace.data_deps()[row]) {
    ids.push_back(trace.ids()[parent]);
  }
  return ids;
}

TEST(Select, KeepsRecordsOfUnchangedNodesAndDropsDependenciesOnOthers) {
  const std::vector<std::string> messages = {message(5, {}), message(7, {5}), message(9, {7, 5})};
  const TracePtr whole = trace_of(messages);
  const std::vector<NodeIndex> rows = {2, 0};
  const TracePtr part = select(*whole, rows);
  ASSERT_EQ(part->size(), 2U);
  EXPECT_EQ(part->ids()[0], 9U);
  EXPECT_EQ(part->name(0), "n9");
  EXPECT_EQ(part->name(1), "n5");
  EXPECT_EQ(parents(*part, 0), (std::vector<NodeId>{5}));
  EXPECT_EQ(left_out_dependencies(*part), 1U);
  EXPECT_EQ(left_out_dependencies(*whole), 0U);
  EXPECT_EQ(part->record(1), messages[0]);
  EXPECT_EQ(trace_of({part->record(0), part->record(1)})->attributes(0), whole->attributes(2));
  EXPECT_NE(part->record(0).find("kept"), std::string::npos);
  EXPECT_EQ(part->column(IntegerAttribute::comm_size).get(0), 109);
  EXPECT_EQ(part->find(5), std::optional<NodeIndex>(1));
  EXPECT_FALSE(part->find(7).has_value());
}

TEST(Select, OfASelectionStaysRight) {
  const TracePtr whole = trace_of({message(5, {}), message(7, {5}), message(9, {7, 5})});
  const std::vector<NodeIndex> rows = {1, 2};
  const std::vector<NodeIndex> again = {1};
  const TracePtr part = select(*select(*whole, rows), again);
  EXPECT_EQ(part->ids()[0], 9U);
  EXPECT_TRUE(parents(*part, 0).empty());
  EXPECT_EQ(trace_of({part->record(0)})->attributes(0), whole->attributes(2));
}

TEST(Select, OutlivesTheWhole) {
  TracePtr whole = trace_of({message(5, {}), message(7, {5})});
  const std::vector<NodeIndex> rows = {1};
  const TracePtr part = select(*whole, rows);
  whole.reset();
  EXPECT_EQ(part->attributes(0).front().name, "comm_size");
}

TEST(Select, RefusesRowsThatAreAbsentOrTwice) {
  const TracePtr whole = make_trace({{1}, {2}});
  const std::vector<NodeIndex> absent = {2};
  const std::vector<NodeIndex> twice = {0, 1, 0};
  EXPECT_THROW((void)select(*whole, absent), ChakraError);
  EXPECT_THROW((void)select(*whole, twice), ChakraError);
  const std::vector<NodeId> ids = {1, 3};
  EXPECT_THROW((void)rows_of(*whole, ids), ChakraError);
}

TEST(RowsWhere, TimeWindowIsHalfOpen) {
  TraceBuilder builder;
  builder.add_node({.id = 0, .start_ns = 10, .duration_ns = 10});
  builder.add_node({.id = 1, .start_ns = 20});
  builder.add_node({.id = 2, .start_ns = std::numeric_limits<std::uint64_t>::max(), .duration_ns = 5});
  const TracePtr trace = builder.build();
  const auto between = [&](std::uint64_t start, std::uint64_t end) {
    return rows_where(*trace, {.start_ns = start, .end_ns = end});
  };
  using Rows = std::vector<NodeIndex>;
  EXPECT_EQ(between(0, 10), Rows{});
  EXPECT_EQ(between(0, 11), Rows{0});
  EXPECT_EQ(between(19, 20), Rows{0});
  EXPECT_EQ(between(20, 21), Rows{1});
  EXPECT_EQ(between(21, 30), Rows{});
  EXPECT_EQ(rows_where(*trace, {.start_ns = 21}), Rows{2});
  EXPECT_EQ(rows_where(*trace, {}), (Rows{0, 1, 2}));
}

TEST(Concat, KeepsIdsOrRefusesEqualOnes) {
  const TracePtr one = trace_of({message(1, {}), message(2, {1})});
  const TracePtr other = trace_of({message(11, {}), message(12, {11})});
  const std::vector<TracePtr> both = {one, other};
  const TracePtr whole = concat(both, ConcatIds::keep);
  ASSERT_EQ(whole->size(), 4U);
  EXPECT_EQ(parents(*whole, 3), (std::vector<NodeId>{11}));
  EXPECT_EQ(whole->record(3), message(12, {11}));
  EXPECT_EQ(whole->name(2), "n11");
  const std::vector<TracePtr> same = {one, one};
  EXPECT_THROW((void)concat(same, ConcatIds::keep), ChakraError);
  EXPECT_EQ(concat({}, ConcatIds::keep)->size(), 0U);
}

TEST(Concat, RenumberedIdsAreRows) {
  const TracePtr one = trace_of({message(0, {}), message(1, {0})});
  const TracePtr other = trace_of({message(2, {9}), message(9, {})});
  const std::vector<TracePtr> both = {one, other};
  const TracePtr whole = concat(both, ConcatIds::renumber);
  EXPECT_EQ((std::vector<NodeId>(whole->ids().begin(), whole->ids().end())), (std::vector<NodeId>{0, 1, 2, 3}));
  EXPECT_EQ(whole->record(1), message(1, {0}));  // nothing of it changed
  EXPECT_EQ(parents(*whole, 2), (std::vector<NodeId>{3}));
  const TracePtr read = trace_of({whole->record(0), whole->record(1), whole->record(2), whole->record(3)});
  EXPECT_TRUE(diff(*whole, *read).same());
  EXPECT_EQ(read->attributes(3), other->attributes(1));
  EXPECT_NE(whole->record(3).find("kept"), std::string::npos);
}

TEST(Stats, ShapeOfADiamond) {
  TraceBuilder builder;
  const std::vector<NodeId> four = {4};
  const std::vector<NodeId> middle = {2, 3};
  builder.add_node({.id = 1, .type = NodeType::comp, .data_deps = middle, .duration_ns = 1});
  builder.add_node({.id = 2, .type = NodeType::comp, .data_deps = four, .duration_ns = 5});
  builder.add_node({.id = 3, .type = NodeType::comp, .ctrl_deps = four, .duration_ns = 7});
  builder.add_node({.id = 4, .type = NodeType::mem_load, .duration_ns = 2});
  const TracePtr trace = builder.build();
  const TraceStats made = stats(*trace);
  ASSERT_TRUE(made.shape.has_value());
  EXPECT_EQ(made.shape->depth, 3U);
  EXPECT_EQ(made.shape->width, 2U);
  EXPECT_EQ(made.shape->widest_level, 1U);
  EXPECT_EQ(made.shape->critical_path_ns, 10U);
  EXPECT_EQ(made.shape->critical_path, (std::vector<NodeIndex>{3, 2, 0}));
  EXPECT_EQ(made.shape->levels, (std::vector<std::uint32_t>{2, 1, 1, 0}));
  ASSERT_EQ(made.types.size(), 2U);
  EXPECT_EQ(made.types[1].type, NodeType::comp);
  EXPECT_EQ(made.types[1].nodes, 3U);
  EXPECT_EQ(made.types[1].duration_ns, 13U);
  EXPECT_EQ(made.unplaced.nodes, 4U);
}

TEST(Stats, ACycleHasNoShape) {
  EXPECT_FALSE(stats(*make_trace({{1, {2}}, {2, {1}}})).shape.has_value());
  EXPECT_FALSE(stats(*make_trace({{1, {1}}})).shape.has_value());
  EXPECT_EQ(stats(*make_trace({})).shape->depth, 0U);
}

TEST(Stats, SumsStayAtTheLargestNumber) {
  TraceBuilder builder;
  const std::vector<NodeId> parent = {0};
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  builder.add_node({.id = 0, .type = NodeType::comp, .duration_ns = most - 1});
  builder.add_node({.id = 1, .type = NodeType::comp, .data_deps = parent, .duration_ns = 5});
  const TraceStats made = stats(*builder.build());
  EXPECT_EQ(made.types.front().duration_ns, most);
  EXPECT_EQ(made.shape->critical_path_ns, most);
}

TEST(Diff, NamesTheFields) {
  TraceBuilder one;
  TraceBuilder other;
  const std::vector<Attribute> first = {make_int64("comm_size", 1), make_bool("x", true)};
  const std::vector<Attribute> second = {make_int64("comm_size", 2)};
  const std::vector<NodeId> parent = {1};
  one.add_node({.id = 1, .name = "a"});
  one.add_node({.id = 2, .name = "b", .attributes = first});
  one.add_node({.id = 3});
  other.add_node({.id = 4});
  other.add_node({.id = 2, .name = "c", .data_deps = parent, .attributes = second});
  other.add_node({.id = 1, .name = "a"});
  const TraceDiff found = diff(*one.build(), *other.build());
  EXPECT_FALSE(found.same());
  EXPECT_EQ(found.equal, 1U);
  EXPECT_EQ(found.ids_only_in_first, (std::vector<NodeId>{3}));
  EXPECT_EQ(found.ids_only_in_second, (std::vector<NodeId>{4}));
  ASSERT_EQ(found.changed, 1U);
  EXPECT_EQ(found.changed_nodes.front().fields,
            (std::vector<std::string>{"name", "data_deps", "attrs.comm_size", "attrs.x"}));
}

TEST(Diff, IgnoresHowThingsAreEncodedAndBoundsTheLists) {
  const std::string packed = number_field(1, 2) + bytes_field(5, test::varint(1));
  const std::string unpacked = number_field(5, 1) + number_field(1, 2);
  const std::string nan = attribute("v", test::fixed64_field(3, 0x7ff8000000000000ULL));
  const TracePtr one = trace_of({number_field(1, 1) + nan, packed});
  const TracePtr other = trace_of({nan + number_field(1, 1), unpacked});
  EXPECT_TRUE(diff(*one, *other).same());
  const TraceDiff bounded = diff(*make_trace({{1}, {2}, {3}}), *make_trace({{4}}), 2);
  EXPECT_EQ(bounded.only_in_first, 3U);
  EXPECT_EQ(bounded.ids_only_in_first.size(), 2U);
}

}  // namespace
}  // namespace chakra
