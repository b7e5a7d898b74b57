// SPDX-License-Identifier: MIT
#include "network/graph_routes.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <string>
#include <tuple>

#include "chakra_core/errors.hpp"
#include "network/link_units.hpp"

namespace chakra {

namespace {

/// Searches towards one end may settle as many nodes as there are, times this, before all of them are kept.
constexpr std::uint64_t patience = 4;

constexpr std::size_t most_ways = std::size_t{1} << 18;
constexpr std::size_t most_tree_entries = std::size_t{1} << 24;

std::uint64_t way_key(std::uint32_t node, std::uint32_t dst) { return std::uint64_t{node} << 32 | dst; }

}  // namespace

GraphRoutes::GraphRoutes(const LinkGraph& graph) : npus_(graph.npus) {
  if (graph.npus == 0) throw ConfigError("the graph has no NPU");
  const std::uint64_t nodes = std::uint64_t{graph.npus} + graph.switches;
  const std::uint64_t most = std::numeric_limits<std::uint32_t>::max() - 1;
  if (nodes > most || 2 * std::uint64_t{graph.links.size()} > most) {
    throw ConfigError("the graph has " + std::to_string(nodes) + " nodes and " + std::to_string(graph.links.size()) +
                      " links; at most " + std::to_string(most) + " nodes and half as many links are possible");
  }
  nodes_ = static_cast<std::uint32_t>(nodes);
  for (std::size_t i = 0; i < graph.links.size(); ++i) add(graph.links[i], i);
  index_links();
  check_reach();
  reached_.resize(nodes_);
  spent_.resize(nodes_);
}

void GraphRoutes::add(const GraphLink& link, std::size_t index) {
  const std::string where = " of link " + std::to_string(index);
  for (const std::uint32_t node : {link.src, link.dst}) {
    if (node < nodes_) continue;
    throw ConfigError("node " + std::to_string(node) + where + " is unknown; the graph has " + std::to_string(npus_) +
                      " NPUs and " + std::to_string(nodes_ - npus_) + " switches, numbered from 0");
  }
  if (link.src == link.dst) throw ConfigError("both ends" + where + " are node " + std::to_string(link.src));
  check_link(link.bandwidth_gbps, link.latency_ns, where);
  const double speed = bytes_per_ns(link.bandwidth_gbps);
  longest_latency_ = std::max(longest_latency_, link.latency_ns);
  slowest_ = std::min(slowest_, speed);
  links_.push_back({link.src, link.dst, speed, link.latency_ns});
  if (!link.one_way) links_.push_back({link.dst, link.src, speed, link.latency_ns});
}

void GraphRoutes::index_links() {
  in_.resize(links_.size());
  first_in_.assign(std::size_t{nodes_} + 1, 0);
  for (std::uint32_t i = 0; i < links_.size(); ++i) in_[i] = i;
  std::sort(in_.begin(), in_.end(), [this](std::uint32_t a, std::uint32_t b) {
    return std::tie(links_[a].to, links_[a].from) < std::tie(links_[b].to, links_[b].from);
  });
  for (std::size_t i = 0; i < in_.size(); ++i) {
    const Link& link = links_[in_[i]];
    ++first_in_[std::size_t{link.to} + 1];
    if (i == 0 || links_[in_[i - 1]].to != link.to || links_[in_[i - 1]].from != link.from) continue;
    throw ConfigError("the link from node " + std::to_string(link.from) + " to node " + std::to_string(link.to) +
                      " is there twice; one that is not one-way counts in both directions");
  }
  for (std::size_t node = 0; node < nodes_; ++node) first_in_[node + 1] += first_in_[node];
}

/// All NPUs reach each other if NPU 0 reaches them all, and they reach it.
void GraphRoutes::check_reach() const {
  for (const bool backwards : {false, true}) {
    const std::vector<bool> reached = reached_from(0, backwards);
    for (std::uint32_t npu = 0; npu < npus_; ++npu) {
      if (reached[npu]) continue;
      const std::uint32_t from = backwards ? npu : 0;
      const std::uint32_t to = backwards ? 0 : npu;
      throw ConfigError("no way leads from NPU " + std::to_string(from) + " to NPU " + std::to_string(to) +
                        "; every NPU must be able to reach every other one");
    }
  }
}

std::vector<bool> GraphRoutes::reached_from(std::uint32_t start, bool backwards) const {
  std::vector<std::vector<std::uint32_t>> neighbours(nodes_);
  for (const Link& link : links_)
    neighbours[backwards ? link.to : link.from].push_back(backwards ? link.from : link.to);
  std::vector<bool> reached(nodes_);
  std::vector<std::uint32_t> open{start};
  reached[start] = true;
  while (!open.empty()) {
    const std::uint32_t node = open.back();
    open.pop_back();
    for (const std::uint32_t neighbour : neighbours[node]) {
      if (reached[neighbour]) continue;
      reached[neighbour] = true;
      open.push_back(neighbour);
    }
  }
  return reached;
}

std::uint32_t GraphRoutes::next(std::uint32_t node, std::uint32_t dst) const {
  const std::lock_guard lock(mutex_);
  if (const auto tree = trees_.find(dst); tree != trees_.end()) return tree->second[node];
  if (const auto way = ways_.find(way_key(node, dst)); way != ways_.end()) return way->second;
  if (spent_[dst] >= patience * nodes_) return tree_towards(dst)[node];
  spent_[dst] += search(dst, node);
  keep_way(node, dst);
  return reached_[node].link;
}

/// From the end outwards, nodes in the order of latency and links to it, until one is settled. Returns how many were.
/// Of two next links that are as good, the one to the smaller node stays: whatever can improve or equal a node's way
/// was settled before it.
std::uint32_t GraphRoutes::search(std::uint32_t dst, std::uint32_t until) const {
  using Open = std::tuple<double, std::uint32_t, std::uint32_t>;  // latency, links, node
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open;
  const std::uint64_t search = ++searches_;
  reached_[dst] = {search, 0, 0, nobody, false};
  open.emplace(0, 0, dst);
  std::uint32_t settled = 0;
  while (!open.empty()) {
    const auto [latency, hops, node] = open.top();
    open.pop();
    if (reached_[node].settled) continue;
    reached_[node].settled = true;
    ++settled;
    if (node == until) break;
    for (std::uint32_t i = first_in_[node]; i < first_in_[std::size_t{node} + 1]; ++i) {
      const Link& link = links_[in_[i]];
      Reached& behind = reached_[link.from];
      if (behind.search != search) {
        behind = {search, std::numeric_limits<double>::infinity(), 0, nobody, false};
      }
      const double total = latency + link.latency_ns;
      const bool better = std::tuple(total, hops + 1) < std::tuple(behind.latency, behind.hops);
      const bool equal = total == behind.latency && hops + 1 == behind.hops;
      if (better) open.emplace(total, hops + 1, link.from);
      if (better || (equal && node < links_[behind.link].to)) {
        behind.latency = total;
        behind.hops = hops + 1;
        behind.link = in_[i];
      }
    }
  }
  return settled;
}

/// The rest of a shortest way is the shortest way of every node on it.
void GraphRoutes::keep_way(std::uint32_t node, std::uint32_t dst) const {
  if (ways_.size() >= most_ways) ways_.clear();
  for (; node != dst; node = links_[reached_[node].link].to) ways_[way_key(node, dst)] = reached_[node].link;
}

const std::vector<std::uint32_t>& GraphRoutes::tree_towards(std::uint32_t dst) const {
  search(dst, nobody);
  while (!oldest_trees_.empty() && (oldest_trees_.size() + 1) * nodes_ > most_tree_entries) {
    trees_.erase(oldest_trees_.front());
    oldest_trees_.pop_front();
  }
  std::vector<std::uint32_t>& tree = trees_[dst];
  tree.resize(nodes_);
  for (std::uint32_t node = 0; node < nodes_; ++node) {
    tree[node] = reached_[node].search == searches_ ? reached_[node].link : nobody;
  }
  oldest_trees_.push_back(dst);
  return tree;
}

}  // namespace chakra
