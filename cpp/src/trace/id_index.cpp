// SPDX-License-Identifier: MIT
#include "trace/id_index.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace chakra {

namespace {

constexpr NodeIndex free_entry = std::numeric_limits<NodeIndex>::max();
/// An offset table may have this many entries for each id before hashing takes less memory.
constexpr std::uint64_t most_entries_per_id = 4;
/// Slots that are looked at for an id. At most half of the slots are taken, so that honest ids stay far below.
constexpr std::size_t most_probes = 64;

/// Finaliser of splitmix64: spreads ids that differ in few bits over the whole table.
std::uint64_t mix(std::uint64_t value) noexcept {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

bool counts_up_by_one(std::span<const NodeId> ids) noexcept {
  for (std::size_t row = 1; row < ids.size(); ++row) {
    if (ids[row] != ids[row - 1] + 1 || ids[row] == 0) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::vector<IdIndex::Duplicate> IdIndex::build(std::span<const NodeId> ids) {
  count_ = ids.size();
  ids_ = ids;
  table_.clear();
  crowded_out_.clear();
  form_ = Form::consecutive;
  smallest_ = ids.empty() ? 0 : ids.front();
  if (counts_up_by_one(ids)) {
    return {};
  }
  const auto [smallest, largest] = std::minmax_element(ids.begin(), ids.end());
  smallest_ = *smallest;
  const std::uint64_t distance = *largest - *smallest;
  if (distance < most_entries_per_id * ids.size()) {
    return build_offset_table(ids, static_cast<std::size_t>(distance) + 1);
  }
  return build_hash_table(ids);
}

std::vector<IdIndex::Duplicate> IdIndex::build_offset_table(std::span<const NodeId> ids, std::size_t span) {
  form_ = Form::offset_table;
  table_.assign(span, free_entry);
  std::vector<Duplicate> duplicates;
  for (std::size_t row = 0; row < ids.size(); ++row) {
    NodeIndex& entry = table_[static_cast<std::size_t>(ids[row] - smallest_)];
    if (entry == free_entry) {
      entry = static_cast<NodeIndex>(row);
    } else {
      duplicates.push_back({entry, static_cast<NodeIndex>(row)});
    }
  }
  return duplicates;
}

std::vector<IdIndex::Duplicate> IdIndex::build_hash_table(std::span<const NodeId> ids) {
  form_ = Form::hash_table;
  table_.assign(std::bit_ceil(ids.size() * 2), free_entry);
  std::vector<Duplicate> duplicates;
  for (NodeIndex row = 0; row < ids.size(); ++row) {
    if (const NodeIndex first = insert(ids[row], row); first != row) {
      duplicates.push_back({first, row});
    }
  }
  return duplicates;
}

/// The row that has the id already, or else `row`, which has it from now on.
NodeIndex IdIndex::insert(NodeId id, NodeIndex row) {
  const std::size_t mask = table_.size() - 1;
  std::size_t slot = mix(id) & mask;
  for (std::size_t probe = 0; probe < most_probes; ++probe, slot = (slot + 1) & mask) {
    NodeIndex& entry = table_[slot];
    if (entry == free_entry) {
      entry = row;
    }
    if (entry == row || ids_[entry] == id) {
      return entry;
    }
  }
  return crowded_out_.try_emplace(id, row).first->second;
}

std::optional<NodeIndex> IdIndex::find(NodeId id) const noexcept {
  const std::uint64_t offset = id - smallest_;
  switch (form_) {
    case Form::consecutive:
      return offset < count_ ? std::optional(static_cast<NodeIndex>(offset)) : std::nullopt;
    case Form::offset_table:
      if (offset < table_.size() && table_[offset] != free_entry) {
        return table_[offset];
      }
      return std::nullopt;
    case Form::hash_table:
      break;
  }
  const std::size_t mask = table_.size() - 1;
  std::size_t slot = mix(id) & mask;
  for (std::size_t probe = 0; probe < most_probes; ++probe, slot = (slot + 1) & mask) {
    const NodeIndex entry = table_[slot];
    if (entry == free_entry) {
      return std::nullopt;
    }
    if (ids_[entry] == id) {
      return entry;
    }
  }
  const auto found = crowded_out_.find(id);
  return found != crowded_out_.end() ? std::optional(found->second) : std::nullopt;
}

std::size_t IdIndex::find_all(std::span<const NodeId> ids, NodeIndex* rows) const noexcept {
  std::size_t found = 0;
  if (form_ == Form::consecutive) {
    for (; found < ids.size() && ids[found] - smallest_ < count_; ++found) {
      rows[found] = static_cast<NodeIndex>(ids[found] - smallest_);
    }
    return found;
  }
  for (; found < ids.size(); ++found) {
    const auto row = find(ids[found]);
    if (!row) {
      break;
    }
    rows[found] = *row;
  }
  return found;
}

std::size_t IdIndex::memory_bytes() const noexcept {
  constexpr std::size_t map_node = sizeof(std::pair<NodeId, NodeIndex>) + 4 * sizeof(void*);
  return table_.capacity() * sizeof(NodeIndex) + crowded_out_.size() * map_node;
}

}  // namespace chakra
