// SPDX-License-Identifier: MIT
#include "network/route.hpp"

#include <limits>

#include "chakra_core/errors.hpp"

namespace chakra {

namespace {

std::uint64_t links_per_npu(const Dimension& dimension) {
  return dimension.topology == Topology::fully_connected ? dimension.npus : 2;
}

}  // namespace

Router::Router(const Network& network) : network_(network) {
  std::uint64_t node = network.npus();
  for (std::size_t d = 0; d < network.dimensions().size(); ++d) {
    const Dimension& dimension = network.dimensions()[d];
    first_link_.push_back(links_);
    links_ += network.npus() * links_per_npu(dimension);
    first_switch_.push_back(static_cast<std::uint32_t>(node));
    if (dimension.topology == Topology::switch_) node += network.npus() / dimension.npus;
    if (node > std::numeric_limits<std::uint32_t>::max()) {
      throw ConfigError("npus_count: too many NPUs and switches for a congestion-aware network");
    }
  }
}

std::uint32_t Router::line(std::uint32_t npu, std::size_t dimension) const noexcept {
  const std::uint32_t stride = network_.stride(dimension);
  return npu % stride + npu / (stride * network_.dimensions()[dimension].npus) * stride;
}

Hop Router::next(std::uint32_t node, std::uint32_t dst) const noexcept {
  return node < network_.npus() ? from_npu(node, dst) : from_switch(node, dst);
}

Hop Router::from_npu(std::uint32_t npu, std::uint32_t dst) const noexcept {
  std::size_t d = 0;
  while (network_.coordinate(npu, d) == network_.coordinate(dst, d)) ++d;
  const Dimension& dimension = network_.dimensions()[d];
  const std::uint32_t n = dimension.npus;
  const std::uint32_t from = network_.coordinate(npu, d);
  const std::uint32_t to = network_.coordinate(dst, d);
  const std::uint32_t origin = npu - from * network_.stride(d);
  const std::uint64_t first = first_link_[d] + npu * links_per_npu(dimension);
  const auto number = static_cast<std::uint32_t>(d);
  switch (dimension.topology) {
    case Topology::fully_connected:
      return {first + to, origin + to * network_.stride(d), number};
    case Topology::switch_:
      return {first, first_switch_[d] + line(npu, d), number};
    case Topology::ring:
      break;
  }
  const bool clockwise = (to > from ? to - from : n - (from - to)) <= n / 2;
  const std::uint32_t neighbour = clockwise ? (from + 1 == n ? 0 : from + 1) : (from == 0 ? n - 1 : from - 1);
  return {first + (clockwise ? 0 : 1), origin + neighbour * network_.stride(d), number};
}

Hop Router::from_switch(std::uint32_t node, std::uint32_t dst) const noexcept {
  std::size_t d = network_.dimensions().size() - 1;
  while (first_switch_[d] > node || network_.dimensions()[d].topology != Topology::switch_) --d;
  // A line is its NPU with coordinate 0; from there the coordinate of dst leads to the port.
  const std::uint32_t index = node - first_switch_[d];
  const std::uint32_t stride = network_.stride(d);
  const std::uint32_t origin = index % stride + index / stride * stride * network_.dimensions()[d].npus;
  const std::uint32_t npu = origin + network_.coordinate(dst, d) * stride;
  return {first_link_[d] + npu * std::uint64_t{2} + 1, npu, static_cast<std::uint32_t>(d)};
}

}  // namespace chakra
