// SPDX-License-Identifier: MIT
#include <string>

#include <gtest/gtest.h>

#include "wire/utf8.hpp"

namespace chakra::wire {
namespace {

std::string encode(unsigned code_point) {
  const auto byte = [](unsigned value) { return static_cast<char>(value); };
  if (code_point < 0x80) {
    return {byte(code_point)};
  }
  if (code_point < 0x800) {
    return {byte(0xC0 | code_point >> 6), byte(0x80 | (code_point & 0x3F))};
  }
  if (code_point < 0x10000) {
    return {byte(0xE0 | code_point >> 12), byte(0x80 | (code_point >> 6 & 0x3F)), byte(0x80 | (code_point & 0x3F))};
  }
  return {byte(0xF0 | code_point >> 18), byte(0x80 | (code_point >> 12 & 0x3F)), byte(0x80 | (code_point >> 6 & 0x3F)),
          byte(0x80 | (code_point & 0x3F))};
}

TEST(Utf8, EveryCodePointButSurrogatesIsText) {
  for (unsigned code_point = 0; code_point <= 0x10FFFF; ++code_point) {
    const bool surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
    ASSERT_EQ(is_utf8(encode(code_point)), !surrogate) << code_point;
  }
  EXPECT_FALSE(is_utf8(encode(0x110000)));
}

TEST(Utf8, OverlongAndCutSequencesAreNot) {
  for (const char* bytes : {"\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xF0\x8F\xBF\xBF", "\x80", "\xFF", "\xC3",
                            "\xE2\x82", "\xF0\x9F\x98", "\xF5\x80\x80\x80"}) {
    EXPECT_FALSE(is_utf8(bytes));
    EXPECT_FALSE(is_utf8(std::string("sixteen plain by") + bytes));
  }
}

TEST(Utf8, MaximalIllFormedPartsAreReplaced) {
  EXPECT_EQ(replace_invalid_utf8("a\xff"
                                 "b"),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(replace_invalid_utf8("\xE2\x82"), "\xEF\xBF\xBD") << "a cut sequence as one";
  EXPECT_EQ(replace_invalid_utf8("\x80\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(find_invalid_utf8("eight or more \xC3\xA9 then \xC3"), 22U);
  EXPECT_EQ(find_invalid_utf8("caf\xC3\xA9"), std::string_view::npos);
  EXPECT_EQ(replace_invalid_utf8("caf\xC3\xA9"), "caf\xC3\xA9");
  EXPECT_TRUE(is_utf8(replace_invalid_utf8("\xF0\x9F\xFF\xC0\x80 text \xED\xA0\x80")));
}

}  // namespace
}  // namespace chakra::wire
