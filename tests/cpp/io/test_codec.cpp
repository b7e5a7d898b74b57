// SPDX-License-Identifier: MIT
// The properties that every compression has, and what is special to each.
#include <string>

#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "io/codec.hpp"
#include "io/compress.hpp"

namespace chakra::io {
namespace {

using chakra::test::compress;
using chakra::test::compress_as;
using chakra::test::inflate;
using chakra::test::Inflated;

class Codec : public testing::TestWithParam<Compression> {
 protected:
  void SetUp() override {
    if (GetParam() == Compression::zstd && !has_zstd()) {
      GTEST_SKIP() << "built without zstd";
    }
  }
  static std::string pack(std::string_view bytes) { return compress_as(GetParam(), bytes); }
};

TEST_P(Codec, IsToldByItsFirstBytes) { EXPECT_EQ(detect_compression(pack("")), GetParam()); }

TEST_P(Codec, WholeStreamsOfAllSizes) {
  for (const std::size_t size : {0U, 1U, 1000U, (1U << 20) - 1, 1U << 20, (1U << 20) + 1, 5'000'000U}) {
    const std::string bytes(size, 'x');
    const Inflated result = inflate(pack(bytes));
    EXPECT_EQ(result.problem, "") << size;
    EXPECT_EQ(result.bytes, bytes);
  }
}

TEST_P(Codec, PartsAreJoined) {
  const Inflated result = inflate(pack("one ") + pack("") + pack("two"));
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.bytes, "one two");
}

TEST_P(Codec, CutAnywhereIsAProblemAndKeepsAPrefix) {
  const std::string bytes = "some text that is not very long";
  const std::string whole = pack(bytes);
  for (std::size_t size = magic_bytes; size < whole.size(); ++size) {
    const Inflated result = inflate(std::string_view(whole).substr(0, size));
    EXPECT_NE(result.problem.find("truncated"), std::string::npos) << size << result.problem;
    EXPECT_TRUE(bytes.starts_with(result.bytes)) << size;
  }
}

TEST_P(Codec, CutInTheSecondPart) {
  const Inflated result = inflate(pack("one") + pack("two").substr(0, 5));
  EXPECT_NE(result.problem.find("truncated"), std::string::npos);
  EXPECT_EQ(result.bytes, "one");
}

TEST_P(Codec, BytesThatFollowAreAProblem) {
  const std::string part = pack("one");
  const Inflated result = inflate(part + "trailing");
  EXPECT_NE(result.problem.find("follow the end"), std::string::npos) << result.problem;
  EXPECT_NE(result.problem.find("(byte " + std::to_string(part.size())), std::string::npos) << result.problem;
  EXPECT_EQ(result.bytes, "one");
}

TEST_P(Codec, DamageBehindTheHeaderNeverChangesTheBytesUnseen) {
  const std::string bytes = "some text that is checked by its sum";
  const std::string whole = pack(bytes);
  for (std::size_t at = GetParam() == Compression::gzip ? 10 : magic_bytes; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      const Inflated result = inflate(damaged);
      // Some bits are padding between the data and the sum, or say what a decoder need not know.
      EXPECT_TRUE(!result.problem.empty() || result.bytes == bytes) << at;
    }
  }
}

std::string name_of(const testing::TestParamInfo<Compression>& compression) {
  return compression.param == Compression::gzip ? "gzip" : "zstd";
}

INSTANTIATE_TEST_SUITE_P(, Codec, testing::Values(Compression::gzip, Compression::zstd), name_of);

TEST(Gzip, ZerosMayPadTheEnd) {
  const std::string member = compress("one");
  EXPECT_EQ(inflate(member + std::string(512, '\0')).problem, "");
  EXPECT_EQ(inflate(member + std::string(3, '\0') + compress(" two")).bytes, "one two");
  EXPECT_NE(inflate(member + std::string(3, '\0') + "x").problem, "");
}

TEST(Compression, PlainBytesAreToldFromAllOthers) {
  for (const char* const bytes : {"", "\x1f", "\x1f\x8c", "\x28\xb5\x2f", "\x50\x2a\x4d"}) {
    EXPECT_EQ(detect_compression(bytes), Compression::none);
  }
  EXPECT_EQ(detect_compression("\x5a\x2a\x4d\x18"), Compression::zstd);
}

TEST(Compression, NamesAndLevels) {
  EXPECT_EQ(compression_by_name("a.et"), Compression::none);
  EXPECT_EQ(compression_by_name("a.et.gz"), Compression::gzip);
  EXPECT_EQ(compression_by_name("a.et.zst"), Compression::zstd);
  EXPECT_EQ(without_compression_suffix("run/a.json.gz"), "run/a.json");
  EXPECT_EQ(without_compression_suffix("run/a.json"), "run/a.json");
  EXPECT_EQ(choose_encoding("a.gz").level, 6);
  EXPECT_EQ(choose_encoding("a.gz", Compression::none, 99).compression, Compression::none);
  EXPECT_THROW(choose_encoding("a.gz", {}, 10), ChakraError);
  EXPECT_THROW(choose_encoding("a", Compression::zstd, 20), ChakraError);
}

}  // namespace
}  // namespace chakra::io
