// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace chakra::detail {

/// Set of ranks 0 .. size - 1 that gives its smallest member. A tree of bit words, 64 children each: a step touches one
/// word a level at most, four levels for 16 million ranks. The smallest member stands outside the tree once it was
/// seen, so that where few are ready at a time, the tree is hardly touched.
class ReadySet {
 public:
  explicit ReadySet(std::size_t size);

  /// The rank must not be in the set.
  void insert(std::uint32_t rank) noexcept {
    if (count_++ == tree_count_ && (tree_count_ == 0 || rank < lowest_in_tree())) {
      front_ = rank;
    } else {
      insert_beside(rank);
    }
  }
  /// The rank must be in the set.
  void erase(std::uint32_t rank) noexcept;
  bool contains(std::uint32_t rank) const noexcept { return (has_front() && front_ == rank) || in_tree(rank); }
  std::optional<std::uint32_t> smallest() const noexcept {
    if (count_ == 0) {
      return std::nullopt;
    }
    return has_front() ? front_ : lowest_in_tree();
  }
  /// Takes the smallest member out. The set must not be empty.
  std::uint32_t take_smallest() noexcept {
    if (has_front()) {
      --count_;
      return front_;
    }
    return take_lowest_in_tree();
  }
  std::size_t size() const noexcept { return count_; }
  /// Members in ascending order.
  std::vector<std::uint32_t> members() const;
  void clear() noexcept;
  std::size_t memory_bytes() const noexcept;

 private:
  bool has_front() const noexcept { return count_ != tree_count_; }
  bool in_tree(std::uint32_t rank) const noexcept { return ((levels_.front()[rank / 64] >> (rank % 64)) & 1U) != 0; }
  std::uint32_t lowest_in_tree() const noexcept;
  std::uint32_t take_lowest_in_tree() noexcept;
  void insert_beside(std::uint32_t rank) noexcept;
  void insert_in_tree(std::uint32_t rank) noexcept;
  void erase_from_tree(std::uint32_t rank) noexcept;
  void find_lowest() noexcept;

  std::vector<std::vector<std::uint64_t>>
      levels_;  ///< levels_[0] holds the ranks, each further one which words are not 0
  std::size_t count_ = 0;
  std::size_t tree_count_ = 0;  ///< members in the tree; the one that may be missing is `front_`, below all of them
  std::size_t lowest_ = 0;      ///< first word of levels_[0] that is not 0, if the tree has any member
  std::uint32_t front_ = 0;
};

}  // namespace chakra::detail
