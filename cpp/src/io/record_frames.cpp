// SPDX-License-Identifier: MIT
#include "io/record_frames.hpp"

#include <algorithm>

#include "wire/decode.hpp"

namespace chakra::io {

namespace {

constexpr std::size_t cache_line = 64;
constexpr std::size_t prefetch_distance = 4096;
/// A block ends when it is as large, so that it is still in the cache when it is decoded.
constexpr std::size_t block_bytes = std::size_t{1} << 20;
/// Presence bits of blocks join word by word where blocks are whole words.
constexpr std::size_t word_records = 64;

}  // namespace

std::size_t prefetch_ahead(std::string_view bytes, std::size_t from, std::size_t at) noexcept {
  const std::size_t until = std::min(bytes.size(), at + prefetch_distance);
  for (from = std::max(from, at); from < until; from += cache_line) {
    __builtin_prefetch(bytes.data() + from);
  }
  return from;
}

FrameBlock RecordFrames::next() {
  FrameBlock block{end_, 0, 0, record_};
  const auto is_full = [&] {
    return block.count % word_records == 0 && (block.count == block_records || end_ - block.begin >= block_bytes);
  };
  try {
    while (problem_.empty() && end_ < bytes_.size() && !(block.count > 0 && is_full())) {
      prefetched_ = prefetch_ahead(bytes_, prefetched_, end_);
      const wire::Frame frame = wire::read_frame(bytes_, end_);
      end_ = frame.begin + frame.size;
      ++block.count;
    }
  } catch (const wire::Malformed& error) {
    problem_ = error.what();
  }
  block.size = end_ - block.begin;
  record_ += block.count;
  return block;
}

}  // namespace chakra::io
