// SPDX-License-Identifier: MIT
#include "trace/string_pool.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "chakra_core/errors.hpp"

namespace chakra {

namespace {
// Blocks grow with the pool, so that a small trace has a small pool.
constexpr std::size_t smallest_block = 1024;
constexpr std::size_t largest_block = std::size_t{256} << 10;
/// Slots that are looked at for a string. At most half of the slots are taken, so that honest strings stay far below.
constexpr std::size_t most_probes = 64;

template <class Word>
std::uint64_t load(const char* at) noexcept {
  Word word = 0;
  std::memcpy(&word, at, sizeof(Word));
  return word;
}

/// At most eight bytes as one number, by loads of fixed sizes, which may overlap.
std::uint64_t load_short(const char* at, std::size_t size) noexcept {
  if (size >= 4) {
    return load<std::uint32_t>(at) << 32 | load<std::uint32_t>(at + size - 4);
  }
  if (size >= 2) {
    return load<std::uint16_t>(at) << 16 | load<std::uint16_t>(at + size - 2);
  }
  return size == 1 ? load<std::uint8_t>(at) : 0;
}

/// A multiplication for each eight bytes, in two chains that do not wait for each other. Collisions are cheap
/// (most_probes), so that speed counts more than strength.
std::size_t hash(std::string_view text) noexcept {
  constexpr std::uint64_t multiplier = 0x9E3779B97F4A7C15ULL;
  std::uint64_t even = text.size();
  std::uint64_t odd = 0;
  const char* at = text.data();
  std::size_t left = text.size();
  for (; left > 16; at += 16, left -= 16) {
    even = std::rotl(even ^ load<std::uint64_t>(at), 29) * multiplier;
    odd = std::rotl(odd ^ load<std::uint64_t>(at + 8), 31) * multiplier;
  }
  if (left > 8) {
    odd = std::rotl(odd ^ load<std::uint64_t>(at), 31) * multiplier;
    at += 8;
    left -= 8;
  }
  const std::uint64_t mixed = (even ^ std::rotl(odd, 17) ^ load_short(at, left)) * multiplier;
  return static_cast<std::size_t>(mixed ^ (mixed >> 32));
}

}  // namespace

/// The slot that holds the string or could take it; none if all slots near its hash hold others.
std::optional<std::size_t> StringPool::slot_of(std::string_view text) const noexcept {
  const std::size_t mask = table_.size() - 1;
  std::size_t slot = hash(text) & mask;
  for (std::size_t probe = 0; probe < most_probes; ++probe, slot = (slot + 1) & mask) {
    if (table_[slot] == 0 || views_[table_[slot] - 1] == text) {
      return slot;
    }
  }
  return std::nullopt;
}

std::uint32_t StringPool::intern(std::string_view text) {
  if (views_.size() * 2 >= table_.size()) {
    grow_table();
  }
  if (const auto slot = slot_of(text)) {
    if (table_[*slot] == 0) {
      table_[*slot] = add(text) + 1;
    }
    return table_[*slot] - 1;
  }
  if (const auto found = crowded_out_.find(text); found != crowded_out_.end()) {
    return found->second;
  }
  const std::uint32_t id = add(text);
  crowded_out_.emplace(views_[id], id);
  return id;
}

std::uint32_t StringPool::add(std::string_view text) {
  if (views_.size() >= std::numeric_limits<std::uint32_t>::max() - 1) {
    throw ChakraError("more than 4,294,967,294 different strings in one trace");
  }
  views_.push_back(store(text));
  return static_cast<std::uint32_t>(views_.size() - 1);
}

std::optional<std::uint32_t> StringPool::find(std::string_view text) const noexcept {
  if (table_.empty()) {
    return std::nullopt;
  }
  if (const auto slot = slot_of(text)) {
    return table_[*slot] == 0 ? std::nullopt : std::optional<std::uint32_t>(table_[*slot] - 1);
  }
  const auto found = crowded_out_.find(text);
  return found != crowded_out_.end() ? std::optional(found->second) : std::nullopt;
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
  crowded_out_.clear();
  for (std::uint32_t id = 0; id < views_.size(); ++id) {
    if (const auto slot = slot_of(views_[id])) {
      table_[*slot] = id + 1;
    } else {
      crowded_out_.emplace(views_[id], id);
    }
  }
}

std::size_t StringPool::memory_bytes() const noexcept {
  constexpr std::size_t map_node = sizeof(std::pair<std::string_view, std::uint32_t>) + 4 * sizeof(void*);
  return crowded_out_.size() * map_node + block_bytes_ + views_.capacity() * sizeof(std::string_view) +
         table_.capacity() * sizeof(std::uint32_t);
}

}  // namespace chakra
