// SPDX-License-Identifier: MIT
#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "timeline/json_text.hpp"

namespace chakra::timeline {
namespace {

std::string quoted(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

std::string microseconds(std::uint64_t nanoseconds) {
  std::string out;
  append_microseconds(out, nanoseconds);
  return out;
}

TEST(JsonText, EscapesWhatJsonForbids) {
  using namespace std::string_view_literals;
  EXPECT_EQ(quoted("a\"b\\c\nd\te\rf\0g"sv), R"("a\"b\\c\nd\te\u000df\u0000g")");
  EXPECT_EQ(quoted("\x7f\xC3\xA4"), "\"\x7f\xC3\xA4\"");
}

TEST(JsonText, ReplacesBytesThatAreNoUtf8) { EXPECT_EQ(quoted("a\xff\"b"), "\"a\xEF\xBF\xBD\\\"b\""); }

TEST(JsonText, MicrosecondsAreExact) {
  EXPECT_EQ(microseconds(0), "0.000");
  EXPECT_EQ(microseconds(7), "0.007");
  EXPECT_EQ(microseconds(1'669'783'687'464'181'120), "1669783687464181.120");
  EXPECT_EQ(microseconds(UINT64_MAX), "18446744073709551.615");
}

}  // namespace
}  // namespace chakra::timeline
