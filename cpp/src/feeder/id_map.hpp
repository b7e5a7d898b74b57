// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "chakra_core/node_type.hpp"

namespace chakra::detail {

/// Node ids to small numbers, for ids that come and go: an open-addressing hash table. Its hash is different each time,
/// so that no file can be made to collide.
class IdMap {
 public:
  IdMap();

  std::optional<std::uint32_t> find(NodeId id) const noexcept {
    for (std::size_t at = home(id); entries_[at].number != none; at = (at + 1) & mask_) {
      if (entries_[at].id == id) {
        return entries_[at].number;
      }
    }
    return std::nullopt;
  }
  /// The id must not be there yet. `number` is less than 2^32 - 1.
  void insert(NodeId id, std::uint32_t number);
  /// Changes the number of an id that is there.
  void replace(NodeId id, std::uint32_t number) noexcept;
  /// Does nothing if the id is not there.
  void erase(NodeId id) noexcept;
  std::size_t size() const noexcept { return size_; }
  void clear();
  std::vector<NodeId> ids() const;
  std::size_t memory_bytes() const noexcept { return entries_.capacity() * sizeof(Entry); }

 private:
  static constexpr std::uint32_t none = 0xFFFFFFFF;
  struct Entry {
    NodeId id = 0;
    std::uint32_t number = none;
  };

  std::size_t home(NodeId id) const noexcept {
    const std::uint64_t mixed = (id ^ seed_) * 0x9E3779B97F4A7C15ULL;
    return static_cast<std::size_t>((mixed ^ (mixed >> 32)) * 0xD6E8FEB86659FD93ULL >> 32) & mask_;
  }
  void grow();

  std::uint64_t seed_;
  std::vector<Entry> entries_;
  std::size_t mask_;
  std::size_t size_ = 0;
};

}  // namespace chakra::detail
