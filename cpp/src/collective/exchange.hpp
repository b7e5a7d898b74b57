// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "collective/phase.hpp"

namespace chakra {

/// One step of an exchange: at the same moment a member sends `send_bytes` to `to` and posts the
/// receive of `receive_bytes` from `from`. Nothing goes over the wire for 0 bytes.
struct Step {
  std::uint32_t to;
  std::uint32_t from;
  std::uint64_t send_bytes;
  std::uint64_t receive_bytes;
};

/// The fixed list of steps of one member in a ring, direct or halving-doubling phase, and its
/// window: how many slots are open at the start and which slots carry a reduction.
class Exchange {
 public:
  Exchange() = default;
  /// Precondition: at least 2 members, not rooted, not a tree; halving-doubling has 2^k members.
  /// `endpoint_ns` is what each slot costs. `parity`: odd sizes are cut as ASTRA-sim cuts them.
  Exchange(const Phase& phase, std::uint64_t endpoint_ns, bool parity);

  std::uint64_t steps() const noexcept { return steps_; }
  std::uint64_t window() const noexcept { return window_; }
  /// Steps before which a direct all-reduce turns round; 0 for everything else.
  std::uint64_t barrier() const noexcept { return barrier_; }
  std::uint64_t endpoint_ns() const noexcept { return endpoint_ns_; }

  Step step(std::uint64_t k) const noexcept;
  /// Ring position of the member that step k receives from.
  std::uint32_t from_position(std::uint64_t k) const noexcept;
  bool is_reduced(std::uint64_t slot) const noexcept {
    if (cycle_ == 0 || slot % cycle_ < window_) return false;
    return kind_ != PhaseKind::all_reduce || slot / cycle_ % 2 == 0;
  }
  /// Bytes that a reduced slot reduces.
  std::uint64_t slot_bytes(std::uint64_t slot) const noexcept;

 private:
  struct Sizes {
    std::uint64_t send;
    std::uint64_t receive;
  };

  std::uint32_t shifted(std::uint64_t distance, bool forward) const noexcept;
  std::uint64_t block(std::uint64_t position) const noexcept;
  Sizes ring_sizes(std::uint64_t k) const noexcept;
  Sizes ring_all_to_all_sizes(std::uint64_t k) const noexcept;
  Sizes direct_sizes(std::uint64_t k, std::uint32_t to, std::uint32_t from) const noexcept;
  std::uint64_t halving_distance(std::uint64_t k) const noexcept;
  Sizes halving_sizes(std::uint64_t k, std::uint64_t distance, std::uint64_t partner) const noexcept;
  std::uint64_t halving_parity_bytes(std::uint64_t k) const noexcept;
  std::uint64_t interleaved_bytes(std::uint64_t offset, std::uint64_t period) const noexcept;

  Members members_ = {};
  std::uint64_t steps_ = 0;
  std::uint64_t window_ = 0;
  std::uint64_t cycle_ = 0;  ///< slots after which the pattern of reductions repeats; 0: never reduced
  std::uint64_t barrier_ = 0;
  std::uint64_t endpoint_ns_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t total_ = 0;
  std::uint64_t even_block_ = 0;  ///< size of every block when all are equal
  std::uint32_t position_ = 0;
  std::uint32_t log_ = 0;  ///< halving-doubling: log2 of the members
  PhaseKind kind_ = PhaseKind::all_reduce;
  AlgorithmKind algorithm_ = AlgorithmKind::ring;
  bool anticlockwise_ = false;
  bool even_ = true;
};

/// floor(log2(n)). Precondition: n > 0.
std::uint32_t floor_log2(std::uint32_t n) noexcept;

}  // namespace chakra
