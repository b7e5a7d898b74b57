// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "chakra_core/network.hpp"
#include "network/graph_routes.hpp"

namespace chakra {

/// A directed link, what it is like, and where it leads. `node` is an NPU, or a switch numbered from npus() on.
struct Hop {
  std::uint64_t link;
  std::uint32_t node;
  std::uint32_t dimension;
  double latency_ns;
  double bytes_per_ns;
  double alone_bytes_per_ns;  ///< what a message gets that does not know of any other
};

/// Numbers the directed links of a network and finds the way over them, one hop at a time. In a graph it is the
/// shortest way (LinkGraph). Otherwise dimension by dimension from 0: on a ring the shorter way and a tie clockwise,
/// through a switch by way of its own node. An oversubscribed switch has two, with its inner link between them.
class Router {
 public:
  /// Throws ConfigError if the switches do not fit 32-bit node numbers.
  explicit Router(std::span<const Dimension> dimensions);
  explicit Router(const LinkGraph& graph);

  /// Throws ConfigError if it fits no link.
  void damage(const LinkDamage& damage);

  std::uint64_t links() const noexcept { return links_; }
  bool is_damaged(std::uint64_t link) const { return damaged_.contains(link); }
  /// The first hop from `node` (an NPU or a switch) to the NPU `dst`. Precondition: node != dst.
  Hop next(std::uint32_t node, std::uint32_t dst) const;
  /// Factors on all links that are damaged by themselves: the worst latency, the least bandwidth; 1 if it is more.
  double worst_latency_factor() const noexcept { return worst_latency_; }
  double worst_bandwidth_factor() const noexcept { return worst_bandwidth_; }
  const GraphRoutes* graph() const noexcept { return graph_.get(); }

 private:
  struct Factors {
    double latency = 1;
    double bandwidth = 1;
  };
  struct LinkEnd {
    std::uint64_t link;
    std::optional<std::uint32_t> npu;
  };
  /// A dimension, and what its links and switches are numbered from.
  struct Axis {
    Dimension dimension;
    std::uint32_t stride;
    std::uint64_t first_link;
    std::uint32_t first_switch;
    std::uint32_t lines;

    bool is_oversubscribed() const noexcept { return dimension.oversubscription > 1; }
    std::uint32_t coordinate(std::uint32_t npu) const noexcept { return npu / stride % dimension.npus; }
    std::uint32_t at(std::uint32_t npu, std::uint32_t coordinate) const noexcept {
      return npu + (coordinate - this->coordinate(npu)) * stride;
    }
    std::uint64_t links_of(std::uint32_t npu) const noexcept;
    std::uint32_t line(std::uint32_t npu) const noexcept;
  };

  Hop from_npu(std::uint32_t npu, std::uint32_t dst) const noexcept;
  Hop from_switch(std::uint32_t node, std::uint32_t dst) const noexcept;
  Hop hop(std::size_t dimension, std::uint64_t link, std::uint32_t node) const noexcept;
  /// Links of an NPU in one dimension, and the NPU at their other end (none: a switch).
  std::vector<LinkEnd> links_from(const Axis& axis, std::uint32_t npu) const;
  std::vector<LinkEnd> links_to(const Axis& axis, std::uint32_t npu) const;
  std::vector<std::uint64_t> fitting(const LinkDamage& damage) const;
  std::vector<std::uint64_t> fitting_of_graph(const LinkDamage& damage) const;

  std::vector<Axis> axes_;
  std::uint32_t npus_ = 1;
  std::uint64_t links_ = 0;
  std::unique_ptr<const GraphRoutes> graph_;
  std::unordered_map<std::uint64_t, Factors> damaged_;
  double worst_latency_ = 1;
  double worst_bandwidth_ = 1;
};

}  // namespace chakra
