// SPDX-License-Identifier: MIT
#include "feeder/ready_set.hpp"

#include <algorithm>
#include <bit>

namespace chakra::detail {

ReadySet::ReadySet(std::size_t size) {
  std::size_t words = size;
  do {
    words = words / 64 + 1;
    levels_.emplace_back(words, 0);
  } while (words > 1);
}

void ReadySet::insert_beside(std::uint32_t rank) noexcept {
  // insert() has counted `rank` already: the front is there if one more than that is missing from the tree.
  if (count_ - 1 != tree_count_ && rank < front_) {
    std::swap(rank, front_);
  }
  insert_in_tree(rank);
}

void ReadySet::insert_in_tree(std::uint32_t rank) noexcept {
  std::size_t position = rank;
  if (tree_count_++ == 0 || position / 64 < lowest_) {
    lowest_ = position / 64;
  }
  for (auto& level : levels_) {
    std::uint64_t& word = level[position / 64];
    const bool was_empty = word == 0;
    word |= std::uint64_t{1} << (position % 64);
    if (!was_empty) {
      return;
    }
    position /= 64;
  }
}

void ReadySet::erase(std::uint32_t rank) noexcept {
  if (!has_front() || front_ != rank) {
    erase_from_tree(rank);
  }
  --count_;
}

void ReadySet::erase_from_tree(std::uint32_t rank) noexcept {
  --tree_count_;
  std::size_t position = rank;
  for (auto& level : levels_) {
    std::uint64_t& word = level[position / 64];
    word &= ~(std::uint64_t{1} << (position % 64));
    if (word != 0) {
      break;
    }
    position /= 64;
  }
  if (tree_count_ > 0 && levels_.front()[lowest_] == 0) {
    find_lowest();
  }
}

void ReadySet::find_lowest() noexcept {
  std::size_t position = 0;
  for (auto level = levels_.rbegin(); level + 1 != levels_.rend(); ++level) {
    position = position * 64 + static_cast<std::size_t>(std::countr_zero((*level)[position]));
  }
  lowest_ = position;
}

std::uint32_t ReadySet::lowest_in_tree() const noexcept {
  const auto bit = static_cast<std::size_t>(std::countr_zero(levels_.front()[lowest_]));
  return static_cast<std::uint32_t>(lowest_ * 64 + bit);
}

std::uint32_t ReadySet::take_lowest_in_tree() noexcept {
  const std::uint32_t rank = lowest_in_tree();
  std::uint64_t& word = levels_.front()[lowest_];
  --count_;
  if ((word & (word - 1)) == 0) {
    erase_from_tree(rank);
  } else {
    word &= word - 1;
    --tree_count_;
  }
  return rank;
}

std::vector<std::uint32_t> ReadySet::members() const {
  std::vector<std::uint32_t> ranks;
  ranks.reserve(count_);
  if (has_front()) {
    ranks.push_back(front_);
  }
  const auto& words = levels_.front();
  for (std::size_t word = 0; word < words.size(); ++word) {
    for (std::uint64_t bits = words[word]; bits != 0; bits &= bits - 1) {
      ranks.push_back(static_cast<std::uint32_t>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits))));
    }
  }
  return ranks;
}

void ReadySet::clear() noexcept {
  for (auto& level : levels_) {
    std::fill(level.begin(), level.end(), 0);
  }
  count_ = 0;
  tree_count_ = 0;
}

std::size_t ReadySet::memory_bytes() const noexcept {
  std::size_t words = 0;
  for (const auto& level : levels_) {
    words += level.capacity();
  }
  return words * sizeof(std::uint64_t);
}

}  // namespace chakra::detail
