// SPDX-License-Identifier: MIT
// Every library that inflates gzip, with all kinds of members in pieces of all sizes.
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "io/codec.hpp"
#include "io/compress.hpp"
#include "io/gzip_members.hpp"
#include "io/trickle_stream.hpp"

namespace chakra::io {
namespace {

using chakra::test::compress;
using Make = std::unique_ptr<ByteStream> (*)(std::unique_ptr<ByteStream>, std::string);

std::string some_text(std::size_t size, unsigned alphabet, std::mt19937& random) {
  std::string text(size, ' ');
  for (char& letter : text) {
    letter = static_cast<char>(random() % alphabet);
  }
  return text;
}

class GzipEngine : public testing::TestWithParam<Make> {
 protected:
  void SetUp() override {
    if (GetParam() == &make_isal_stream && !has_isal()) {
      GTEST_SKIP() << "built without ISA-L";
    }
  }

  static std::string inflate(std::string_view compressed, std::size_t in, std::size_t out) {
    const auto stream =
        GetParam()(std::make_unique<chakra::test::TrickleStream>(std::string(compressed), in), "<test>");
    std::string bytes;
    std::string piece(out, '\0');
    while (const std::size_t count = stream->read(std::as_writable_bytes(std::span(piece)))) {
      bytes.append(piece, 0, count);
    }
    return bytes;
  }
};

TEST_P(GzipEngine, MembersOfAllKindsInPiecesOfAllSizes) {
  std::mt19937 random(1);
  for (const std::size_t size : {0U, 1U, 50U, 700U, 40'000U}) {
    for (const unsigned alphabet : {2U, 60U, 256U}) {
      for (const int level : {0, 1, 6, 9}) {
        const int strategy = size % 4 == 2 ? Z_FIXED : Z_DEFAULT_STRATEGY;
        const std::string one = some_text(size, alphabet, random);
        const std::string other = some_text(size / 3 + 5, alphabet, random);
        const std::string packed = compress(one, {level, strategy, level == 6}) +
                                   compress(other, {level, strategy, level == 1}) + std::string(3, '\0') +
                                   compress("", {level, strategy});
        for (const std::size_t in : {1U, 2U, 3U, 7U, 8U, 9U, 64U, 1000U, 1'000'000U}) {
          for (const std::size_t out : {1U, 5U, 333U, 1'000'000U}) {
            if (packed.size() / in + size / out < 20'000) {
              ASSERT_TRUE(inflate(packed, in, out) == one + other)
                  << size << ' ' << alphabet << ' ' << level << ' ' << in;
            }
          }
        }
      }
    }
  }
}

TEST_P(GzipEngine, CutAnywhereEndsInTheMiddle) {
  std::mt19937 random(2);
  const std::string packed = compress(some_text(600, 60, random), {.whole_header = true});
  for (std::size_t size = 4; size < packed.size(); ++size) {
    EXPECT_THROW((void)inflate(packed.substr(0, size), 16, 100), FormatError) << size;
  }
}

TEST_P(GzipEngine, DamageIsNeverTakenForTheEnd) {
  std::mt19937 random(4);
  const std::string text = some_text(300, 60, random);
  const std::string packed = compress(text);
  for (std::size_t at = 10; at < packed.size(); ++at) {
    for (const std::size_t out : {1U, 50U, 1000U}) {
      std::string damaged = packed;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
      try {
        EXPECT_TRUE(inflate(damaged, 1000, out) == text) << at;
      } catch (const FormatError&) {
        SUCCEED();
      }
    }
  }
}

TEST_P(GzipEngine, BytesBehindAMemberAreToldWithTheirPlace) {
  std::mt19937 random(3);
  for (std::size_t size = 0; size < 40; ++size) {
    const std::string packed = compress(some_text(size, 60, random));
    for (const std::size_t in : {1U, 5U, 1000U}) {
      try {
        (void)inflate(packed + "123456789", in, 1000);
        ADD_FAILURE();
      } catch (const FormatError& error) {
        EXPECT_NE(std::string(error.what()).find("(byte " + std::to_string(packed.size()) + " "), std::string::npos)
            << error.what();
      }
    }
  }
}

std::string name_of(const testing::TestParamInfo<Make>& engine) {
  return engine.param == &make_isal_stream ? "isal" : "zlib";
}

INSTANTIATE_TEST_SUITE_P(, GzipEngine, testing::Values(&make_zlib_stream, &make_isal_stream), name_of);

}  // namespace
}  // namespace chakra::io
