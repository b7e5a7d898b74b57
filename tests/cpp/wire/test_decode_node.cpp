// SPDX-License-Identifier: MIT
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "message.hpp"
#include "wire/decode.hpp"
#include "wire/encode.hpp"

namespace chakra::wire {
namespace {

using namespace chakra::test;

constexpr auto uint64_max = std::numeric_limits<std::uint64_t>::max();

/// A node together with the message that its views point into.
struct Decoded : DecodedNode {
  explicit Decoded(std::string bytes) : DecodedNode{}, message(std::make_unique<std::string>(std::move(bytes))) {
    decode_node(*message, *this);
  }
  std::unique_ptr<std::string> message;
};

Decoded decode(std::string message) { return Decoded(std::move(message)); }

std::optional<std::int64_t> integer(const DecodedNode& node, IntegerAttribute which) {
  const auto i = static_cast<std::size_t>(which);
  return (node.integers_present >> i & 1U) != 0 ? std::optional(node.integers[i]) : std::nullopt;
}

TEST(DecodeNode, EmptyMessageIsANodeOfDefaults) {
  const Decoded node = decode("");
  EXPECT_EQ(node.id, 0U);
  EXPECT_EQ(node.name, "");
  EXPECT_EQ(node.type, 0);
  EXPECT_EQ(node.integers_present, 0U);
  EXPECT_TRUE(node.problems.empty());
}

TEST(DecodeNode, EveryFieldIsRead) {
  const std::string message = number_field(1, uint64_max) + bytes_field(2, "mm") + number_field(3, 4) +
                              bytes_field(4, varint(1) + varint(2)) + bytes_field(5, varint(3)) + number_field(6, 10) +
                              number_field(7, 20) + bytes_field(8, bytes_field(1, "[1]") + bytes_field(3, "[int]")) +
                              bytes_field(9, bytes_field(2, "[[]]"));
  const Decoded node = decode(message);
  EXPECT_EQ(node.id, uint64_max);
  EXPECT_EQ(node.name, "mm");
  EXPECT_EQ(node.type, 4);
  EXPECT_EQ(node.ctrl_deps, (IdList(std::vector<NodeId>{1, 2})));
  EXPECT_EQ(node.data_deps, (IdList(std::vector<NodeId>{3})));
  EXPECT_EQ(node.start_ns, 10'000U);
  EXPECT_EQ(node.duration_ns, 20'000U);
  EXPECT_EQ(decode_inputs(message), (IoInfo{"[1]", "", "[int]"}));
  EXPECT_EQ(decode_outputs(message), (IoInfo{"", "[[]]", ""}));
}

TEST(DecodeNode, WhatTheNodeHeldBeforeIsForgotten) {
  DecodedNode node{};
  decode_node(number_field(1, 5) + bytes_field(5, varint(3)) + attribute("tid", number_field(9, 1)) +
                  attribute("comm_size", bytes_field(29, "x")) + bytes_field(2, "\xff"),
              node);
  decode_node("", node);
  EXPECT_EQ(node.id, 0U);
  EXPECT_TRUE(node.data_deps.empty());
  EXPECT_EQ(node.integers_present, 0U);
  EXPECT_TRUE(node.problems.empty());
  EXPECT_TRUE(node.name_is_utf8);
}

TEST(DecodeNode, DependenciesPackedUnpackedAndMixed) {
  const std::string message =
      number_field(5, 9) + bytes_field(5, varint(8) + varint(uint64_max)) + number_field(5, 9) + bytes_field(5, "");
  EXPECT_EQ(decode(message).data_deps, (IdList(std::vector<NodeId>{9, 8, uint64_max, 9})));
}

TEST(DecodeNode, LastValueOfAFieldWins) {
  const Decoded node = decode(number_field(1, 1) + bytes_field(2, "a") + number_field(1, 2) + bytes_field(2, "b"));
  EXPECT_EQ(node.id, 2U);
  EXPECT_EQ(node.name, "b");
}

TEST(DecodeNode, RepeatedIoInfoIsMerged) {
  const std::string message =
      bytes_field(8, bytes_field(1, "v") + bytes_field(2, "s")) + bytes_field(8, bytes_field(2, "t"));
  EXPECT_EQ(decode_inputs(message), (IoInfo{"v", "t", ""}));
}

TEST(DecodeNode, UnknownFieldsOfEveryWireTypeAreSkipped) {
  const std::string group =
      key(20, 3) + number_field(1, 99) + key(21, 3) + key(21, 4) + bytes_field(2, "no") + key(20, 4);
  const std::string message = number_field(11, 1) + fixed32_field(12, 2) + fixed64_field(13, 3) + bytes_field(14, "x") +
                              group + number_field(536870911, 1) + number_field(1, 7);
  const Decoded node = decode(message);
  EXPECT_EQ(node.id, 7U);
  EXPECT_EQ(node.name, "");
}

TEST(DecodeNode, KnownFieldsWithAnotherWireTypeCountAsUnknown) {
  const Decoded node = decode(fixed64_field(1, 5) + number_field(2, 5) + bytes_field(3, "x") + fixed32_field(5, 1) +
                              number_field(8, 1) + number_field(10, 1) + bytes_field(6, "zz"));
  EXPECT_EQ(node.id, 0U);
  EXPECT_EQ(node.name, "");
  EXPECT_EQ(node.type, 0);
  EXPECT_TRUE(node.data_deps.empty());
  EXPECT_EQ(node.start_ns, 0U);
}

TEST(DecodeNode, UnknownAndNegativeTypesAreKept) {
  EXPECT_EQ(decode(number_field(3, 8)).type, 8);
  EXPECT_EQ(decode(number_field(3, uint64_max)).type, -1);
}

TEST(DecodeNode, MalformedBytesThrow) {
  std::string deep;
  for (int i = 0; i < 101; ++i) {
    deep += key(20, 3);
  }
  const std::vector<std::string> malformed = {
      "\x08",                                            // a key without a value
      std::string(1, '\x80'),                            // ends inside a key
      key(1, 0) + std::string(10, '\x80') + '\x01',      // eleven bytes of varint
      bytes_field(2, "abc").substr(0, 4),                // shorter than its length
      key(2, 2) + varint(uint64_max),                    // a length that would overflow
      key(1, 1) + "1234567",                             // ends inside a fixed64
      key(1, 5) + "123",                                 // ends inside a fixed32
      number_field(0, 1),                                // field number 0
      varint((std::uint64_t{1} << 32) | 8) + varint(1),  // a field number of more than 29 bits
      "\x88\x80\x80\x80\x80\x01\x05",
      key(1, 6),                // wire type 6
      key(1, 7),                // wire type 7
      key(20, 4),               // the end of no group
      key(20, 3),               // a group without an end
      key(20, 3) + key(21, 4),  // another group's end
      deep,
      bytes_field(5, "\x80"),       // a packed list that ends inside a varint
      bytes_field(10, "\x0a\x05"),  // an attribute shorter than its name
  };
  for (std::size_t i = 0; i < malformed.size(); ++i) {
    EXPECT_THROW((void)decode(malformed[i]), Malformed) << "message " << i;
  }
}

TEST(DecodeNode, HundredNestedGroupsAreStillRead) {
  std::string message;
  for (std::uint32_t i = 0; i < 100; ++i) {
    message += key(20 + i, 3);
  }
  for (std::uint32_t i = 100; i-- > 0;) {
    message += key(20 + i, 4);
  }
  EXPECT_EQ(decode(message + number_field(1, 3)).id, 3U);
}

TEST(DecodeNode, MalformedCountsItsOffsetFromTheWholeMessage) {
  const std::string good = number_field(1, 7) + bytes_field(2, "name");
  try {
    (void)decode(good + bytes_field(10, bytes_field(1, "a") + "\x09"));
    FAIL() << "no error";
  } catch (const Malformed& error) {
    EXPECT_EQ(error.offset(), good.size() + 2 + 3 + 1);
  }
}

TEST(DecodeNode, IntegersComeFromAnyIntegerArm) {
  const std::vector<std::string> arms = {
      number_field(7, 212480),   number_field(9, 212480),   number_field(11, 212480),  number_field(13, 212480),
      number_field(15, 424960),  number_field(17, 424960),  fixed32_field(19, 212480), fixed64_field(21, 212480),
      fixed32_field(23, 212480), fixed64_field(25, 212480),
  };
  for (const std::string& arm : arms) {
    EXPECT_EQ(integer(decode(attribute("comm_size", arm)), IntegerAttribute::comm_size), 212480);
  }
  EXPECT_EQ(integer(decode(attribute("comm_size", number_field(27, 1))), IntegerAttribute::comm_size), 1);
}

TEST(DecodeNode, EveryIntegerAttributeHasItsColumn) {
  for (std::size_t i = 0; i < integer_attribute_count; ++i) {
    const auto which = static_cast<IntegerAttribute>(i);
    const Decoded node = decode(attribute(to_string(which), number_field(9, 42)));
    EXPECT_EQ(integer(node, which), 42) << to_string(which);
    EXPECT_EQ(node.integers_present, std::uint32_t{1} << i) << to_string(which);
  }
}

TEST(DecodeNode, NamesThatOnlyLookKnownGoIntoNoColumn) {
  for (const char* name : {"", "ti", "tit", "comm_sizE", "comm_size ", "stream_", "duration_nt", "involved_din"}) {
    const Decoded node = decode(attribute(name, bytes_field(29, "text")));
    EXPECT_EQ(node.integers_present, 0U) << name;
    EXPECT_TRUE(node.problems.empty()) << name;
  }
}

TEST(DecodeNode, WrongValuesOfKnownAttributesAreProblems) {
  const std::vector<std::pair<const char*, std::string>> wrong = {
      {"comm_size", bytes_field(29, "212480")},    {"comm_size", fixed64_field(3, 0)},
      {"comm_size", number_field(13, uint64_max)}, {"tid", bytes_field(10, "")},
      {"is_cpu_op", bytes_field(29, "true")},      {"pg_name", number_field(9, 0)},
      {"pg_name", bytes_field(29, "\xff")},        {"involved_dim", number_field(27, 1)},
      {"start_ns", bytes_field(29, "1")},          {"duration_ns", number_field(9, uint64_max)},
  };
  const std::string before = number_field(1, 3);
  for (const auto& [name, value] : wrong) {
    const Decoded node = decode(before + attribute(name, value));
    ASSERT_EQ(node.problems.size(), 1U) << name;
    EXPECT_EQ(node.problems[0].name, name);
    EXPECT_EQ(node.problems[0].offset, before.size() + 2) << name;
    EXPECT_EQ(node.integers_present, 0U) << name;
  }
}

TEST(DecodeNode, AnAttributeWithoutValueIsAbsent) {
  const Decoded node = decode(attribute("comm_size", "") + attribute("pg_name", "") + attribute("is_cpu_op", ""));
  EXPECT_EQ(node.integers_present, 0U);
  EXPECT_EQ(node.pg_name, std::nullopt);
  EXPECT_EQ(node.is_cpu_op, std::nullopt);
  EXPECT_TRUE(node.problems.empty());
}

TEST(DecodeNode, FirstAttributeWithAValueWins) {
  const Decoded node =
      decode(attribute("tid", "") + attribute("tid", number_field(9, 1)) + attribute("tid", number_field(9, 2)) +
             attribute("pg_name", bytes_field(29, "a")) + attribute("pg_name", bytes_field(29, "b")));
  EXPECT_EQ(integer(node, IntegerAttribute::tid), 1);
  EXPECT_EQ(node.pg_name, "a");
}

TEST(DecodeNode, InvolvedDimensionsBecomeAPattern) {
  const std::string packed = bytes_field(28, bytes_field(1, std::string("\x01\x00\x01", 3)));
  EXPECT_EQ(decode(attribute("involved_dim", packed)).involved_dim, "101");
  const std::string unpacked = bytes_field(28, number_field(1, 0) + number_field(1, 1));
  EXPECT_EQ(decode(attribute("involved_dim", unpacked)).involved_dim, "01");
}

TEST(DecodeNode, ExactTimesWinOverMicroseconds) {
  const std::string exact =
      attribute("start_ns", number_field(13, uint64_max)) + attribute("duration_ns", number_field(9, 768));
  const Decoded node = decode(number_field(6, uint64_max) + number_field(7, 1) + exact);
  EXPECT_EQ(node.start_ns, uint64_max);
  EXPECT_EQ(node.duration_ns, 768U);
  EXPECT_TRUE(node.problems.empty());
}

TEST(DecodeNode, MicrosecondsThatOverflowAreAProblem) {
  constexpr std::uint64_t most = uint64_max / 1000;
  EXPECT_EQ(decode(number_field(6, most)).start_ns, most * 1000);
  const Decoded node = decode(number_field(6, most + 1) + number_field(7, uint64_max));
  ASSERT_EQ(node.problems.size(), 2U);
  EXPECT_EQ(node.problems[0].name, "start_time_micros");
  EXPECT_EQ(node.problems[1].name, "duration_micros");
  EXPECT_EQ(node.start_ns, 0U);
}

TEST(EncodeHead, IsReadBackAndLeavesDefaultsOut) {
  std::string empty;
  append_head(empty, {});
  EXPECT_EQ(empty, "");
  const std::vector<NodeId> ctrl = {1};
  const std::vector<NodeId> data = {2, uint64_max};
  std::string message;
  append_head(message, {.id = 5,
                        .name = "n",
                        .type = static_cast<NodeType>(-7),
                        .ctrl_deps = ctrl,
                        .data_deps = data,
                        .start_micros = 3,
                        .duration_micros = 4});
  const Decoded node = decode(message);
  EXPECT_EQ(node.id, 5U);
  EXPECT_EQ(node.name, "n");
  EXPECT_EQ(node.type, -7);
  EXPECT_EQ(node.ctrl_deps, IdList(ctrl));
  EXPECT_EQ(node.data_deps, IdList(data));
  EXPECT_EQ(node.start_ns, 3000U);
  EXPECT_EQ(node.duration_ns, 4000U);
}

}  // namespace
}  // namespace chakra::wire
