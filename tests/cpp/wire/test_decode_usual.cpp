// SPDX-License-Identifier: MIT
#include <array>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "wire/decode_usual.hpp"
#include "wire/encode.hpp"

namespace chakra::wire {
namespace {

std::string collective() {
  const std::vector<NodeId> parents = {3, 300, 1ULL << 40};
  std::string message;
  append_head(message, {.id = 77,
                        .name = "all_reduce \xC3\xA9",
                        .type = NodeType::comm_coll,
                        .ctrl_deps = std::span(parents).first(1),
                        .data_deps = parents,
                        .start_micros = 12'345'678,
                        .duration_micros = 9});
  append_inputs(message, {"[[1, 2]]", "[[64]]", "['Tensor(float)']"});
  for (const Attribute& attribute :
       {make_bool("is_cpu_op", false), make_int64("comm_type", 0), make_int64("comm_size", 1 << 20),
        make_uint64("tid", 5), make_string("pg_name", "tp"), make_int64("seq_id", -1),
        make_uint64("duration_ns", 9'250), make_double("scale", 0.5)}) {
    append_node_attribute(message, attribute);
  }
  return message;
}

std::string compute() {
  std::string message;
  append_head(message, {.id = 1, .name = "mm", .type = NodeType::comp});
  append_node_attribute(message, make_int64("num_ops", 1'000'000));
  append_node_attribute(message, {"comm_src", AttributeKind::int32_value, std::int64_t{-1}, {}});
  append_node_attribute(message, {"stream", AttributeKind::sint64_value, std::int64_t{7}, {}});
  append_node_attribute(message, make_bool_list("involved_dim", {true, false}));
  return message;
}

/// Everything that decode_usual() fills must be what decode_any() says.
void expect_agreement(const std::string& message, const DecodedNode& usual) {
  DecodedNode any{};
  ASSERT_NO_THROW(decode_any(message, any));
  EXPECT_TRUE(any.problems.empty());
  EXPECT_TRUE(any.name_is_utf8);
  EXPECT_EQ(usual.id, any.id);
  EXPECT_EQ(usual.name, any.name);
  EXPECT_EQ(usual.type, any.type);
  EXPECT_EQ(usual.start_ns, any.start_ns);
  EXPECT_EQ(usual.duration_ns, any.duration_ns);
  EXPECT_EQ(usual.is_cpu_op, any.is_cpu_op);
  EXPECT_EQ(usual.pg_name, any.pg_name);
  EXPECT_EQ(usual.involved_dim, any.involved_dim);
  EXPECT_EQ(usual.data_deps, any.data_deps);
  EXPECT_EQ(usual.ctrl_deps, any.ctrl_deps);
  ASSERT_EQ(usual.integers_present, any.integers_present);
  for (std::size_t i = 0; i < integer_attribute_count; ++i) {
    if ((usual.integers_present >> i & 1U) != 0) {
      EXPECT_EQ(usual.integers[i], any.integers[i]);
    }
  }
}

void expect_agreement(const std::string& message) {
  DecodedNode usual{};
  if (decode_usual(message, usual)) {
    expect_agreement(message, usual);
  }
}

TEST(DecodeUsual, TakesWhatWritersMake) {
  DecodedNode node{};
  ASSERT_TRUE(decode_usual(collective(), node));
  EXPECT_EQ(node.id, 77U);
  EXPECT_EQ(node.data_deps, (IdList(std::vector<NodeId>{3, 300, 1ULL << 40})));
  EXPECT_EQ(node.start_ns, 12'345'678'000U);
  EXPECT_EQ(node.duration_ns, 9'250U);
  EXPECT_EQ(node.integers[static_cast<std::size_t>(IntegerAttribute::comm_size)], 1 << 20);
  expect_agreement(collective());
}

TEST(DecodeUsual, LeavesTheUnusualToTheCarefulDecoder) {
  DecodedNode node{};
  EXPECT_FALSE(decode_usual(compute(), node)) << "sint64 and lists are rare enough for the careful decoder";
  EXPECT_FALSE(decode_usual(collective() + std::string("\x5A\x01x", 3), node)) << "an unknown field";
  std::string twice = collective();
  append_node_attribute(twice, make_int64("comm_size", 5));
  EXPECT_FALSE(decode_usual(twice, node)) << "an attribute twice";
}

/// Attributes in the orders of several kinds of nodes, one decoder for all of them as in a file.
TEST(DecodeUsual, WhatEarlierMessagesTaughtChangesNothing) {
  std::mt19937 random(11);
  const std::vector<std::string> names = {
      "tid",     "stream", "rf_id",         "is_cpu_op", "comm_size", "op_schema", "start_ns",
      "pg_name", "a",      "comm_priority", "duration",  "num_ops",   "fw_parent", "a name of more than sixteen bytes"};
  DecodedNode usual{};
  std::size_t taken = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string message;
    append_head(message, {.id = random(), .name = "n", .type = NodeType::comp});
    for (std::size_t first = random() % names.size(), i = 0; i < 5; ++i) {
      const std::string& name = names[(first + i * (1 + first % 3)) % names.size()];
      const auto number = static_cast<std::int64_t>(std::uint64_t{random()} << random() % 33 >> random() % 40);
      switch (random() % 8) {
        case 0:
          append_node_attribute(message, make_string(name, std::string(random() % 20, 'x')));
          break;
        case 1:
          append_node_attribute(message, make_int64(name, -number));
          break;
        case 2:
          append_node_attribute(message, make_bool(name, number % 2 == 0));
          break;
        default:
          append_node_attribute(message, make_uint64(name, static_cast<std::uint64_t>(number)));
      }
    }
    if (random() % 16 == 0) {
      message[random() % message.size()] = static_cast<char>(random());
    }
    if (decode_usual(message, usual)) {
      ++taken;
      expect_agreement(message, usual);
    }
  }
  EXPECT_GT(taken, 2'000U);
}

TEST(DecodeUsual, AgreesOnDamagedMessages) {
  std::mt19937 random(7);
  for (const std::string& original : {collective(), compute()}) {
    for (std::size_t size = 0; size <= original.size(); ++size) {
      expect_agreement(original.substr(0, size));
    }
    for (int round = 0; round < 20'000; ++round) {
      std::string message = original;
      for (std::size_t changes = 1 + random() % 3; changes > 0; --changes) {
        message[random() % message.size()] = static_cast<char>(random());
      }
      expect_agreement(message);
    }
  }
}

}  // namespace
}  // namespace chakra::wire
