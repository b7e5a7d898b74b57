// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "chakra_core/node_type.hpp"

namespace chakra {

/// Node id to row. Chooses by the ids: nothing at all when they count up by one, an offset table
/// when they are dense, an open-addressing hash table when they are sparse. Ids that were made to collide
/// cost no more than a bounded number of probes and a search of an ordered map.
class IdIndex {
 public:
  struct Duplicate {
    NodeIndex first;
    NodeIndex second;
  };

  /// Indexes all ids; of equal ids the first row stays. Returns the later rows of duplicates, ascending.
  std::vector<Duplicate> build(std::span<const NodeId> ids);

  std::optional<NodeIndex> find(NodeId id) const noexcept;
  /// Rows of many ids, as far as they are there: fills `rows`, which has as many entries, and stops at the first id
  /// that is not. Returns how many were found.
  std::size_t find_all(std::span<const NodeId> ids, NodeIndex* rows) const noexcept;
  std::size_t memory_bytes() const noexcept;

 private:
  enum class Form : std::uint8_t { consecutive, offset_table, hash_table };

  std::vector<Duplicate> build_offset_table(std::span<const NodeId> ids, std::size_t span);
  std::vector<Duplicate> build_hash_table(std::span<const NodeId> ids);
  NodeIndex insert(NodeId id, NodeIndex row);

  Form form_ = Form::consecutive;
  NodeId smallest_ = 0;
  std::size_t count_ = 0;
  std::vector<NodeIndex> table_;
  std::map<NodeId, NodeIndex> crowded_out_;  ///< ids whose place in the hash table is too far from their hash
  std::span<const NodeId> ids_;              ///< the hash table compares with the id column itself
};

}  // namespace chakra
