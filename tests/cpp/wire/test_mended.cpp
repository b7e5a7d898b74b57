// SPDX-License-Identifier: MIT
#include <string>

#include <gtest/gtest.h>

#include "message.hpp"
#include "wire/decode.hpp"

namespace chakra::wire {
namespace {

using namespace chakra::test;

std::string mended(const std::string& message) {
  DecodedNode node{};
  decode_node(message, node);
  std::string copy;
  append_mended(copy, message, node.problems);
  return copy;
}

TEST(Mended, OnlyWhatIsWrongIsLeftOut) {
  const std::string first = number_field(1, 3) + attribute("tid", number_field(9, 1));
  const std::string last = attribute("comm_size", number_field(9, 5)) + number_field(11, 9);
  const std::string bad = attribute("comm_size", bytes_field(29, "x"));
  EXPECT_EQ(mended(first + bad + last), first + last);
  EXPECT_EQ(mended(bad + first + bad + last), first + last);
}

TEST(Mended, TimesThatOverflowAreLeftOut) {
  const std::string id = number_field(1, 3);
  const std::string too_long = varint(~std::uint64_t{0});
  EXPECT_EQ(mended(key(6, 0) + too_long + id + number_field(7, 1)), id + number_field(7, 1));
  EXPECT_EQ(mended(id + key(7, 0) + too_long + attribute("tid", bytes_field(29, ""))), id);
}

TEST(Mended, NameReadsAsReplacementCharacters) {
  EXPECT_EQ(mended(bytes_field(2,
                               "a\xff"
                               "b")),
            bytes_field(2,
                        "a\xef\xbf\xbd"
                        "b"));
}

TEST(Mended, GoodMessageIsUnchanged) {
  const std::string message = number_field(1, 3) + bytes_field(2, "n") + key(20, 3) + key(20, 4);
  EXPECT_EQ(mended(message), message);
}

TEST(WithoutDependencies, RestStaysByteForByte) {
  const std::string head = number_field(1, 3) + key(20, 3) + number_field(5, 9) + key(20, 4);
  const std::string tail = bytes_field(2, "n") + fixed32_field(12, 1);
  std::string copy;
  append_without_dependencies(copy, head + number_field(4, 1) + bytes_field(5, varint(2)) + tail + fixed32_field(5, 1));
  EXPECT_EQ(copy, head + tail);
}

}  // namespace
}  // namespace chakra::wire
