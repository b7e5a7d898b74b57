// SPDX-License-Identifier: MIT
#include <cstdlib>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "io/json_text.hpp"

namespace chakra::io {
namespace {

std::string in_quotes(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST(JsonText, EscapesWhatJsonForbids) {
  using namespace std::string_view_literals;
  EXPECT_EQ(in_quotes("a\"b\\c\nd\te\rf\0g"sv), R"("a\"b\\c\nd\te\u000df\u0000g")");
  EXPECT_EQ(in_quotes("\x7f\xC3\xA4"), "\"\x7f\xC3\xA4\"");
}

/// Text is looked at in words of eight bytes: every byte at every place in them.
TEST(JsonText, EveryByteAtEveryPlace) {
  for (std::size_t place = 0; place < 20; ++place) {
    for (int byte = 1; byte < 0x80; ++byte) {
      std::string text(20, 'x');
      text[place] = static_cast<char>(byte);
      std::string middle(1, static_cast<char>(byte));
      if (byte == '"' || byte == '\\') {
        middle = std::string("\\") + middle;
      } else if (byte == '\n' || byte == '\t') {
        middle = byte == '\n' ? "\\n" : "\\t";
      } else if (byte < 0x20) {
        constexpr std::string_view hex = "0123456789abcdef";
        middle =
            std::string("\\u00") + hex[static_cast<std::size_t>(byte) / 16] + hex[static_cast<std::size_t>(byte) % 16];
      }
      ASSERT_EQ(in_quotes(text), '"' + std::string(place, 'x') + middle + std::string(19 - place, 'x') + '"') << byte;
    }
  }
}

TEST(JsonText, ReplacesBytesThatAreNoUtf8) { EXPECT_EQ(in_quotes("a\xff\"b"), "\"a\xEF\xBF\xBD\\\"b\""); }

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
