// SPDX-License-Identifier: MIT
#include "trace/string_pool.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>

#include "chakra_core/errors.hpp"

namespace chakra {

namespace {
// Blocks grow with the pool, so that a small trace has a small pool.
constexpr std::size_t smallest_block = 1024;
constexpr std::size_t largest_block = 256 * 1024;
}  // namespace

std::size_t StringPool::slot_of(std::string_view text) const noexcept {
  const std::size_t mask = table_.size() - 1;
  std::size_t slot = std::hash<std::string_view>{}(text)&mask;
  while (table_[slot] != 0 && views_[table_[slot] - 1] != text) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

std::uint32_t StringPool::intern(std::string_view text) {
  if (views_.size() * 2 >= table_.size()) {
    grow_table();
  }
  const std::size_t slot = slot_of(text);
  if (table_[slot] == 0) {
    if (views_.size() >= std::numeric_limits<std::uint32_t>::max() - 1) {
      throw ChakraError("more than 4,294,967,293 different strings in one trace");
    }
    views_.push_back(store(text));
    table_[slot] = static_cast<std::uint32_t>(views_.size());
  }
  return table_[slot] - 1;
}

std::optional<std::uint32_t> StringPool::find(std::string_view text) const noexcept {
  if (table_.empty()) {
    return std::nullopt;
  }
  const std::uint32_t entry = table_[slot_of(text)];
  return entry == 0 ? std::nullopt : std::optional<std::uint32_t>(entry - 1);
}

std::string_view StringPool::store(std::string_view text) {
  if (text.empty()) {
    return {};
  }
  if (text.size() > block_left_) {
    const std::size_t bytes = std::max(std::clamp(block_bytes_, smallest_block, largest_block), text.size());
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(bytes));
    block_next_ = blocks_.back().get();
    block_left_ = bytes;
    block_bytes_ += bytes;
  }
  std::memcpy(block_next_, text.data(), text.size());
  const std::string_view stored(block_next_, text.size());
  block_next_ += text.size();
  block_left_ -= text.size();
  return stored;
}

void StringPool::grow_table() {
  table_.assign(std::max<std::size_t>(64, table_.size() * 2), 0);
  for (std::size_t id = 0; id < views_.size(); ++id) {
    table_[slot_of(views_[id])] = static_cast<std::uint32_t>(id + 1);
  }
}

std::size_t StringPool::memory_bytes() const noexcept {
  return block_bytes_ + views_.capacity() * sizeof(std::string_view) + table_.capacity() * sizeof(std::uint32_t);
}

}  // namespace chakra
