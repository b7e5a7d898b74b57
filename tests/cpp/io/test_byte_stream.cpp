// SPDX-License-Identifier: MIT
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include "chakra_core/errors.hpp"
#include "io/byte_stream.hpp"
#include "io/compress.hpp"

namespace chakra::test {
namespace {

std::string gzip(const std::string& plain) {
  z_stream deflate_stream{};
  EXPECT_EQ(deflateInit2(&deflate_stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&deflate_stream, static_cast<uLong>(plain.size())), '\0');
  std::string in = plain;
  deflate_stream.next_in = reinterpret_cast<Bytef*>(in.data());
  deflate_stream.avail_in = static_cast<uInt>(in.size());
  deflate_stream.next_out = reinterpret_cast<Bytef*>(out.data());
  deflate_stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&deflate_stream, Z_FINISH), Z_STREAM_END);
  out.resize(deflate_stream.total_out);
  deflateEnd(&deflate_stream);
  return out;
}

/// Text that does not compress to nothing, over more blocks than the thread's queue holds.
const std::string& long_text() {
  static const std::string text = [] {
    std::string lines;
    for (int i = 0; i < 800'000; ++i) {
      lines += std::to_string(i * 2654435761LL % 1000003) + "\n";
    }
    return lines;
  }();
  return text;
}

class ByteStreamTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    const testing::TestInfo* const info = testing::UnitTest::GetInstance()->current_test_info();
    std::string name = info->name();
    std::replace(name.begin(), name.end(), '/', '_');
    folder_ = std::filesystem::temp_directory_path() / ("byte_stream_" + std::to_string(::getpid()) + name);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const std::string& bytes) const {
    const std::filesystem::path path = folder_ / "file";
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  /// All that the stream gives, in pieces; the message of its failure, if it fails, in `failure`.
  static std::string read_all(io::ByteStream& stream, std::string* failure = nullptr) {
    std::string all;
    std::string piece(10'007, '\0');
    try {
      while (const std::size_t count = stream.read(std::as_writable_bytes(std::span(piece)))) {
        all.append(piece, 0, count);
      }
    } catch (const FormatError& error) {
      if (failure == nullptr) {
        throw;
      }
      *failure = error.what();
    }
    return all;
  }

  std::string read_file(const std::string& bytes, std::string* failure = nullptr) const {
    return read_all(*io::open_byte_stream(write(bytes), GetParam()), failure);
  }

  std::filesystem::path folder_;
};

TEST_P(ByteStreamTest, PlainFiles) {
  EXPECT_EQ(read_file(""), "");
  EXPECT_EQ(read_file("x"), "x");
  EXPECT_EQ(read_file("\x1F"), "\x1F");
  const std::string& text = long_text();
  EXPECT_EQ(read_file(text), text);
  const auto stream = io::open_byte_stream(write("abc"), GetParam());
  EXPECT_EQ(stream->source_size(), 3U);
  EXPECT_EQ(read_all(*stream), "abc");
  EXPECT_EQ(stream->source_position(), 3U);
}

TEST_P(ByteStreamTest, GzipFilesOfOneAndManyMembers) {
  const std::string& text = long_text();
  EXPECT_EQ(read_file(gzip(text)), text);
  EXPECT_EQ(read_file(gzip("")), "");
  EXPECT_EQ(read_file(gzip("one ") + gzip("") + gzip("two ") + gzip(text)), "one two " + text);
  EXPECT_EQ(read_file(gzip("padded") + std::string(1000, '\0')), "padded");
  const auto stream = io::open_byte_stream(write(gzip(text)), GetParam());
  read_all(*stream);
  EXPECT_EQ(stream->source_position(), stream->source_size());
}

TEST_P(ByteStreamTest, ZstdFiles) {
  const std::string& text = long_text();
  if (!has_zstd()) {
    EXPECT_THROW(io::open_byte_stream(write("\x28\xB5\x2F\xFDxxxx"), GetParam()), FormatError);
    GTEST_SKIP() << "built without zstd";
  }
  const std::string compressed = compress_as(Compression::zstd, text);
  EXPECT_EQ(read_file(compressed + compress_as(Compression::zstd, "more")), text + "more");
  std::string failure;
  const std::string part = read_file(compressed.substr(0, compressed.size() / 2), &failure);
  EXPECT_GT(part.size(), text.size() / 3);
  EXPECT_EQ(part, text.substr(0, part.size()));
  EXPECT_NE(failure.find("truncated"), std::string::npos) << failure;
  read_file("\x28\xB5\x2F\xFDxxxx", &failure);
  EXPECT_NE(failure.find("damaged"), std::string::npos) << failure;
}

TEST_P(ByteStreamTest, DamageComesAfterEveryWholeByte) {
  const std::string& text = long_text();
  const std::string compressed = gzip(text);
  std::string failure;
  const std::string part = read_file(compressed.substr(0, compressed.size() / 2), &failure);
  EXPECT_GT(part.size(), text.size() / 3);
  EXPECT_EQ(part, text.substr(0, part.size()));
  EXPECT_NE(failure.find("truncated"), std::string::npos) << failure;

  EXPECT_EQ(read_file(compressed.substr(0, compressed.size() - 1), &failure), text);
  EXPECT_NE(failure.find("truncated"), std::string::npos) << failure;

  EXPECT_EQ(read_file(gzip("whole") + "garbage", &failure), "whole");
  EXPECT_NE(failure.find("bytes that are not gzip follow"), std::string::npos) << failure;

  std::string damaged = compressed;
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 0x55);
  read_file(damaged, &failure);
  EXPECT_NE(failure.find("damaged"), std::string::npos) << failure;

  failure.clear();
  std::string wrong_sum = gzip("checksum");
  wrong_sum[wrong_sum.size() - 8] = static_cast<char>(wrong_sum[wrong_sum.size() - 8] ^ 1);
  read_file(wrong_sum, &failure);
  EXPECT_NE(failure.find("damaged"), std::string::npos) << failure;
  EXPECT_NE(failure.find(folder_.string()), std::string::npos) << failure;
}

TEST_P(ByteStreamTest, AnAbandonedStreamEndsItsThread) {
  const auto stream = io::open_byte_stream(write(gzip(long_text())), GetParam());
  std::string piece(10, '\0');
  EXPECT_EQ(stream->read(std::as_writable_bytes(std::span(piece))), 10U);
}

TEST_P(ByteStreamTest, WhatCannotBeOpened) {
  EXPECT_THROW(io::open_byte_stream(folder_ / "absent", GetParam()), ChakraError);
  EXPECT_THROW(io::open_byte_stream(folder_, GetParam()), ChakraError);
}

std::string thread_name(const testing::TestParamInfo<bool>& own_thread) {
  return own_thread.param ? "own_thread" : "callers_thread";
}

INSTANTIATE_TEST_SUITE_P(, ByteStreamTest, testing::Bool(), thread_name);

TEST(MemoryStream, GivesItsBytesOnce) {
  const auto stream = io::make_memory_stream("hello");
  std::string piece(3, '\0');
  EXPECT_EQ(stream->read(std::as_writable_bytes(std::span(piece))), 3U);
  EXPECT_EQ(piece, "hel");
  EXPECT_EQ(stream->read(std::as_writable_bytes(std::span(piece))), 2U);
  EXPECT_EQ(stream->read(std::as_writable_bytes(std::span(piece))), 0U);
}

}  // namespace
}  // namespace chakra::test
