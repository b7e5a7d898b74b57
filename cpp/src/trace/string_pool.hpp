// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace chakra {

/// Interned strings behind 32-bit ids, in order of first appearance. Views stay valid as long as
/// the pool lives, also while it grows. Strings that were made to collide cost no more than a bounded
/// number of probes and a search of an ordered map.
class StringPool {
 public:
  std::uint32_t intern(std::string_view text);
  /// The id of a string that was interned before.
  std::optional<std::uint32_t> find(std::string_view text) const noexcept;
  std::string_view view(std::uint32_t id) const noexcept { return views_[id]; }
  std::size_t size() const noexcept { return views_.size(); }
  std::size_t memory_bytes() const noexcept;

 private:
  std::string_view store(std::string_view text);
  void grow_table();
  std::optional<std::size_t> slot_of(std::string_view text) const noexcept;
  std::uint32_t add(std::string_view text);

  std::vector<std::unique_ptr<char[]>> blocks_;
  std::size_t block_left_ = 0;
  char* block_next_ = nullptr;
  std::size_t block_bytes_ = 0;
  std::vector<std::string_view> views_;
  std::vector<std::uint32_t> table_;  ///< id + 1 in open addressing, 0 is free; size a power of two
  std::map<std::string_view, std::uint32_t> crowded_out_;  ///< strings that found no slot near their hash
};

}  // namespace chakra
