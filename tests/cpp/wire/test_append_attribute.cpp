// SPDX-License-Identifier: MIT
// The short way to bytes against the one that goes over Attribute and IoInfo.
#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "wire/append_attribute.hpp"
#include "wire/encode.hpp"

namespace chakra::wire {
namespace {

std::string encoded(const Attribute& attribute) {
  std::string message = "before";
  append_node_attribute(message, attribute);
  return message;
}

std::string appended(const std::string& name, AttributeKind kind, std::uint64_t bits) {
  std::string message = "before";
  append_integer_attribute(message, name, kind, bits);
  return message;
}

TEST(AppendAttribute, IntegersAreEncodedAsEverywhere) {
  for (const std::string& name : {std::string("tid"), std::string(300, 'n')}) {
    for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{127}, std::uint64_t{128},
                                      std::uint64_t{1} << 35, std::numeric_limits<std::uint64_t>::max()}) {
      EXPECT_EQ(appended(name, AttributeKind::uint64_value, value), encoded(make_uint64(name, value)));
      EXPECT_EQ(appended(name, AttributeKind::int64_value, value),
                encoded(make_int64(name, static_cast<std::int64_t>(value))));
    }
    EXPECT_EQ(appended(name, AttributeKind::bool_value, 0), encoded(make_bool(name, false)));
    EXPECT_EQ(appended(name, AttributeKind::bool_value, 1), encoded(make_bool(name, true)));
  }
}

TEST(AppendAttribute, StringsAreEncodedAsEverywhere) {
  for (const std::size_t size : {0U, 1U, 127U, 128U, 20'000U}) {
    const std::string text(size, 'x');
    std::string message = "before";
    append_string_attribute(message, "pg_name", text);
    EXPECT_EQ(message, encoded(make_string("pg_name", text)));
  }
  std::string nothing = "before";
  append_string_attribute(nothing, "op_schema", {});
  EXPECT_EQ(nothing, encoded(make_string("op_schema", "")));
}

TEST(AppendAttribute, InputsAndOutputsAreEncodedAsEverywhere) {
  for (const std::size_t size : {0U, 1U, 127U, 128U, 20'000U}) {
    const IoInfo info = {std::string(size, 'v'), size % 2 == 0 ? "" : "[[1]]", std::string(size / 2, 't')};
    const IoView view = {info.values, info.shapes, info.types};
    std::string expected = "before";
    append_inputs(expected, info);
    append_outputs(expected, info);
    std::string message = "before";
    append_inputs(message, view);
    append_outputs(message, view);
    EXPECT_EQ(message, expected);
  }
}

}  // namespace
}  // namespace chakra::wire
