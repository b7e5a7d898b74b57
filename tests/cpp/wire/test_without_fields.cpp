// SPDX-License-Identifier: MIT
#include <string>

#include <gtest/gtest.h>

#include "message.hpp"
#include "wire/decode.hpp"
#include "wire/encode.hpp"

namespace chakra::wire {
namespace {

using namespace chakra::test;

std::string without_id(const std::string& message) {
  std::string copy;
  append_without_id_and_dependencies(copy, message);
  return copy;
}

TEST(WithoutFields, IdAndDependenciesGoAndTheRestStays) {
  const std::string name = bytes_field(2, "n");
  const std::string rest = attribute("x", number_field(9, 1)) + bytes_field(77, "unknown");
  const std::string deps = number_field(4, 1) + bytes_field(5, varint(2) + varint(3));
  EXPECT_EQ(without_id(number_field(1, 7) + name + deps + rest + number_field(5, 9) + number_field(1, 8)), name + rest);
}

TEST(WithoutFields, AnIdOfAnotherWireTypeIsAnUnknownField) {
  EXPECT_EQ(without_id(bytes_field(1, "x") + number_field(1, 7)), bytes_field(1, "x"));
}

TEST(WithoutFields, ZeroIsNotWritten) {
  std::string message;
  append_id(message, 0);
  EXPECT_EQ(message, "");
  append_id(message, 300);
  EXPECT_EQ(message, number_field(1, 300));
}

TEST(AttributeViews, SayWhatWholeAttributesSay) {
  const std::string message = attribute("a", number_field(15, 3)) + number_field(1, 7) +
                              attribute("b", bytes_field(29, "text")) + attribute("c", "") +
                              attribute("d", fixed64_field(3, 0x3ff8000000000000ULL)) +
                              attribute("e", bytes_field(10, bytes_field(1, varint(5)))) +
                              attribute("f", number_field(27, 1)) + attribute("g", number_field(13, 6));
  const std::vector<Attribute> expected = decode_attributes(message);
  ColdParts parts;
  find_cold_parts(message, parts);
  std::vector<AttributeView> views;
  for (const std::string_view part : parts.attributes) {
    views.push_back(view_attribute(part));
  }
  ASSERT_EQ(views.size(), expected.size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    EXPECT_EQ(views[i].name, expected[i].name);
    EXPECT_EQ(views[i].kind, expected[i].kind);
    EXPECT_EQ(decode_attribute_message(views[i].message), expected[i]);
  }
  EXPECT_EQ(std::get<std::int64_t>(views[0].scalar), -2);
  EXPECT_EQ(std::get<std::string_view>(views[1].scalar), "text");
  EXPECT_EQ(std::get<double>(views[3].scalar), 1.5);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(views[4].scalar));
  EXPECT_TRUE(std::get<bool>(views[5].scalar));
  EXPECT_EQ(std::get<std::uint64_t>(views[6].scalar), 6U);
}

TEST(ColdParts, AreThoseOfTheLastMessageAndMergeTheirFields) {
  ColdParts parts;
  find_cold_parts(bytes_field(9, bytes_field(1, "old")) + attribute("x", ""), parts);
  const std::string message = bytes_field(8, bytes_field(1, "a")) + number_field(1, 7) +
                              bytes_field(8, bytes_field(2, "b")) + number_field(10, 1);
  find_cold_parts(message, parts);
  EXPECT_EQ(parts.inputs.values, "a");
  EXPECT_EQ(parts.inputs.shapes, "b");
  EXPECT_EQ(parts.outputs.values, "");
  EXPECT_TRUE(parts.attributes.empty());
  EXPECT_EQ(decode_inputs(message), (IoInfo{"a", "b", ""}));
}

TEST(AttributeViews, RefuseTextThatIsNotUtf8) {
  const std::string message = attribute("a", bytes_field(29, "\xff"));
  ColdParts parts;
  find_cold_parts(message, parts);
  EXPECT_THROW((void)view_attribute(parts.attributes.front()), Malformed);
  EXPECT_THROW(decode_attributes(message), Malformed);
}

}  // namespace
}  // namespace chakra::wire
