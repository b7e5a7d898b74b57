// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "chakra_core/trace.hpp"

namespace chakra {

/// An attribute whose value each rank has for itself, such as the name of a group or the number of a peer.
struct RankAttribute {
  std::string name;
  std::uint32_t value = 0;  ///< which of the rank's values
};

/// A node of a block.
struct BlockNode {
  std::string name;
  NodeType type = NodeType::comp;
  std::uint64_t duration_ns = 0;
  std::vector<Attribute> attributes = {};
  std::vector<RankAttribute> rank_attributes = {};  ///< behind the others
  std::vector<std::uint32_t> parents = {};          ///< data dependencies on earlier nodes of the block
  std::vector<std::uint32_t> inputs = {};  ///< data dependencies on whatever a placement connects to these inputs
  /// Nodes of one queue run in the order of the program: each has a control dependency on the one before it, unless it
  /// has a data dependency on that one anyway. Less than 2^16.
  std::optional<std::uint32_t> queue = {};
};

/// Nodes that come again and again, such as the forward pass of a layer.
struct Block {
  std::vector<BlockNode> nodes;
  std::uint32_t num_inputs = 0;
};

/// The trace of a rank as blocks one after another. The nodes get the ids 0, 1, 2, ... in that order. All but the
/// values of the rank attributes is the same for all ranks that run the program.
struct BlockProgram {
  std::vector<Block> blocks;

  // One entry a placement.
  std::vector<std::uint32_t> block;
  std::vector<std::string> label;  ///< in front of the names of its nodes

  /// What is connected to the inputs of all placements, one input after another: those of input i are the entries
  /// link_offsets[i] .. link_offsets[i + 1] - 1 of the other two, a node of an earlier placement each.
  std::vector<std::uint64_t> link_offsets;
  std::vector<std::uint32_t> link_placement;
  std::vector<std::uint32_t> link_node;
};

/// An integer (int64_val on the wire) or a text.
using RankValue = std::variant<std::int64_t, std::string>;

/// Nodes of the program. Throws ChakraError for a program that does not fit itself.
std::uint64_t size(const BlockProgram& program);

/// The trace of the rank that has these values. O(nodes + dependencies); what nodes of a block share is in memory once.
/// Throws ChakraError for a program that does not fit itself, or values that it does not have.
TracePtr build_trace(const BlockProgram& program, std::span<const RankValue> values);

}  // namespace chakra
