// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "collective/exchange.hpp"
#include "collective/phase.hpp"
#include "collective/tree.hpp"
#include "sim/slot_pool.hpp"

namespace chakra::sim {

/// One rank's side of one chunk of a collective, on its way through its phases.
struct Chunk {
  std::vector<Phase> phases = {};
  std::uint64_t tag = 0;
  std::uint32_t rank = 0;
  std::uint32_t collective = 0;  ///< the run it is part of
  std::uint32_t current = 0;     ///< phase in hand
  std::uint32_t next = none;     ///< behind it in the queue
  bool in_use = false;
  bool running = false;  ///< the phase has begun

  // The phase in hand.
  std::uint64_t phase_tag = 0;
  std::uint64_t family = 0;      ///< chunks of one family went through the phase in step; 0: not known
  std::uint64_t cause = 0;       ///< begun by one of events that come in a known order; 0: not known
  std::uint32_t meeting = none;  ///< of the members that begin the phase, where no messages are sent
  Exchange exchange = {};
  std::uint64_t opened = 0;  ///< slots
  std::uint64_t tokens = 0;
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  TreePlace place = {};
  std::uint32_t awaited = 0;                ///< children in the tree
  std::vector<std::uint32_t> missing = {};  ///< custom: parents of each step that are not complete
  std::size_t open = 0;                     ///< custom: steps that are not complete

  const Phase& phase() const noexcept { return phases[current]; }
};

/// Chunks by number. References stay valid; a released chunk is used again with its storage.
class ChunkPool {
 public:
  std::uint32_t take();
  void release(std::uint32_t index);
  Chunk& operator[](std::uint32_t index) noexcept { return *chunks_[index]; }
  const Chunk& operator[](std::uint32_t index) const noexcept { return *chunks_[index]; }
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(chunks_.size()); }

 private:
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::vector<std::uint32_t> free_;
};

/// Told when a chunk's phase is over on its rank.
class PhaseListener {
 public:
  virtual void phase_ended(std::uint32_t chunk) = 0;

 protected:
  ~PhaseListener() = default;
};

/// How the phases of chunks are carried out: message by message, or by a formula.
class PhaseExecutor {
 public:
  virtual ~PhaseExecutor() = default;
  /// The chunk's rank begins the chunk's current phase now.
  virtual void begin(std::uint32_t chunk) = 0;
};

}  // namespace chakra::sim
