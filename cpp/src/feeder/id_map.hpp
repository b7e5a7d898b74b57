// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "chakra_core/node_type.hpp"

namespace chakra::detail {

/// Node ids to small numbers, for ids that come and go. Sixteen ids side by side share a cache line, which an
/// open-addressing hash table finds: ids that lie close together, as most do, are looked up close together. The hash is
/// different each time, so that no file can be made to collide.
class IdMap {
 public:
  IdMap();

  std::optional<std::uint32_t> find(NodeId id) const noexcept {
    const Page& page = pages_[place_of(id / page_ids)];
    if (page.line == none || lines_[page.line][id % page_ids] == none) {
      return std::nullopt;
    }
    return lines_[page.line][id % page_ids];
  }
  /// The id must not be there yet. `number` is less than 2^32 - 1.
  void insert(NodeId id, std::uint32_t number);
  /// Changes the number of an id that is there.
  void replace(NodeId id, std::uint32_t number) noexcept;
  /// The id must be there.
  void erase(NodeId id) noexcept;
  std::size_t size() const noexcept { return size_; }
  void clear();
  /// All ids, in no order.
  std::vector<NodeId> ids() const;
  std::size_t memory_bytes() const noexcept;

 private:
  static constexpr std::uint32_t none = 0xFFFFFFFF;
  static constexpr NodeId page_ids = 16;
  using Line = std::array<std::uint32_t, page_ids>;
  struct Page {
    NodeId number = 0;          ///< ids / page_ids
    std::uint32_t line = none;  ///< `none`: a free entry
    std::uint32_t count = 0;
  };

  std::size_t home(NodeId page) const noexcept {
    const std::uint64_t mixed = (page ^ seed_) * 0x9E3779B97F4A7C15ULL;
    return static_cast<std::size_t>(((mixed ^ (mixed >> 32)) * 0xD6E8FEB86659FD93ULL) >> 32) & mask_;
  }
  /// Where a page is, or would be put.
  std::size_t place_of(NodeId page) const noexcept {
    std::size_t at = home(page);
    while (pages_[at].line != none && pages_[at].number != page) {
      at = (at + 1) & mask_;
    }
    return at;
  }
  std::uint32_t new_line();
  void grow();
  void erase_page(std::size_t hole) noexcept;

  std::uint64_t seed_;
  std::vector<Page> pages_;
  std::size_t mask_;
  std::size_t page_count_ = 0;
  std::vector<Line> lines_;
  std::vector<std::uint32_t> free_lines_;
  std::size_t size_ = 0;
};

}  // namespace chakra::detail
