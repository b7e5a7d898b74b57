// SPDX-License-Identifier: MIT
#include <string>

#include <gtest/gtest.h>

#include "io/compress.hpp"
#include "io/gzip.hpp"

namespace chakra::io {
namespace {

using chakra::test::compress;

TEST(Gzip, IsToldByItsFirstBytes) {
  EXPECT_TRUE(is_gzip(compress("")));
  EXPECT_FALSE(is_gzip(""));
  EXPECT_FALSE(is_gzip("\x1f"));
  EXPECT_FALSE(is_gzip("\x1f\x8c"));
}

TEST(Gzip, WholeStreamsOfAllSizes) {
  for (const std::size_t size : {0U, 1U, 1000U, (1U << 20) - 1, 1U << 20, (1U << 20) + 1, 5'000'000U}) {
    const std::string bytes(size, 'x');
    const Inflated result = inflate_all(compress(bytes));
    EXPECT_EQ(result.problem, "") << size;
    EXPECT_EQ(result.bytes, bytes);
  }
}

TEST(Gzip, MembersAreJoined) {
  const Inflated result = inflate_all(compress("one ") + compress("") + compress("two"));
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.bytes, "one two");
}

TEST(Gzip, CutAnywhereIsAProblemAndKeepsAPrefix) {
  const std::string bytes = "some text that is not very long";
  const std::string whole = compress(bytes);
  for (std::size_t size = 2; size < whole.size(); ++size) {
    const Inflated result = inflate_all(std::string_view(whole).substr(0, size));
    EXPECT_NE(result.problem, "") << size;
    EXPECT_TRUE(bytes.starts_with(result.bytes)) << size;
  }
}

TEST(Gzip, CutBetweenHeaderOfTheSecondMember) {
  const std::string first = compress("one");
  const Inflated result = inflate_all(first + compress("two").substr(0, 5));
  EXPECT_NE(result.problem.find("cut off"), std::string::npos);
  EXPECT_EQ(result.bytes, "one");
}

TEST(Gzip, BytesThatFollowAreAProblemUnlessZero) {
  const std::string member = compress("one");
  EXPECT_EQ(inflate_all(member + std::string(512, '\0')).problem, "");
  const Inflated result = inflate_all(member + "trailing");
  EXPECT_NE(result.problem.find("byte offset " + std::to_string(member.size())), std::string::npos) << result.problem;
  EXPECT_EQ(result.bytes, "one");
  EXPECT_NE(inflate_all(member + std::string(3, '\0') + "x").problem, "");
}

TEST(Gzip, DamageBehindTheHeaderNeverChangesTheBytesUnseen) {
  const std::string bytes = "some text that is checked by its sum";
  const std::string whole = compress(bytes);
  for (std::size_t at = 10; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      const Inflated result = inflate_all(damaged);
      // Some bits are padding between the data and the sum.
      EXPECT_TRUE(!result.problem.empty() || result.bytes == bytes) << at;
    }
  }
}

}  // namespace
}  // namespace chakra::io
