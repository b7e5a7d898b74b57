// SPDX-License-Identifier: MIT
#include "trace/record_arena.hpp"

#include <algorithm>
#include <cstring>

namespace chakra::detail {

namespace {
constexpr std::size_t smallest_block = 4096;
constexpr std::size_t largest_block = 1 << 20;
}  // namespace

std::string_view RecordArena::store(std::string_view record) {
  if (record.empty()) {
    return {};
  }
  if (record.size() > left_) {
    const std::size_t bytes = std::max(std::clamp(total_, smallest_block, largest_block), record.size());
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(bytes));
    next_ = blocks_.back().get();
    left_ = bytes;
    total_ += bytes;
  }
  std::memcpy(next_, record.data(), record.size());
  const std::string_view stored(next_, record.size());
  next_ += record.size();
  left_ -= record.size();
  return stored;
}

}  // namespace chakra::detail
