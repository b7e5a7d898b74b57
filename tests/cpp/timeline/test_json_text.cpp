// SPDX-License-Identifier: MIT
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "timeline/json_text.hpp"

namespace chakra::timeline {
namespace {

std::string microseconds(std::uint64_t nanoseconds) {
  std::string out;
  append_microseconds(out, nanoseconds);
  return out;
}

TEST(JsonText, MicrosecondsAreExact) {
  EXPECT_EQ(microseconds(0), "0.000");
  EXPECT_EQ(microseconds(7), "0.007");
  EXPECT_EQ(microseconds(1'669'783'687'464'181'120), "1669783687464181.120");
  EXPECT_EQ(microseconds(UINT64_MAX), "18446744073709551.615");
}

}  // namespace
}  // namespace chakra::timeline
