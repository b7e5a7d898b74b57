// SPDX-License-Identifier: MIT
#include <array>

#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "chakra_core/node_arrays.hpp"

namespace chakra {
namespace {

constexpr std::array<NodeId, 3> ids = {7, 8, 9};

TEST(NodeArrays, AddWhatSingleCallsAdd) {
  constexpr std::array<std::string_view, 3> names = {"a", "b", "a"};
  constexpr std::array<NodeType, 3> types = {NodeType::comp, NodeType::comm_coll, NodeType::comp};
  constexpr std::array<std::uint64_t, 4> offsets = {0, 0, 1, 3};
  constexpr std::array<NodeId, 3> parents = {7, 8, 7};
  constexpr std::array<std::uint64_t, 3> durations = {1000, 1, 0};
  constexpr std::array<std::int64_t, 3> sizes = {0, 64, 0};
  constexpr std::array<bool, 3> absent = {true, false, true};
  const std::array<AttributeArray, 1> attributes = {
      AttributeArray{"comm_size", AttributeKind::int64_value, std::span<const std::int64_t>(sizes), absent}};
  TraceBuilder builder;
  add_nodes(builder, {.ids = ids,
                      .types = types,
                      .names = names,
                      .data_deps = {offsets, parents},
                      .duration_ns = durations,
                      .attributes = attributes});
  const TracePtr trace = builder.build();

  TraceBuilder single;
  const std::vector<Attribute> size = {make_int64("comm_size", 64)};
  single.add_node({.id = 7, .name = "a", .type = NodeType::comp, .duration_ns = 1000});
  single.add_node({.id = 8,
                   .name = "b",
                   .type = NodeType::comm_coll,
                   .data_deps = std::span(parents).first(1),
                   .duration_ns = 1,
                   .attributes = size});
  single.add_node({.id = 9, .name = "a", .type = NodeType::comp, .data_deps = std::span(parents).subspan(1)});
  const TracePtr expected = single.build();
  ASSERT_EQ(trace->size(), 3U);
  for (NodeIndex row = 0; row < 3; ++row) {
    EXPECT_EQ(trace->record(row), expected->record(row));
  }
  EXPECT_EQ(trace->column(IntegerAttribute::comm_size).count(), 1U);
}

TEST(NodeArrays, AListANodeAndTexts) {
  constexpr std::array<std::uint64_t, 4> offsets = {0, 2, 2, 3};
  constexpr std::array<bool, 3> dims = {true, false, true};
  constexpr std::array<std::string_view, 3> words = {"a", "", "c"};
  const std::array<AttributeArray, 2> attributes = {
      AttributeArray{"involved_dim", AttributeKind::bool_list, std::span<const bool>(dims), {}, offsets},
      AttributeArray{"words", AttributeKind::string_list, std::span<const std::string_view>(words), {}, offsets}};
  TraceBuilder builder;
  add_nodes(builder, {.ids = ids, .inputs = {.shapes = words}, .attributes = attributes});
  const TracePtr trace = builder.build();
  EXPECT_EQ(trace->inputs(0), (IoInfo{"", "a", ""}));
  EXPECT_EQ(trace->inputs(1), IoInfo{});
  using Words = std::vector<std::string>;
  EXPECT_EQ(trace->attribute(0, "involved_dim")->value, AttributeValue((std::vector<bool>{true, false})));
  EXPECT_EQ(trace->attribute(1, "words")->value, AttributeValue(Words{}));
  EXPECT_EQ(trace->attribute(2, "words")->value, AttributeValue(Words{"c"}));
}

TEST(NodeArrays, ListsThatDoNotFitAddNothing) {
  constexpr std::array<std::uint64_t, 2> two = {1, 2};
  constexpr std::array<std::uint64_t, 4> falling = {0, 2, 1, 2};
  constexpr std::array<std::uint64_t, 4> beyond = {0, 1, 2, 3};
  const std::array<AttributeArray, 1> attributes = {
      AttributeArray{"x", AttributeKind::uint64_value, std::span<const std::uint64_t>(two)}};
  TraceBuilder builder;
  EXPECT_THROW(add_nodes(builder, {.ids = ids, .start_ns = two}), ChakraError);
  EXPECT_THROW(add_nodes(builder, {.ids = ids, .data_deps = {two, {}}}), ChakraError);
  EXPECT_THROW(add_nodes(builder, {.ids = ids, .data_deps = {falling, two}}), ChakraError);
  EXPECT_THROW(add_nodes(builder, {.ids = ids, .ctrl_deps = {beyond, two}}), ChakraError);
  EXPECT_THROW(add_nodes(builder, {.ids = ids, .attributes = attributes}), ChakraError);
  EXPECT_EQ(builder.size(), 0U);
}

}  // namespace
}  // namespace chakra
