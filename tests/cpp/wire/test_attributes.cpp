// SPDX-License-Identifier: MIT
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "chakra_core/attribute.hpp"
#include "message.hpp"
#include "wire/decode.hpp"
#include "wire/encode.hpp"

namespace chakra::wire {
namespace {

using namespace chakra::test;
using Kind = AttributeKind;
using Signed = std::vector<std::int64_t>;
using Unsigned = std::vector<std::uint64_t>;
using Doubles = std::vector<double>;
using Bools = std::vector<bool>;
using Strings = std::vector<std::string>;

constexpr auto int32_min = std::numeric_limits<std::int32_t>::min();
constexpr auto int64_min = std::numeric_limits<std::int64_t>::min();
constexpr auto uint32_max = std::numeric_limits<std::uint32_t>::max();
constexpr auto uint64_max = std::numeric_limits<std::uint64_t>::max();

Attribute decode_one(const std::string& value_fields) {
  const auto attributes = decode_attributes(attribute("a", value_fields));
  EXPECT_EQ(attributes.size(), 1U);
  return attributes.at(0);
}

/// One arm of the oneof: its value and the bytes that protobuf writes for it.
struct Arm {
  Kind kind;
  AttributeValue value;
  std::string bytes;
};

std::string list_field(Kind kind, const std::string& packed) {
  return bytes_field(static_cast<std::uint32_t>(kind), bytes_field(1, packed));
}

std::vector<Arm> arms() {
  const auto minus_one = varint(uint64_max);
  return {
      {Kind::none, std::monostate{}, ""},
      {Kind::double_value, -1.5, fixed64_field(3, std::bit_cast<std::uint64_t>(-1.5))},
      {Kind::double_list, Doubles{0.25}, list_field(Kind::double_list, little_endian(0x3fd0000000000000, 8))},
      {Kind::float_value, 0.5, fixed32_field(5, std::bit_cast<std::uint32_t>(0.5F))},
      {Kind::float_list, Doubles{0.5, -0.5},
       list_field(Kind::float_list, little_endian(0x3f000000, 4) + little_endian(0xbf000000, 4))},
      {Kind::int32_value, std::int64_t{int32_min}, key(7, 0) + "\x80\x80\x80\x80\xf8\xff\xff\xff\xff\x01"},
      {Kind::int32_list, Signed{1, -1}, list_field(Kind::int32_list, varint(1) + minus_one)},
      {Kind::int64_value, std::int64_t{int64_min}, number_field(9, std::uint64_t{1} << 63)},
      {Kind::int64_list, Signed{300, -1}, list_field(Kind::int64_list, varint(300) + minus_one)},
      {Kind::uint32_value, std::uint64_t{uint32_max}, number_field(11, uint32_max)},
      {Kind::uint32_list, Unsigned{7}, list_field(Kind::uint32_list, varint(7))},
      {Kind::uint64_value, std::uint64_t{uint64_max}, number_field(13, uint64_max)},
      {Kind::uint64_list, Unsigned{0, uint64_max}, list_field(Kind::uint64_list, varint(0) + minus_one)},
      {Kind::sint32_value, std::int64_t{int32_min}, number_field(15, uint32_max)},
      {Kind::sint32_list, Signed{-1, 1}, list_field(Kind::sint32_list, varint(1) + varint(2))},
      {Kind::sint64_value, std::int64_t{int64_min}, number_field(17, uint64_max)},
      {Kind::sint64_list, Signed{-2}, list_field(Kind::sint64_list, varint(3))},
      {Kind::fixed32_value, std::uint64_t{uint32_max}, fixed32_field(19, uint32_max)},
      {Kind::fixed32_list, Unsigned{5}, list_field(Kind::fixed32_list, little_endian(5, 4))},
      {Kind::fixed64_value, std::uint64_t{uint64_max}, fixed64_field(21, uint64_max)},
      {Kind::fixed64_list, Unsigned{5}, list_field(Kind::fixed64_list, little_endian(5, 8))},
      {Kind::sfixed32_value, std::int64_t{-2}, fixed32_field(23, 0xfffffffe)},
      {Kind::sfixed32_list, Signed{-2}, list_field(Kind::sfixed32_list, little_endian(0xfffffffe, 4))},
      {Kind::sfixed64_value, std::int64_t{-2}, fixed64_field(25, uint64_max - 1)},
      {Kind::sfixed64_list, Signed{-2}, list_field(Kind::sfixed64_list, little_endian(uint64_max - 1, 8))},
      {Kind::bool_value, true, number_field(27, 1)},
      {Kind::bool_list, Bools{true, false}, list_field(Kind::bool_list, std::string("\x01\x00", 2))},
      {Kind::string_value, std::string("caf\xc3\xa9"), bytes_field(29, "caf\xc3\xa9")},
      {Kind::string_list, Strings{"", "b"}, bytes_field(30, bytes_field(1, "") + bytes_field(1, "b"))},
      {Kind::bytes_value, std::string("\xff\x00", 2), bytes_field(31, std::string("\xff\x00", 2))},
      {Kind::bytes_list, Strings{"\xff"}, bytes_field(32, bytes_field(1, "\xff"))},
  };
}

TEST(Attributes, EveryArmDecodes) {
  for (const Arm& arm : arms()) {
    const Attribute expected{"a", arm.kind, arm.value, {}};
    EXPECT_EQ(decode_one(arm.bytes), expected) << "field " << static_cast<int>(arm.kind);
    EXPECT_TRUE(is_consistent(expected)) << "field " << static_cast<int>(arm.kind);
  }
}

TEST(Attributes, EveryArmEncodesAsProtobufDoes) {
  for (const Arm& arm : arms()) {
    std::string message;
    append_node_attribute(message, {"a", arm.kind, arm.value, {}});
    EXPECT_EQ(message, attribute("a", arm.bytes)) << "field " << static_cast<int>(arm.kind);
  }
}

TEST(Attributes, EmptyListKeepsItsKind) {
  for (const Arm& arm : arms()) {
    const bool is_list = arm.kind != Kind::none && static_cast<unsigned>(arm.kind) % 2 == 0;
    if (is_list) {
      const Attribute empty = decode_one(bytes_field(static_cast<std::uint32_t>(arm.kind), ""));
      EXPECT_EQ(empty.kind, arm.kind);
      EXPECT_TRUE(is_consistent(empty)) << "field " << static_cast<int>(arm.kind);
    }
  }
}

TEST(Attributes, ListsMayBeUnpackedOrMixed) {
  const std::string mixed = number_field(1, 4) + bytes_field(1, varint(5) + varint(6)) + number_field(1, 7);
  EXPECT_EQ(decode_one(bytes_field(14, mixed)).value, AttributeValue(Unsigned{4, 5, 6, 7}));
  const std::string fixed = fixed32_field(1, 1) + bytes_field(1, little_endian(2, 4));
  EXPECT_EQ(decode_one(bytes_field(20, fixed)).value, AttributeValue(Unsigned{1, 2}));
  const std::string doubles = fixed64_field(1, std::bit_cast<std::uint64_t>(2.0));
  EXPECT_EQ(decode_one(bytes_field(4, doubles)).value, AttributeValue(Doubles{2.0}));
}

TEST(Attributes, ListsSkipOtherFieldsAndWireTypes) {
  const std::string list = number_field(2, 9) + fixed32_field(1, 9) + number_field(1, 3);
  EXPECT_EQ(decode_one(bytes_field(10, list)).value, AttributeValue(Signed{3}));
}

TEST(Attributes, OneListInTwoPiecesIsJoined) {
  const std::string pieces = list_field(Kind::int64_list, varint(1)) + list_field(Kind::int64_list, varint(2));
  EXPECT_EQ(decode_one(pieces).value, AttributeValue(Signed{1, 2}));
  const std::string strings = bytes_field(30, bytes_field(1, "x")) + bytes_field(30, bytes_field(1, "y"));
  EXPECT_EQ(decode_one(strings).value, AttributeValue(Strings{"x", "y"}));
}

TEST(Attributes, AnotherArmBetweenTwoPiecesForgetsTheFirst) {
  const std::string pieces =
      list_field(Kind::int64_list, varint(1)) + number_field(27, 1) + list_field(Kind::int64_list, varint(2));
  EXPECT_EQ(decode_one(pieces).value, AttributeValue(Signed{2}));
}

TEST(Attributes, LastArmWins) {
  const Attribute last = decode_one(number_field(9, 1) + bytes_field(29, "x"));
  EXPECT_EQ(last.kind, Kind::string_value);
  EXPECT_EQ(last.value, AttributeValue(std::string("x")));
}

TEST(Attributes, AnArmWithAnotherWireTypeCountsAsUnknown) {
  EXPECT_EQ(decode_one(fixed64_field(9, 1)).kind, Kind::none);
  EXPECT_EQ(decode_one(number_field(29, 1)).kind, Kind::none);
  EXPECT_EQ(decode_one(number_field(10, 1)).kind, Kind::none);
}

TEST(Attributes, NarrowKindsKeepTheLow32BitsAsProtobufDoes) {
  const std::uint64_t wide = (std::uint64_t{1} << 40) + 5;
  EXPECT_EQ(decode_one(number_field(7, wide)).value, AttributeValue(std::int64_t{5}));
  EXPECT_EQ(decode_one(number_field(11, wide)).value, AttributeValue(std::uint64_t{5}));
  EXPECT_EQ(decode_one(number_field(15, wide)).value, AttributeValue(std::int64_t{-3}));
  EXPECT_EQ(decode_one(number_field(27, wide)).value, AttributeValue(true));
}

TEST(Attributes, MalformedListsAndTextThrowWithTheirOffset) {
  const std::string prefix = attribute("ok", number_field(9, 1));
  const auto offset_of_problem = [&](const std::string& value_fields) -> std::size_t {
    try {
      (void)decode_attributes(prefix + attribute("a", value_fields));
    } catch (const Malformed& error) {
      return error.offset() - prefix.size();
    }
    return 0;
  };
  // Key and length of the attribute, its name (3 bytes), key and length of the list (fields from 16 on have a key of
  // two bytes), of the packed values.
  EXPECT_EQ(offset_of_problem(bytes_field(10, bytes_field(1, "\x80"))), 2U + 3U + 2U + 2U);
  EXPECT_EQ(offset_of_problem(bytes_field(20, bytes_field(1, "abc"))), 2U + 3U + 3U + 2U);
  EXPECT_EQ(offset_of_problem(bytes_field(29, "\xff")), 2U + 3U + 3U);
}

TEST(Attributes, FirstOfOneNameIsFound) {
  const std::string node =
      attribute("x", number_field(9, 1)) + attribute("y", number_field(9, 2)) + attribute("y", number_field(9, 3));
  EXPECT_EQ(decode_attribute(node, "y")->value, AttributeValue(std::int64_t{2}));
  EXPECT_EQ(decode_attribute(node, "z"), std::nullopt);
}

TEST(Attributes, ConsistencyChecksAlternativeRangeAndText) {
  EXPECT_FALSE(is_consistent({"a", Kind::int64_value, std::uint64_t{1}, {}}));
  EXPECT_FALSE(is_consistent({"a", Kind::int32_value, std::int64_t{1} << 31, {}}));
  EXPECT_FALSE(is_consistent({"a", Kind::uint32_list, Unsigned{1, std::uint64_t{1} << 32}, {}}));
  EXPECT_FALSE(is_consistent({"a", Kind::float_value, 1e300, {}}));
  EXPECT_FALSE(is_consistent({"a", Kind::string_value, std::string("\xff"), {}}));
  EXPECT_FALSE(is_consistent({"a", Kind::string_list, Strings{"ok", "\xc0\x80"}, {}}));
  EXPECT_FALSE(is_consistent({"\xff", Kind::none, std::monostate{}, {}}));
  EXPECT_FALSE(is_consistent({"a", Kind::none, std::monostate{}, "\xff"}));
  EXPECT_FALSE(is_consistent({"a", static_cast<Kind>(33), std::int64_t{1}, {}}));
  EXPECT_TRUE(is_consistent({"a", Kind::bytes_value, std::string("\xff"), {}}));
  EXPECT_TRUE(is_consistent({"a", Kind::float_value, std::numeric_limits<double>::infinity(), {}}));
}

TEST(Attributes, MetadataHasVersionAndAttributes) {
  const Metadata metadata{"0.0.4", {make_int64("ranks", 8), make_bool_list("dims", {true, false})}};
  EXPECT_EQ(decode_metadata(encode_metadata(metadata)), metadata);
  EXPECT_EQ(decode_metadata(""), Metadata{});
  EXPECT_THROW((void)decode_metadata(bytes_field(1, "\xff")), Malformed);
}

}  // namespace
}  // namespace chakra::wire
