// SPDX-License-Identifier: MIT
#include "io/streamed_records.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "wire/decode.hpp"

namespace chakra::io {

namespace {

constexpr std::size_t longest_prefix = 10;

/// Bytes that a record with its length takes; one more than there are if the length itself is not there yet.
std::size_t frame_size(std::string_view bytes) noexcept {
  std::uint64_t message = 0;
  for (std::size_t i = 0; i < std::min(bytes.size(), longest_prefix); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    message |= static_cast<std::uint64_t>(byte & 0x7FU) << (7 * i);
    if (byte < 0x80) {
      constexpr std::uint64_t most = std::numeric_limits<std::size_t>::max();
      return static_cast<std::size_t>(message > most - i - 1 ? most : i + 1 + message);
    }
  }
  // A length that does not end is for read_frame() to refuse.
  return bytes.size() < longest_prefix ? bytes.size() + 1 : bytes.size();
}

}  // namespace

std::string_view ChunkedSource::keep(Chunk chunk, std::uint64_t offset) {
  memory_bytes_ += chunk.size;
  pieces_.push_back({std::move(chunk), offset});
  return pieces_.back().chunk.bytes();
}

void ChunkedSource::keep_only(const char* at) {
  std::erase_if(pieces_, [&](const Piece& piece) {
    const char* const begin = piece.chunk.memory.get();
    const bool goes = std::less<>()(at, begin) || std::less<>()(begin + piece.chunk.size, at);
    memory_bytes_ -= goes ? piece.chunk.size : 0;
    return goes;
  });
}

void ChunkedSource::close() {
  std::sort(pieces_.begin(), pieces_.end(), [](const Piece& one, const Piece& other) {
    return std::less<>()(one.chunk.memory.get(), other.chunk.memory.get());
  });
}

std::optional<std::uint64_t> ChunkedSource::offset_of(const char* at) const noexcept {
  const auto after = std::upper_bound(pieces_.begin(), pieces_.end(), at, [](const char* place, const Piece& piece) {
    return std::less<>()(place, static_cast<const char*>(piece.chunk.memory.get()));
  });
  if (after == pieces_.begin()) {
    return std::nullopt;
  }
  const Piece& piece = *std::prev(after);
  const auto distance = static_cast<std::size_t>(at - piece.chunk.memory.get());
  return distance <= piece.chunk.size ? std::optional(piece.offset + distance) : std::nullopt;
}

bool StreamedRecords::take_chunk() {
  std::optional<Chunk> chunk = chunks_->next();
  if (!chunk) {
    return false;
  }
  rest_ = source_->keep(std::move(*chunk), received_);
  received_ += rest_.size();
  return true;
}

std::optional<StreamedRecords::Record> StreamedRecords::next() {
  if (rest_.empty() && !take_chunk()) {
    return std::nullopt;
  }
  const std::size_t size = frame_size(rest_);
  if (size > rest_.size()) {
    return next_of_many_chunks();
  }
  const wire::Frame frame = wire::read_frame(rest_, 0);
  const Record record{rest_.substr(frame.begin, frame.size), position_ + frame.begin};
  rest_.remove_prefix(size);
  position_ += size;
  return record;
}

/// Gathers a record that does not end in the chunk at hand: only as many bytes as there really are.
StreamedRecords::Record StreamedRecords::next_of_many_chunks() {
  std::string gathered;
  for (std::size_t wanted = frame_size(rest_); gathered.size() < wanted; wanted = frame_size(gathered)) {
    left_ = gathered.size() + rest_.size();
    if (rest_.empty() && !take_chunk()) {
      break;
    }
    const std::size_t count = std::min(wanted - gathered.size(), rest_.size());
    gathered.append(rest_.substr(0, count));
    rest_.remove_prefix(count);
  }
  const wire::Frame frame = wire::read_frame(gathered, 0);
  Chunk own{std::make_unique_for_overwrite<char[]>(gathered.size()), gathered.size()};
  std::copy(gathered.begin(), gathered.end(), own.memory.get());
  const Record record{source_->keep(std::move(own), position_).substr(frame.begin, frame.size),
                      position_ + frame.begin};
  position_ += gathered.size();
  left_ = 0;
  return record;
}

}  // namespace chakra::io
