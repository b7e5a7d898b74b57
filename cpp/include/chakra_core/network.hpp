// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace chakra {

/// How the NPUs of one dimension are wired.
enum class Topology : std::uint8_t { ring, fully_connected, switch_ };

/// ASTRA-sim's name: "Ring", "FullyConnected", "Switch".
std::string_view to_string(Topology topology) noexcept;
std::optional<Topology> parse_topology(std::string_view name);

/// One dimension of the network. `bandwidth_gbps` is what a bare number means in an ASTRA-sim file:
/// 2^30 bytes a second for each 1.
struct Dimension {
  Topology topology = Topology::ring;
  std::uint32_t npus = 1;
  double bandwidth_gbps = 0;
  double latency_ns = 0;

  bool operator==(const Dimension&) const = default;
};

/// What a message over several dimensions costs.
enum class DelayRule : std::uint8_t {
  cut_through,      ///< latencies of all hops, and the bytes once over the slowest dimension on the way
  first_dimension,  ///< ASTRA-sim: only the first dimension in which the two NPUs differ
};

/// A network of one or more dimensions. NPU ids count with dimension 0 fastest. Immutable.
class Network {
 public:
  /// Throws ConfigError for no dimension or more than 64, 0 NPUs, a bandwidth that is not positive and finite, a
  /// latency that is negative or not finite, or more than 2^32 - 2 NPUs.
  explicit Network(std::vector<Dimension> dimensions);

  std::span<const Dimension> dimensions() const noexcept { return dimensions_; }
  std::uint32_t npus() const noexcept { return npus_; }
  /// Distance in NPU ids between neighbours of a dimension.
  std::uint32_t stride(std::size_t dimension) const noexcept { return strides_[dimension]; }
  std::uint32_t coordinate(std::uint32_t npu, std::size_t dimension) const noexcept {
    return npu / strides_[dimension] % dimensions_[dimension].npus;
  }
  std::vector<std::uint32_t> coordinates(std::uint32_t npu) const;
  double bytes_per_ns(std::size_t dimension) const noexcept { return bytes_per_ns_[dimension]; }

  /// Links between two coordinates of one dimension.
  std::uint32_t hops(std::size_t dimension, std::uint32_t from, std::uint32_t to) const noexcept;

  /// Nanoseconds from sending to arrival when nobody else sends. 0 for src == dst.
  /// Precondition: src and dst are less than npus().
  std::uint64_t delay(std::uint32_t src, std::uint32_t dst, std::uint64_t bytes,
                      DelayRule rule = DelayRule::cut_through) const noexcept;

 private:
  std::vector<Dimension> dimensions_;
  std::vector<std::uint32_t> strides_;
  std::vector<double> bytes_per_ns_;
  std::uint32_t npus_ = 1;
};

}  // namespace chakra
