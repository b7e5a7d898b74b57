// SPDX-License-Identifier: MIT
#include <array>
#include <string>

#include <gtest/gtest.h>

#include "message.hpp"
#include "wire/decode.hpp"
#include "wire/encode.hpp"

namespace chakra::wire {
namespace {

using namespace chakra::test;

TEST(Frame, LengthAndMessage) {
  const std::string bytes = record("ab") + record("") + record(std::string(300, 'x'));
  const Frame first = read_frame(bytes, 0);
  EXPECT_EQ(bytes.substr(first.begin, first.size), "ab");
  const Frame empty = read_frame(bytes, 3);
  EXPECT_EQ(empty.begin, 4U);
  EXPECT_EQ(empty.size, 0U);
  const Frame last = read_frame(bytes, 4);
  EXPECT_EQ(last.begin, 6U);
  EXPECT_EQ(last.size, 300U);
}

TEST(Frame, EndOfFileInsideARecordThrows) {
  EXPECT_THROW((void)read_frame(record("abc").substr(0, 3), 0), Malformed);
  EXPECT_THROW((void)read_frame("\x80", 0), Malformed);
  EXPECT_THROW((void)read_frame(std::string(11, '\xff'), 0), Malformed);
  EXPECT_THROW((void)read_frame(varint(~std::uint64_t{0}) + "abc", 0), Malformed);
}

TEST(Frame, LengthIsWrittenAsAVarint) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{127}, std::size_t{128}, std::size_t{1} << 31}) {
    std::array<char, longest_frame> bytes{};
    EXPECT_EQ(std::string(bytes.data(), write_frame(bytes.data(), size)), varint(size));
  }
}

}  // namespace
}  // namespace chakra::wire
