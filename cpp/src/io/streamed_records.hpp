// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "io/read_ahead.hpp"
#include "trace/trace_storage.hpp"

namespace chakra::io {

/// The chunks that records lie in. A record that spans chunks has one of its own.
class ChunkedSource final : public detail::RecordSource {
 public:
  /// Bytes that begin at `offset` of the uncompressed file.
  std::string_view keep(Chunk chunk, std::uint64_t offset);
  /// Frees all chunks but that of a byte.
  void keep_only(const char* at);
  /// Call once, after the last keep(), so that offset_of() finds its way.
  void close();

  std::string_view bytes() const noexcept override { return {}; }
  std::size_t memory_bytes() const noexcept override { return memory_bytes_; }
  std::optional<std::uint64_t> offset_of(const char* at) const noexcept override;

 private:
  struct Piece {
    Chunk chunk;
    std::uint64_t offset;
  };
  std::vector<Piece> pieces_;
  std::size_t memory_bytes_ = 0;
};

/// Takes a stream of records apart as it comes.
class StreamedRecords {
 public:
  struct Record {
    std::string_view message;
    std::uint64_t begin;  ///< offset of the message in the uncompressed file
  };

  explicit StreamedRecords(std::unique_ptr<ReadAhead> chunks) : chunks_(std::move(chunks)) {}

  /// The next record; nothing at the end of the stream. Throws wire::Malformed (offset 0 is position()) where no whole
  /// record comes, and FormatError where the stream fails, after every record before that.
  std::optional<Record> next();

  /// Frees the bytes of all records so far.
  void let_go() { source_->keep_only(rest_.data()); }

  /// Offset of the next record in the uncompressed file.
  std::uint64_t position() const noexcept { return position_; }
  /// Bytes of a record that was cut off.
  std::uint64_t left() const noexcept { return left_; }
  const ReadAhead& chunks() const noexcept { return *chunks_; }

  std::shared_ptr<ChunkedSource> source() const { return source_; }

 private:
  bool take_chunk();
  Record next_of_many_chunks();

  std::unique_ptr<ReadAhead> chunks_;
  std::shared_ptr<ChunkedSource> source_ = std::make_shared<ChunkedSource>();
  std::string_view rest_;       ///< of the last chunk
  std::uint64_t received_ = 0;  ///< bytes of all chunks so far
  std::uint64_t position_ = 0;
  std::uint64_t left_ = 0;
};

}  // namespace chakra::io
