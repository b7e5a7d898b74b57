// SPDX-License-Identifier: MIT
#include <memory>
#include <span>
#include <string>

#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "chakra_core/et_file.hpp"
#include "io/compress.hpp"
#include "io/streamed_records.hpp"
#include "message.hpp"
#include "wire/decode.hpp"

namespace chakra {
namespace {

using namespace chakra::test;

io::StreamedRecords stream_of(std::string_view bytes, std::uint64_t max_bytes = 0) {
  return io::StreamedRecords(std::make_unique<io::ReadAhead>(io::make_memory_stream(bytes), "<stream>", max_bytes));
}

/// Records of many lengths, more than one chunk of them, so that they begin and end anywhere in a chunk.
std::string many_records(std::size_t count) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) {
    bytes += record(std::string(i * 7919 % 4001, static_cast<char>('a' + i % 26)));
  }
  return bytes;
}

TEST(StreamedRecords, AreThoseOfTheBytesWithTheirOffsets) {
  const std::string bytes = many_records(3000);
  io::StreamedRecords records = stream_of(bytes);
  std::size_t at = 0;
  while (at < bytes.size()) {
    const wire::Frame frame = wire::read_frame(bytes, at);
    const auto found = records.next();
    ASSERT_TRUE(found.has_value());
    ASSERT_EQ(found->begin, frame.begin);
    ASSERT_EQ(found->message, std::string_view(bytes).substr(frame.begin, frame.size));
    at = frame.begin + frame.size;
    EXPECT_EQ(records.position(), at);
  }
  EXPECT_FALSE(records.next().has_value());
}

TEST(StreamedRecords, TheSourceKnowsWhereEveryByteWas) {
  const std::string bytes = many_records(1500);
  io::StreamedRecords records = stream_of(bytes);
  std::vector<io::StreamedRecords::Record> all;
  while (const auto found = records.next()) {
    all.push_back(*found);
  }
  records.source()->close();
  for (const auto& one : all) {
    EXPECT_EQ(records.source()->offset_of(one.message.data()), one.begin);
  }
  EXPECT_EQ(records.source()->offset_of(bytes.data()), std::nullopt);
  EXPECT_LT(records.source()->memory_bytes(), bytes.size() + 100'000);
}

TEST(StreamedRecords, ARecordOverManyChunksIsWhole) {
  const std::string large(10'000'000, 'x');
  io::StreamedRecords records = stream_of("");
  const std::string bytes = record("first") + record(large) + record("last");
  records = stream_of(bytes);
  EXPECT_EQ(records.next()->message, "first");
  EXPECT_EQ(records.next()->message, large);
  EXPECT_EQ(records.next()->message, "last");
}

TEST(StreamedRecords, ACutEndIsMalformedAndSaysWhatIsLeft) {
  const std::string bytes = record("whole") + varint(1'000'000) + "only this";
  io::StreamedRecords records = stream_of(bytes);
  EXPECT_EQ(records.next()->message, "whole");
  EXPECT_THROW((void)records.next(), wire::Malformed);
  EXPECT_EQ(records.position(), 6U);
  EXPECT_EQ(records.left(), bytes.size() - 6);
  io::StreamedRecords inside_length = stream_of("\x85");
  EXPECT_THROW((void)inside_length.next(), wire::Malformed);
  const std::string endless(3'000'000, '\xff');
  io::StreamedRecords no_length = stream_of(endless);
  EXPECT_THROW((void)no_length.next(), wire::Malformed);
}

TEST(StreamedRecords, ALimitEndsTheStream) {
  const std::string bytes = many_records(3000);
  io::StreamedRecords records = stream_of(bytes, bytes.size() / 2);
  std::size_t taken = 0;
  EXPECT_THROW(
      {
        while (const auto found = records.next()) {
          taken = found->begin + found->message.size();
        }
      },
      FormatError);
  EXPECT_GT(taken, 0U);
  EXPECT_LE(taken, bytes.size() / 2);
  io::StreamedRecords enough = stream_of(bytes, bytes.size());
  while (enough.next()) {
  }
}

/// A file of many blocks with a bad record here and there gives the same trace, plain and compressed.
TEST(StreamedRecords, CompressedFilesGiveTheSameTrace) {
  std::string file = record(bytes_field(1, "0.0.4"));
  for (NodeId id = 1; id <= 40'000; ++id) {
    const std::string parent = id > 1 ? number_field(5, id / 2) : "";
    file += record(number_field(1, id) + bytes_field(2, "node " + std::to_string(id % 100)) + parent +
                   attribute("comm_size", number_field(9, id)));
    if (id % 10'007 == 0) {
      file += record("\x08") + record(number_field(1, 100'000 + id) + attribute("tid", bytes_field(29, "x")));
    }
  }
  const auto load_as = [](const std::string& bytes) {
    return load_bytes(std::as_bytes(std::span(bytes)), "<test>", {.on_error = OnError::recover});
  };
  const TracePtr plain = load_as(file);
  for (const Compression compression : {Compression::gzip, Compression::zstd}) {
    if (compression == Compression::zstd && !has_zstd()) {
      continue;
    }
    const TracePtr trace = load_as(compress_as(compression, file));
    ASSERT_EQ(trace->size(), plain->size());
    ASSERT_EQ(trace->load_report().problems().size(), plain->load_report().problems().size());
    for (std::size_t i = 0; i < plain->load_report().problems().size(); ++i) {
      EXPECT_EQ(trace->load_report().problems()[i].message, plain->load_report().problems()[i].message);
      EXPECT_EQ(trace->load_report().problems()[i].record, plain->load_report().problems()[i].record);
      EXPECT_EQ(trace->load_report().problems()[i].offset, plain->load_report().problems()[i].offset);
    }
    for (NodeIndex row = 0; row < plain->size(); ++row) {
      ASSERT_EQ(trace->record(row), plain->record(row));
      ASSERT_EQ(trace->name(row), plain->name(row));
      ASSERT_EQ(trace->record_offset(row), plain->record_offset(row));
      ASSERT_EQ(trace->column(IntegerAttribute::comm_size).get(row),
                plain->column(IntegerAttribute::comm_size).get(row));
    }
  }
}

}  // namespace
}  // namespace chakra
