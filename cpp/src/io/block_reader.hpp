// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "chakra_core/trace.hpp"
#include "io/node_messages.hpp"

namespace chakra::io {

/// Decodes an ET block by block, a few blocks ahead, on threads of its own. Each block is a Trace that knows parents by
/// id only. What comes does not depend on the number of threads.
class BlockReader {
 public:
  /// Rows of a block; the last one has less.
  static constexpr std::size_t block_rows = 2048;

  /// `threads` 0: as many as the machine has cores, four at most. Throws FormatError for what the file begins with.
  BlockReader(std::shared_ptr<const detail::RecordSource> source, std::string name, unsigned threads);
  ~BlockReader();
  BlockReader(const BlockReader&) = delete;
  BlockReader& operator=(const BlockReader&) = delete;

  /// The next block; null at the end. Throws FormatError (strict) after all blocks before the fault.
  TracePtr next();

 private:
  struct Slot {
    TracePtr block;
    std::exception_ptr failure;
    bool is_filled = false;
  };
  struct Messages;

  void work();
  bool gather(Messages& messages);
  bool wait_for_room();
  void put(std::uint64_t number, TracePtr block, std::exception_ptr failure);
  TracePtr decode(const Messages& messages) const;

  NodeMessages messages_;
  std::mutex source_mutex_;            // messages_, next_number_, has_ended_, source_failure_
  std::uint64_t next_number_ = 0;      ///< of the block that is gathered next
  bool has_ended_ = false;             ///< no more blocks to gather
  std::exception_ptr source_failure_;  ///< ends the blocks

  std::mutex mutex_;  // what follows
  std::condition_variable changed_;
  std::vector<Slot> slots_;  ///< block n in slot n % size
  std::uint64_t taken_ = 0;  ///< blocks that next() gave
  bool is_stopping_ = false;

  std::vector<std::jthread> threads_;  // last, so that they are joined before anything they use goes
};

}  // namespace chakra::io
