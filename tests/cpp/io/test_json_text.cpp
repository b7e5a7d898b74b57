// SPDX-License-Identifier: MIT
#include <cstdlib>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "io/json_text.hpp"

namespace chakra::io {
namespace {

std::string quoted(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST(JsonText, EscapesWhatJsonForbids) {
  using namespace std::string_view_literals;
  EXPECT_EQ(quoted("a\"b\\c\nd\te\rf\0g"sv), R"("a\"b\\c\nd\te\u000df\u0000g")");
  EXPECT_EQ(quoted("\x7f\xC3\xA4"), "\"\x7f\xC3\xA4\"");
}

TEST(JsonText, ReplacesBytesThatAreNoUtf8) { EXPECT_EQ(quoted("a\xff\"b"), "\"a\xEF\xBF\xBD\\\"b\""); }

TEST(JsonText, DoublesReadBackAndAreNeverIntegers) {
  for (const double value : {0.0, -0.0, 1.0, 0.1, 1e300, -5e-324, 123456789012345680.0}) {
    std::string out;
    append_json_double(out, value);
    EXPECT_EQ(std::strtod(out.c_str(), nullptr), value);
    EXPECT_NE(out.find_first_of(".e"), std::string::npos) << out;
  }
}

}  // namespace
}  // namespace chakra::io
