// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "chakra_core/network.hpp"

namespace chakra {

/// NPUs that are a grid within the network: every combination of some coordinates of each dimension.
class SubGrid {
 public:
  /// The grid of exactly these NPUs; nullopt if they are none. O(npus x dimensions), but for sorting.
  /// Precondition: they are distinct NPUs of the network, at least one.
  static std::optional<SubGrid> find(const Network& network, std::span<const std::uint32_t> npus);

  /// Coordinates along a dimension, ascending.
  std::span<const std::uint32_t> coordinates(std::size_t dimension) const noexcept { return axes_[dimension]; }
  /// Place of a coordinate among them. Precondition: it is one of them.
  std::uint32_t position(std::size_t dimension, std::uint32_t coordinate) const noexcept;
  /// Distance between neighbouring coordinates where it is the same everywhere, else 0.
  std::uint32_t step(std::size_t dimension) const noexcept { return steps_[dimension]; }

 private:
  SubGrid() = default;

  std::vector<std::vector<std::uint32_t>> axes_;
  std::vector<std::uint32_t> steps_;
};

}  // namespace chakra
