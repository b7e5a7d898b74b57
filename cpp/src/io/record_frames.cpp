// SPDX-License-Identifier: MIT
#include "io/record_frames.hpp"

#include <algorithm>

#include "wire/decode.hpp"

namespace chakra::io {

namespace {

constexpr std::size_t cache_line = 64;
constexpr std::size_t prefetch_distance = 4096;

}  // namespace

std::size_t prefetch_ahead(std::string_view bytes, std::size_t from, std::size_t at) {
  const std::size_t until = std::min(bytes.size(), at + prefetch_distance);
  for (; from < until; from += cache_line) {
    __builtin_prefetch(bytes.data() + from);
  }
  return from;
}

RecordFrames find_records(std::string_view bytes, std::size_t offset, std::uint64_t first_record) {
  RecordFrames found;
  found.end = offset;
  std::size_t prefetched = offset;
  try {
    while (found.end < bytes.size()) {
      prefetched = prefetch_ahead(bytes, std::max(prefetched, found.end), found.end);
      const wire::Frame frame = wire::read_frame(bytes, found.end);
      if (found.count % block_records == 0) {
        found.blocks.push_back({found.end, 0, 0, first_record + found.count});
      }
      found.end = frame.begin + frame.size;
      ++found.count;
      FrameBlock& block = found.blocks.back();
      ++block.count;
      block.size = found.end - block.begin;
    }
  } catch (const wire::Malformed& error) {
    found.problem = error.what();
  }
  return found;
}

}  // namespace chakra::io
