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
      pages_(smallest_table),
      mask_(smallest_table - 1) {}

void IdMap::insert(NodeId id, std::uint32_t number) {
  std::size_t at = place_of(id / page_ids);
  if (pages_[at].line == none) {
    if (2 * (page_count_ + 1) > pages_.size()) {
      grow();
      at = place_of(id / page_ids);
    }
    pages_[at] = {id / page_ids, new_line(), 0};
    ++page_count_;
  }
  lines_[pages_[at].line][id % page_ids] = number;
  ++pages_[at].count;
  ++size_;
}

std::uint32_t IdMap::new_line() {
  if (free_lines_.empty()) {
    lines_.emplace_back().fill(none);
    return static_cast<std::uint32_t>(lines_.size() - 1);
  }
  const std::uint32_t line = free_lines_.back();
  free_lines_.pop_back();
  return line;
}

void IdMap::grow() {
  const std::vector<Page> old = std::exchange(pages_, std::vector<Page>(pages_.size() * 2));
  mask_ = pages_.size() - 1;
  for (const Page& page : old) {
    if (page.line != none) {
      pages_[place_of(page.number)] = page;
    }
  }
}

void IdMap::replace(NodeId id, std::uint32_t number) noexcept {
  lines_[pages_[place_of(id / page_ids)].line][id % page_ids] = number;
}

void IdMap::erase(NodeId id) noexcept {
  const std::size_t at = place_of(id / page_ids);
  lines_[pages_[at].line][id % page_ids] = none;
  --size_;
  if (--pages_[at].count == 0) {
    erase_page(at);
  }
}

void IdMap::erase_page(std::size_t hole) noexcept {
  free_lines_.push_back(pages_[hole].line);
  --page_count_;
  // Pages behind the hole move up unless that would put them before their home, so that no search ends too soon.
  for (std::size_t at = (hole + 1) & mask_; pages_[at].line != none; at = (at + 1) & mask_) {
    if (((at - home(pages_[at].number)) & mask_) >= ((at - hole) & mask_)) {
      pages_[hole] = pages_[at];
      hole = at;
    }
  }
  pages_[hole] = {};
}

void IdMap::clear() {
  pages_.assign(smallest_table, {});
  pages_.shrink_to_fit();
  mask_ = smallest_table - 1;
  page_count_ = 0;
  lines_ = {};
  free_lines_ = {};
  size_ = 0;
}

std::vector<NodeId> IdMap::ids() const {
  std::vector<NodeId> found;
  found.reserve(size_);
  for (const Page& page : pages_) {
    for (NodeId i = 0; page.line != none && i < page_ids; ++i) {
      if (lines_[page.line][i] != none) {
        found.push_back(page.number * page_ids + i);
      }
    }
  }
  return found;
}

std::size_t IdMap::memory_bytes() const noexcept {
  return pages_.capacity() * sizeof(Page) + lines_.capacity() * sizeof(Line) +
         free_lines_.capacity() * sizeof(std::uint32_t);
}

}  // namespace chakra::detail
