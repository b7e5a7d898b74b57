// SPDX-License-Identifier: MIT
#include "feeder/id_map.hpp"

#include <random>
#include <utility>

namespace chakra::detail {

namespace {
constexpr std::size_t smallest_table = 64;
}

IdMap::IdMap()
    : seed_((std::uint64_t{std::random_device{}()} << 32) | std::random_device{}()),
      entries_(smallest_table),
      mask_(smallest_table - 1) {}

void IdMap::insert(NodeId id, std::uint32_t number) {
  if (2 * (size_ + 1) > entries_.size()) {
    grow();
  }
  std::size_t at = home(id);
  while (entries_[at].number != none) {
    at = (at + 1) & mask_;
  }
  entries_[at] = {id, number};
  ++size_;
}

void IdMap::grow() {
  std::vector<Entry> old = std::exchange(entries_, std::vector<Entry>(entries_.size() * 2));
  mask_ = entries_.size() - 1;
  for (const Entry& entry : old) {
    if (entry.number != none) {
      std::size_t at = home(entry.id);
      while (entries_[at].number != none) {
        at = (at + 1) & mask_;
      }
      entries_[at] = entry;
    }
  }
}

void IdMap::replace(NodeId id, std::uint32_t number) noexcept {
  for (std::size_t at = home(id); entries_[at].number != none; at = (at + 1) & mask_) {
    if (entries_[at].id == id) {
      entries_[at].number = number;
      return;
    }
  }
}

void IdMap::erase(NodeId id) noexcept {
  std::size_t hole = home(id);
  while (entries_[hole].number != none && entries_[hole].id != id) {
    hole = (hole + 1) & mask_;
  }
  if (entries_[hole].number == none) {
    return;
  }
  --size_;
  // Entries behind the hole move up unless that would put them before their home, so that no search ends too soon.
  for (std::size_t at = (hole + 1) & mask_; entries_[at].number != none; at = (at + 1) & mask_) {
    if (((at - home(entries_[at].id)) & mask_) >= ((at - hole) & mask_)) {
      entries_[hole] = entries_[at];
      hole = at;
    }
  }
  entries_[hole].number = none;
}

void IdMap::clear() {
  entries_.assign(smallest_table, {});
  entries_.shrink_to_fit();
  mask_ = smallest_table - 1;
  size_ = 0;
}

std::vector<NodeId> IdMap::ids() const {
  std::vector<NodeId> found;
  found.reserve(size_);
  for (const Entry& entry : entries_) {
    if (entry.number != none) {
      found.push_back(entry.id);
    }
  }
  return found;
}

}  // namespace chakra::detail
