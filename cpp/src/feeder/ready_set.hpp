// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace chakra::detail {

/// Set of ranks 0 .. size - 1 that gives its smallest member. A tree of bit words, 64 children each:
/// insert, erase and smallest touch one word a level at most, four levels for 16 million ranks.
class ReadySet {
 public:
  explicit ReadySet(std::size_t size);

  void insert(std::uint32_t rank) noexcept;
  void erase(std::uint32_t rank) noexcept;
  bool contains(std::uint32_t rank) const noexcept;
  std::optional<std::uint32_t> smallest() const noexcept;
  std::size_t size() const noexcept { return count_; }
  /// Members in ascending order.
  std::vector<std::uint32_t> members() const;
  void clear() noexcept;
  std::size_t memory_bytes() const noexcept;

 private:
  void find_lowest() noexcept;

  std::vector<std::vector<std::uint64_t>>
      levels_;  ///< levels_[0] holds the ranks, each further one which words are not 0
  std::size_t count_ = 0;
  std::size_t lowest_ = 0;  ///< first word of levels_[0] that is not 0, if any member is there
};

}  // namespace chakra::detail
