// SPDX-License-Identifier: MIT
#include "chakra_core/network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "chakra_core/errors.hpp"

namespace chakra {

namespace {

constexpr double bytes_per_gb = 1073741824.0;
constexpr std::size_t most_dimensions = 64;

void check(const Dimension& dimension, std::size_t index) {
  const std::string where = " of dimension " + std::to_string(index);
  if (dimension.npus == 0) {
    throw ConfigError("npus_count" + where + " is 0; a dimension needs at least 1 NPU");
  }
  if (!(dimension.bandwidth_gbps > 0) || !std::isfinite(dimension.bandwidth_gbps)) {
    throw ConfigError("bandwidth" + where + " is " + std::to_string(dimension.bandwidth_gbps) +
                      "; it must be positive and finite");
  }
  if (!(dimension.latency_ns >= 0) || !std::isfinite(dimension.latency_ns)) {
    throw ConfigError("latency" + where + " is " + std::to_string(dimension.latency_ns) +
                      "; it must be finite and not negative");
  }
}

}  // namespace

std::string_view to_string(Topology topology) noexcept {
  switch (topology) {
    case Topology::ring:
      return "Ring";
    case Topology::fully_connected:
      return "FullyConnected";
    case Topology::switch_:
      return "Switch";
  }
  return "Ring";
}

std::optional<Topology> parse_topology(std::string_view name) {
  for (const Topology topology : {Topology::ring, Topology::fully_connected, Topology::switch_}) {
    if (name == to_string(topology)) return topology;
  }
  return std::nullopt;
}

Network::Network(std::vector<Dimension> dimensions) : dimensions_(std::move(dimensions)) {
  if (dimensions_.empty()) throw ConfigError("the network has no dimension");
  if (dimensions_.size() > most_dimensions) {
    throw ConfigError("the network has " + std::to_string(dimensions_.size()) + " dimensions; at most " +
                      std::to_string(most_dimensions) + " are possible");
  }
  std::uint64_t npus = 1;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    check(dimensions_[d], d);
    strides_.push_back(static_cast<std::uint32_t>(npus));
    // Multiply first: the reference does, and the last bit of the quotient decides truncations.
    bytes_per_ns_.push_back(dimensions_[d].bandwidth_gbps * bytes_per_gb / 1e9);
    npus *= dimensions_[d].npus;
    if (npus >= std::numeric_limits<std::uint32_t>::max()) {
      throw ConfigError("npus_count: the dimensions multiply to more than 4294967294 NPUs");
    }
  }
  npus_ = static_cast<std::uint32_t>(npus);
}

std::vector<std::uint32_t> Network::coordinates(std::uint32_t npu) const {
  std::vector<std::uint32_t> result;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) result.push_back(coordinate(npu, d));
  return result;
}

std::uint32_t Network::hops(std::size_t dimension, std::uint32_t from, std::uint32_t to) const noexcept {
  if (from == to) return 0;
  switch (dimensions_[dimension].topology) {
    case Topology::fully_connected:
      return 1;
    case Topology::switch_:
      return 2;
    case Topology::ring:
      break;
  }
  const std::uint32_t n = dimensions_[dimension].npus;
  const std::uint32_t clockwise = to > from ? to - from : to + (n - from);
  return std::min(clockwise, n - clockwise);
}

std::uint64_t Network::delay(std::uint32_t src, std::uint32_t dst, std::uint64_t bytes, DelayRule rule) const noexcept {
  const auto size = static_cast<double>(bytes);
  double latency = 0;
  double slowest = 0;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    const std::uint32_t from = coordinate(src, d);
    const std::uint32_t to = coordinate(dst, d);
    if (from == to) continue;
    latency += hops(d, from, to) * dimensions_[d].latency_ns;
    slowest = slowest == 0 ? bytes_per_ns_[d] : std::min(slowest, bytes_per_ns_[d]);
    if (rule == DelayRule::first_dimension) break;
  }
  return slowest == 0 ? 0 : static_cast<std::uint64_t>(latency + size / slowest);
}

}  // namespace chakra
