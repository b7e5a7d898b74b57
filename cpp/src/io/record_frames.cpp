// SPDX-License-Identifier: MIT
#include "io/record_frames.hpp"

#include <algorithm>

#include "wire/decode.hpp"

namespace chakra::io {

namespace {

constexpr std::size_t cache_line = 64;
constexpr std::size_t prefetch_distance = 4096;
/// A block ends when it is as large, so that it is still in the cache when it is decoded.
constexpr std::size_t block_bytes = std::size_t{4} << 20;
/// Presence bits of blocks join word by word where blocks are whole words.
constexpr std::size_t word_records = 64;

}  // namespace

/// Each hop would wait for the length where it lands: the processor sees no pattern. All bytes between are needed next.
void RecordFrames::prefetch() noexcept {
  const std::size_t until = std::min(bytes_.size(), end_ + prefetch_distance);
  for (prefetched_ = std::max(prefetched_, end_); prefetched_ < until; prefetched_ += cache_line) {
    __builtin_prefetch(bytes_.data() + prefetched_);
  }
}

FrameBlock RecordFrames::next() {
  FrameBlock block{end_, 0, 0, record_};
  const auto is_full = [&] {
    return block.count % word_records == 0 && (block.count == block_records || end_ - block.begin >= block_bytes);
  };
  try {
    while (problem_.empty() && end_ < bytes_.size() && !(block.count > 0 && is_full())) {
      prefetch();
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
