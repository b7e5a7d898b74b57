// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "chakra_core/trace_builder.hpp"

namespace chakra {

/// Parents of each node as ids: those of node i are ids[offsets[i]] .. ids[offsets[i + 1] - 1].
struct ParentLists {
  std::span<const std::uint64_t> offsets = {};  ///< one more than there are nodes; empty for no parents at all
  std::span<const NodeId> ids = {};
};

/// One attribute of many nodes. The alternative must be the one that `kind`, or for a list one value of it, has in a
/// single attribute.
struct AttributeArray {
  std::string name;
  AttributeKind kind = AttributeKind::none;
  std::variant<std::span<const std::int64_t>, std::span<const std::uint64_t>, std::span<const double>,
               std::span<const bool>, std::span<const std::string_view>>
      values = {};
  std::span<const bool> absent = {};  ///< true for a node without it; empty if all have it
  /// Of a list kind: node i has values[offsets[i]] .. values[offsets[i + 1] - 1]. Empty for one value a node.
  std::span<const std::uint64_t> offsets = {};
};

/// Inputs or outputs of many nodes. A node for which all three are empty has none.
struct IoArrays {
  std::span<const std::string_view> values = {};
  std::span<const std::string_view> shapes = {};
  std::span<const std::string_view> types = {};
};

/// Many nodes; a list has one entry a node, or is empty for the default of NodeSpec (types: comp).
struct NodeArrays {
  std::span<const NodeId> ids = {};
  std::span<const NodeType> types = {};
  std::span<const std::string_view> names = {};
  ParentLists data_deps = {};
  ParentLists ctrl_deps = {};
  std::span<const std::uint64_t> start_ns = {};
  std::span<const std::uint64_t> duration_ns = {};
  IoArrays inputs = {};
  IoArrays outputs = {};
  std::span<const AttributeArray> attributes = {};  ///< in the order in which each node gets them
};

/// Adds all nodes, as TraceBuilder::add_node would one by one. Throws ChakraError, before anything is added, for lists
/// that do not fit each other; and for a node that add_node refuses, when the nodes before it have been added.
void add_nodes(TraceBuilder& builder, const NodeArrays& nodes);

}  // namespace chakra
