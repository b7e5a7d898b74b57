// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chakra_core/link_damage.hpp"
#include "chakra_core/link_graph.hpp"

namespace chakra {

class Router;

/// How the NPUs of one dimension are wired.
enum class Topology : std::uint8_t {
  ring,
  fully_connected,
  switch_,
  mesh,   ///< a ring without the link between the last and the first
  graph,  ///< a LinkGraph
};

/// ASTRA-sim's name: "Ring", "FullyConnected", "Switch"; and "Mesh", "Graph".
std::string_view to_string(Topology topology) noexcept;
std::optional<Topology> parse_topology(std::string_view name);

/// One dimension of the network. `bandwidth_gbps` is what a bare number means in an ASTRA-sim file:
/// 2^30 bytes a second for each 1.
struct Dimension {
  Topology topology = Topology::ring;
  std::uint32_t npus = 1;
  double bandwidth_gbps = 0;
  double latency_ns = 0;
  /// Of a switch: what all its NPUs can send together, over what it can pass on. Not below 1.
  double oversubscription = 1;

  bool operator==(const Dimension&) const = default;
};

/// What a message over several dimensions costs.
enum class DelayRule : std::uint8_t {
  cut_through,      ///< latencies of all hops, and the bytes once over the slowest dimension on the way
  first_dimension,  ///< ASTRA-sim: only the first dimension in which the two NPUs differ
};

/// A network of one or more dimensions, or of any links. NPU ids count with dimension 0 fastest. Immutable.
class Network {
 public:
  /// Throws ConfigError for no dimension or more than 64, a graph among them, 0 NPUs, a bandwidth that is not positive
  /// and finite, a latency that is negative or not finite, an oversubscription that is not finite, below 1, or not of a
  /// switch, more than 2^32 - 2 NPUs, and for damage of no link or by a factor that is not possible.
  explicit Network(std::vector<Dimension> dimensions, const std::vector<LinkDamage>& damage = {});

  /// One dimension, which is the graph. Throws ConfigError for no NPU, too many nodes, a link to an unknown node or to
  /// its own source, one that is there twice, bad bandwidths and latencies, an NPU that cannot be reached from
  /// another one, and damage as above.
  static Network of_links(const LinkGraph& graph, const std::vector<LinkDamage>& damage = {});

  /// As they are with the damage of whole dimensions.
  std::span<const Dimension> dimensions() const noexcept { return dimensions_; }
  std::uint32_t npus() const noexcept { return npus_; }
  /// Distance in NPU ids between neighbours of a dimension.
  std::uint32_t stride(std::size_t dimension) const noexcept { return strides_[dimension]; }
  std::uint32_t coordinate(std::uint32_t npu, std::size_t dimension) const noexcept {
    return npu / strides_[dimension] % dimensions_[dimension].npus;
  }
  std::vector<std::uint32_t> coordinates(std::uint32_t npu) const;
  bool is_graph() const noexcept { return dimensions_.front().topology == Topology::graph; }
  bool is_damaged() const noexcept { return is_damaged_; }
  /// All links of a dimension are alike: it is no graph, and no damage is of single links.
  bool is_regular() const noexcept { return single_links_ == nullptr; }

  /// Links between two coordinates of one dimension. Precondition: it is no graph.
  std::uint32_t hops(std::size_t dimension, std::uint32_t from, std::uint32_t to) const noexcept;

  /// Nanoseconds from sending to arrival when nobody else sends; 2^64 - 1 if it is more. 0 for src == dst.
  /// O(dimensions); O(links on the way) if the network is not regular, and finding the way in a graph is a search for
  /// shortest paths. Precondition: src and dst are less than npus().
  std::uint64_t delay(std::uint32_t src, std::uint32_t dst, std::uint64_t bytes,
                      DelayRule rule = DelayRule::cut_through) const;
  /// No message of so many bytes takes longer.
  double longest_delay(std::uint64_t bytes) const noexcept;

  /// The ways over single links. Throws ConfigError if there are too many switches for 32-bit numbers.
  std::shared_ptr<const Router> router() const;

 private:
  Network(const LinkGraph& graph, const std::vector<LinkDamage>& damage);

  std::vector<Dimension> dimensions_;
  std::vector<std::uint32_t> strides_;
  std::vector<double> bytes_per_ns_;  ///< of a message by itself
  std::uint32_t npus_ = 1;
  bool is_damaged_ = false;
  std::shared_ptr<const Router> single_links_;  ///< if they are not all alike
};

}  // namespace chakra
