// SPDX-License-Identifier: MIT
#include "feeder/held_blocks.hpp"

#include <iterator>
#include <utility>

#include "io/block_reader.hpp"
#include "trace/gather_rows.hpp"

namespace chakra::detail {

namespace {

constexpr std::size_t block_rows = io::BlockReader::block_rows;
/// A block is sparse when at most one in so many of its rows is held.
constexpr std::size_t sparse = 4;
/// Rows that may lie about before it is worth while to look for sparse blocks.
constexpr std::size_t rows_to_spare = 8 * block_rows;

}  // namespace

HeldBlocks::Block& HeldBlocks::append(Block block) {
  rows_ += block.trace->size();
  blocks_.push_back(std::move(block));
  blocks_.back().self = std::prev(blocks_.end());
  return blocks_.back();
}

void HeldBlocks::drop(Block& block) {
  rows_ -= block.trace->size();
  if (block.rows.empty()) {
    first_rows_[block.first_row / block_rows] = nullptr;
  }
  blocks_.erase(block.self);
}

void HeldBlocks::add(TracePtr block) {
  const std::size_t size = block->size();
  Block* const before = last_;
  last_ = &append({.trace = std::move(block),
                   .rows = {},
                   .slots = std::vector<std::uint32_t>(size, none),
                   .first_row = static_cast<NodeIndex>(first_rows_.size() * block_rows)});
  first_rows_.push_back(last_);
  if (before != nullptr && before->held == 0) {
    drop(*before);
  }
}

void HeldBlocks::hold(NodeIndex row, std::uint32_t slot) {
  last_->slots[row - last_->first_row] = slot;
  ++last_->held;
  ++held_;
}

void HeldBlocks::release(NodeIndex row) {
  const Place at = place(row);
  at.block->slots[at.row] = none;
  --at.block->held;
  --held_;
  if (!at.block->rows.empty()) {
    gathered_.erase(row);
  }
  if (at.block->held == 0 && !is_last(*at.block)) {
    drop(*at.block);
  }
  if (rows_ > sparse * held_ + rows_to_spare) {
    gather_sparse_blocks();
  }
}

void HeldBlocks::gather_sparse_blocks() {
  std::vector<Block*> found;
  std::size_t held = 0;
  for (auto block = blocks_.begin(); block != blocks_.end();) {
    Block& one = *block++;  // gathering takes it out of the list
    if (is_last(one) || one.held * sparse > one.trace->size()) {
      continue;
    }
    if (held + one.held > block_rows) {
      gather(found);
      found.clear();
      held = 0;
    }
    found.push_back(&one);
    held += one.held;
  }
  gather(found);
}

void HeldBlocks::gather(const std::vector<Block*>& blocks) {
  if (blocks.empty()) {
    return;
  }
  Block gathered;
  std::vector<RowOfTrace> rows;
  for (const Block* block : blocks) {
    for (NodeIndex row = 0; row < block->slots.size(); ++row) {
      if (block->slots[row] != none) {
        rows.push_back({block->trace.get(), row});
        gathered.rows.push_back(block->rows.empty() ? block->first_row + row : block->rows[row]);
        gathered.slots.push_back(block->slots[row]);
      }
    }
  }
  gathered.held = rows.size();
  gathered.trace = gather_rows(rows);
  Block& placed = append(std::move(gathered));
  for (NodeIndex row = 0; row < placed.rows.size(); ++row) {
    gathered_[placed.rows[row]] = {&placed, row};
  }
  for (Block* block : blocks) {
    drop(*block);
  }
}

HeldBlocks::Place HeldBlocks::place(NodeIndex row) const noexcept {
  const std::size_t number = row / block_rows;
  if (number >= first_rows_.size()) {
    return {};
  }
  if (Block* block = first_rows_[number]) {
    return {block, row - block->first_row};
  }
  const auto found = gathered_.find(row);
  return found == gathered_.end() ? Place{} : found->second;
}

std::uint32_t HeldBlocks::slot(NodeIndex row) const noexcept {
  const Place at = place(row);
  return at.block != nullptr && at.row < at.block->slots.size() ? at.block->slots[at.row] : none;
}

FeederNode HeldBlocks::node(NodeIndex row) const {
  const Place at = place(row);
  return {at.block->trace, at.row};
}

std::size_t HeldBlocks::memory_bytes() const noexcept {
  constexpr std::size_t map_entry = sizeof(NodeIndex) + sizeof(Place) + 3 * sizeof(void*);
  std::size_t bytes = first_rows_.capacity() * sizeof(Block*) + gathered_.size() * map_entry;
  for (const Block& block : blocks_) {
    bytes += sizeof(Block) + block.trace->memory_bytes() + block.rows.capacity() * sizeof(NodeIndex) +
             block.slots.capacity() * sizeof(std::uint32_t);
  }
  return bytes;
}

void HeldBlocks::clear() {
  blocks_.clear();
  first_rows_.clear();
  gathered_.clear();
  last_ = nullptr;
  rows_ = 0;
  held_ = 0;
}

}  // namespace chakra::detail
