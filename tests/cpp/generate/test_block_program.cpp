// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "chakra_core/block_program.hpp"
#include "chakra_core/errors.hpp"

namespace chakra {
namespace {

/// "a" waits for the input, "b" for a; both in one queue; b has the group and a peer of the rank.
Block two_nodes() {
  return {.nodes = {{.name = "a", .duration_ns = 7, .inputs = {0}, .queue = 0},
                    {.name = "b",
                     .type = NodeType::comm_coll,
                     .attributes = {make_int64("comm_size", 64)},
                     .rank_attributes = {{"pg_name", 0}, {"comm_dst", 1}},
                     .parents = {0},
                     .queue = 0}},
          .num_inputs = 1};
}

BlockProgram three_placements() {
  return {.blocks = {two_nodes()},
          .block = {0, 0, 0},
          .label = {"x.", "y.", "z."},
          .link_offsets = {0, 0, 1, 3},
          .link_placement = {0, 0, 1},
          .link_node = {1, 0, 0}};
}

std::vector<NodeIndex> parents(const Adjacency& lists, NodeIndex row) {
  const auto of_row = lists[row];
  return {of_row.begin(), of_row.end()};
}

TEST(BlockProgram, RepeatsBlocksWithTheirLinksAndQueues) {
  const std::vector<RankValue> values{std::string("tp"), std::int64_t{3}};
  const TracePtr trace = build_trace(three_placements(), values);
  ASSERT_EQ(trace->size(), 6U);
  EXPECT_EQ(size(three_placements()), 6U);
  EXPECT_EQ(trace->name(4), "z.a");
  EXPECT_EQ(trace->ids()[5], 5U);
  EXPECT_EQ(trace->duration_ns()[2], 7U);
  EXPECT_EQ(parents(trace->data_deps(), 0), (std::vector<NodeIndex>{}));
  EXPECT_EQ(parents(trace->data_deps(), 2), (std::vector<NodeIndex>{1}));
  EXPECT_EQ(parents(trace->ctrl_deps(), 2), (std::vector<NodeIndex>{}));  // row 1 is a data dependency already
  EXPECT_EQ(parents(trace->data_deps(), 4), (std::vector<NodeIndex>{0, 2}));
  EXPECT_EQ(parents(trace->ctrl_deps(), 4), (std::vector<NodeIndex>{3}));
  EXPECT_EQ(parents(trace->data_deps(), 5), (std::vector<NodeIndex>{4}));
  EXPECT_EQ(trace->attribute(5, "pg_name")->value, AttributeValue(std::string("tp")));
  EXPECT_EQ(trace->attribute(1, "comm_dst")->value, AttributeValue(std::int64_t{3}));
}

TEST(BlockProgram, WhatDoesNotFitIsAnError) {
  const std::vector<RankValue> values{std::string("tp"), std::int64_t{3}};
  const auto refuses = [&](auto change) {
    BlockProgram program = three_placements();
    change(program);
    EXPECT_THROW(build_trace(program, values), ChakraError);
  };
  refuses([](BlockProgram& program) { program.block[1] = 1; });
  refuses([](BlockProgram& program) { program.label.pop_back(); });
  refuses([](BlockProgram& program) { program.link_offsets.pop_back(); });
  refuses([](BlockProgram& program) { program.link_placement[0] = 1; });
  refuses([](BlockProgram& program) { program.link_node[0] = 2; });
  refuses([](BlockProgram& program) { program.blocks[0].nodes[0].parents = {0}; });
  refuses([](BlockProgram& program) { program.blocks[0].nodes[0].inputs = {1}; });
  refuses([](BlockProgram& program) { program.blocks[0].nodes[0].queue = 1U << 16; });
  refuses([](BlockProgram& program) { program.blocks[0].nodes[1].rank_attributes[0].value = 2; });
  EXPECT_THROW(build_trace(three_placements(), {}), ChakraError);
}

}  // namespace
}  // namespace chakra
