// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

#include "chakra_core/feeder.hpp"

namespace chakra::detail {

/// Keeps the nodes of a stream that are not complete, in the blocks that they were read in. When few nodes are left of
/// many blocks, they are gathered in new blocks, so that memory goes with the nodes that are held.
class HeldBlocks {
 public:
  static constexpr std::uint32_t none = 0xFFFFFFFF;

  /// The block of the next rows of the file.
  void add(TracePtr block);
  /// The block added last; null before the first.
  const Trace* last() const noexcept { return last_ == nullptr ? nullptr : last_->trace.get(); }

  /// Keeps a row of the last block, under a number that slot() gives.
  void hold(NodeIndex row, std::uint32_t slot);
  /// Lets go of a row that is held.
  void release(NodeIndex row);
  /// `none` for a row that is not held.
  std::uint32_t slot(NodeIndex row) const noexcept;
  /// Of a row that is held.
  FeederNode node(NodeIndex row) const;

  std::size_t memory_bytes() const noexcept;
  void clear();

 private:
  struct Block;
  using Blocks = std::list<Block>;
  struct Block {
    TracePtr trace;
    std::vector<NodeIndex> rows;       ///< in the file; empty for a block as it was read
    std::vector<std::uint32_t> slots;  ///< `none` unless held
    NodeIndex first_row = 0;           ///< in the file, of a block as it was read
    std::size_t held = 0;
    Blocks::iterator self = {};
  };
  struct Place {
    Block* block = nullptr;
    NodeIndex row = 0;  ///< in the block
  };

  Place place(NodeIndex row) const noexcept;
  Block& append(Block block);
  bool is_last(const Block& block) const noexcept { return &block == last_; }
  void drop(Block& block);
  void gather_sparse_blocks();
  void gather(const std::vector<Block*>& blocks);

  Blocks blocks_;
  Block* last_ = nullptr;
  std::vector<Block*> first_rows_;                 ///< by row / block_rows: blocks as they were read; null if gone
  std::unordered_map<NodeIndex, Place> gathered_;  ///< rows in other blocks
  std::size_t rows_ = 0;                           ///< of all blocks
  std::size_t held_ = 0;
};

}  // namespace chakra::detail
