// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "chakra_core/network.hpp"

namespace chakra {

/// A directed link and where it leads. `node` is an NPU, or a switch numbered from npus() on.
struct Hop {
  std::uint64_t link;
  std::uint32_t node;
  std::uint32_t dimension;
};

/// Numbers the directed links of a network and finds the way over them, one hop at a time:
/// dimension by dimension from 0, on a ring the shorter way and a tie clockwise, through a switch
/// by way of its own node.
class Router {
 public:
  /// Throws ConfigError if the switches do not fit 32-bit node numbers.
  explicit Router(const Network& network);

  std::uint64_t links() const noexcept { return links_; }
  /// The first hop from `node` (an NPU or a switch) to the NPU `dst`. Precondition: node != dst.
  Hop next(std::uint32_t node, std::uint32_t dst) const noexcept;

 private:
  Hop from_npu(std::uint32_t npu, std::uint32_t dst) const noexcept;
  Hop from_switch(std::uint32_t node, std::uint32_t dst) const noexcept;
  std::uint32_t line(std::uint32_t npu, std::size_t dimension) const noexcept;

  const Network& network_;
  std::vector<std::uint64_t> first_link_;    ///< of each dimension
  std::vector<std::uint32_t> first_switch_;  ///< node number of each dimension's first switch
  std::uint64_t links_ = 0;
};

}  // namespace chakra
