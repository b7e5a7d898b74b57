// SPDX-License-Identifier: MIT
#include "network/sub_grid.hpp"

#include <algorithm>

namespace chakra {

namespace {

std::uint32_t common_step(const std::vector<std::uint32_t>& axis) {
  const std::uint32_t step = axis.size() < 2 ? 1 : axis[1] - axis[0];
  for (std::size_t i = 2; i < axis.size(); ++i) {
    if (axis[i] - axis[i - 1] != step) return 0;
  }
  return step;
}

}  // namespace

std::optional<SubGrid> SubGrid::find(const Network& network, std::span<const std::uint32_t> npus) {
  SubGrid grid;
  std::uint64_t combinations = 1;
  for (std::size_t d = 0; d < network.dimensions().size(); ++d) {
    std::vector<std::uint32_t> axis;
    axis.reserve(npus.size());
    for (const std::uint32_t npu : npus) axis.push_back(network.coordinate(npu, d));
    std::sort(axis.begin(), axis.end());
    axis.erase(std::unique(axis.begin(), axis.end()), axis.end());
    axis.shrink_to_fit();
    combinations *= axis.size();
    // Distinct NPUs have distinct combinations: the grid holds them all, and no other if it is not larger.
    if (combinations > npus.size()) return std::nullopt;
    grid.steps_.push_back(common_step(axis));
    grid.axes_.push_back(std::move(axis));
  }
  return grid;
}

std::uint32_t SubGrid::position(std::size_t dimension, std::uint32_t coordinate) const noexcept {
  const std::vector<std::uint32_t>& axis = axes_[dimension];
  return static_cast<std::uint32_t>(std::lower_bound(axis.begin(), axis.end(), coordinate) - axis.begin());
}

}  // namespace chakra
