// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "chakra_core/link_graph.hpp"

namespace chakra {

/// Shortest ways in a graph of links, found when they are asked for. Safe to use from several threads.
///
/// A way is searched backwards from its end, as far as its beginning. Where many ways to one end are asked for, the
/// next links of all nodes towards it are found at once and kept. What is kept is bounded: O(nodes + links) for all,
/// and some 80 MB at most for ways.
class GraphRoutes {
 public:
  struct Link {
    std::uint32_t from;
    std::uint32_t to;
    double bytes_per_ns;
    double latency_ns;
  };

  /// Throws ConfigError as Network::of_links does.
  explicit GraphRoutes(const LinkGraph& graph);

  std::uint32_t nodes() const noexcept { return nodes_; }
  std::uint32_t npus() const noexcept { return npus_; }
  /// Directed: one that goes both ways is two.
  std::span<const Link> links() const noexcept { return links_; }
  double longest_latency_ns() const noexcept { return longest_latency_; }
  double slowest_bytes_per_ns() const noexcept { return slowest_; }
  /// Index of the first link of the way. Precondition: two different nodes, and dst is an NPU.
  std::uint32_t next(std::uint32_t node, std::uint32_t dst) const;

 private:
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};

  /// Of a node, in the search that reached it last.
  struct Reached {
    std::uint64_t search = 0;
    double latency = 0;
    std::uint32_t hops = 0;
    std::uint32_t link = nobody;  ///< towards the end
    bool settled = false;
  };

  void add(const GraphLink& link, std::size_t index);
  void index_links();
  void check_reach() const;
  std::vector<bool> reached_from(std::uint32_t start, bool backwards) const;
  std::uint32_t search(std::uint32_t dst, std::uint32_t until) const;
  void keep_way(std::uint32_t node, std::uint32_t dst) const;
  const std::vector<std::uint32_t>& tree_towards(std::uint32_t dst) const;

  std::uint32_t nodes_ = 0;
  std::uint32_t npus_ = 0;
  double longest_latency_ = 0;
  double slowest_ = std::numeric_limits<double>::infinity();
  std::vector<Link> links_;
  std::vector<std::uint32_t> first_in_;  ///< by node: its place in in_
  std::vector<std::uint32_t> in_;        ///< indices of the links that lead to a node, node after node

  mutable std::mutex mutex_;
  mutable std::vector<Reached> reached_;
  mutable std::uint64_t searches_ = 0;
  mutable std::vector<std::uint64_t> spent_;                                     ///< by end: nodes settled by searches
  mutable std::unordered_map<std::uint64_t, std::uint32_t> ways_;                ///< (node, end): next link
  mutable std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> trees_;  ///< end: next link of every node
  mutable std::deque<std::uint32_t> oldest_trees_;
};

}  // namespace chakra
