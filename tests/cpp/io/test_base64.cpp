// SPDX-License-Identifier: MIT
#include <string>

#include <gtest/gtest.h>

#include "io/base64.hpp"

namespace chakra::io {
namespace {

TEST(Base64, TheVectorsOfTheStandard) {
  const char* const vectors[][2] = {{"", ""},
                                    {"f", "Zg=="},
                                    {"fo", "Zm8="},
                                    {"foo", "Zm9v"},
                                    {"foob", "Zm9vYg=="},
                                    {"fooba", "Zm9vYmE="},
                                    {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : vectors) {
    std::string out;
    append_base64(out, bytes);
    EXPECT_EQ(out, text);
    EXPECT_EQ(decode_base64(text), bytes);
  }
}

TEST(Base64, EveryByteComesBack) {
  std::string bytes;
  for (int value = 0; value < 256; ++value) {
    bytes += static_cast<char>(value);
    std::string text;
    append_base64(text, bytes);
    EXPECT_EQ(decode_base64(text), bytes);
  }
}

TEST(Base64, UrlAlphabetAndMissingPaddingAreTaken) {
  EXPECT_EQ(decode_base64("-_-_"), decode_base64("+/+/"));
  EXPECT_EQ(decode_base64("Zg"), "f");
}

TEST(Base64, OtherTextIsRefused) {
  for (const char* const text : {"Z", "Zg===", "Zg =", "Z=g=", "===="}) {
    EXPECT_EQ(decode_base64(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace chakra::io
