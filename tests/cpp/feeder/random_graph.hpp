// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <set>
#include <vector>

#include "chakra_core/feeder.hpp"
#include "chakra_core/trace_builder.hpp"

namespace chakra::test {

/// A node of a random graph, with all that an issue order may go by.
struct GraphNode {
  NodeId id = 0;
  std::vector<NodeId> data = {};
  std::vector<NodeId> ctrl = {};
  std::uint64_t start_ns = 0;
  std::optional<std::int64_t> priority = {};
};

struct GraphShape {
  std::size_t nodes = 60;
  bool sparse_ids = false;
  std::size_t reach = 60;  ///< parents are at most so many nodes back
  enum class File : std::uint8_t { in_order, nearly, shuffled, reversed } file = File::shuffled;
};

inline std::vector<GraphNode> random_graph(std::mt19937_64& random, const GraphShape& shape) {
  std::vector<GraphNode> nodes(shape.nodes);
  std::set<NodeId> ids;
  while (ids.size() < shape.nodes) {
    ids.insert(shape.sparse_ids ? random() : ids.size() + 5);
  }
  auto id = ids.begin();
  for (std::size_t i = 0; i < nodes.size(); ++i, ++id) {
    nodes[i].id = *id;
    nodes[i].start_ns = random() % (shape.nodes / 4 + 1) * 1000;
    if (random() % 3 != 0) {
      nodes[i].priority = static_cast<std::int64_t>(random() % 5) - 2;
    }
    for (std::uint64_t parent = random() % 4; parent > 0 && i > 0; --parent) {
      const std::size_t back = 1 + random() % std::min(i, shape.reach);
      (random() % 2 == 0 ? nodes[i].data : nodes[i].ctrl).push_back(nodes[i - back].id);
    }
  }
  switch (shape.file) {
    case GraphShape::File::in_order:
      break;
    case GraphShape::File::nearly:
      for (std::size_t swaps = nodes.size() / 50 + 1; swaps > 0; --swaps) {
        std::swap(nodes[random() % nodes.size()], nodes[random() % nodes.size()]);
      }
      break;
    case GraphShape::File::shuffled:
      std::shuffle(nodes.begin(), nodes.end(), random);
      break;
    case GraphShape::File::reversed:
      std::reverse(nodes.begin(), nodes.end());
      break;
  }
  return nodes;
}

inline TracePtr make_trace(const std::vector<GraphNode>& nodes) {
  TraceBuilder builder;
  for (const GraphNode& node : nodes) {
    std::vector<Attribute> attributes;
    if (node.priority) {
      attributes.push_back(make_int64("comm_priority", *node.priority));
      attributes.push_back(make_int64("my_rank", *node.priority));  // no column of its own
    }
    builder.add_node({.id = node.id,
                      .data_deps = node.data,
                      .ctrl_deps = node.ctrl,
                      .start_ns = node.start_ns,
                      .attributes = attributes});
  }
  return builder.build();
}

/// The definition, in quadratic time: again and again the first of those whose parents all ran.
inline std::vector<NodeId> plain_order(const std::vector<GraphNode>& nodes, DependencyKind kind,
                                       const std::function<bool(const GraphNode&, const GraphNode&)>& before) {
  std::set<NodeId> ran;
  std::vector<NodeId> order;
  const auto has_run = [&](NodeId parent) { return ran.contains(parent); };
  while (order.size() < nodes.size()) {
    const GraphNode* next = nullptr;
    for (const GraphNode& node : nodes) {
      if (!has_run(node.id) &&
          (kind == DependencyKind::control || std::all_of(node.data.begin(), node.data.end(), has_run)) &&
          (kind == DependencyKind::data || std::all_of(node.ctrl.begin(), node.ctrl.end(), has_run)) &&
          (next == nullptr || before(node, *next))) {
        next = &node;
      }
    }
    ran.insert(next->id);
    order.push_back(next->id);
  }
  return order;
}

/// The order when every node completes as soon as it was taken.
inline std::vector<NodeId> drain(Feeder& feeder) {
  std::vector<NodeId> order;
  while (const auto row = feeder.pop()) {
    order.push_back(feeder.node(*row).id());
    feeder.complete(*row);
  }
  return order;
}

}  // namespace chakra::test
