// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace chakra {

/// Node id as it stands in the file: any 64-bit value, unique in a trace.
using NodeId = std::uint64_t;

/// Row number of a node in a Trace: 0 .. size() - 1, in file order.
using NodeIndex = std::uint32_t;

/// Node kinds of schema/et_def.proto. Values beyond the named ones are legal and kept as they are.
enum class NodeType : std::int32_t {
  invalid = 0,
  metadata = 1,
  mem_load = 2,
  mem_store = 3,
  comp = 4,
  comm_send = 5,
  comm_recv = 6,
  comm_coll = 7,
};

/// Collective kinds of schema/et_def.proto (attribute `comm_type`).
enum class CollectiveType : std::int32_t {
  all_reduce = 0,
  reduce = 1,
  all_gather = 2,
  gather = 3,
  scatter = 4,
  broadcast = 5,
  all_to_all = 6,
  reduce_scatter = 7,
  reduce_scatter_block = 8,
  barrier = 9,
};

/// Schema name ("COMP_NODE"), or "NODE_TYPE_<number>" for a value without one.
std::string to_string(NodeType type);

/// Schema name ("ALL_REDUCE"), or "COLLECTIVE_TYPE_<number>" for a value without one.
std::string to_string(CollectiveType type);

/// The kind with this schema name ("COMP_NODE"), if there is one.
std::optional<NodeType> parse_node_type(std::string_view name);

/// The collective with this schema name ("ALL_REDUCE"), if there is one.
std::optional<CollectiveType> parse_collective_type(std::string_view name);

/// True for send, receive and collective nodes.
constexpr bool is_communication(NodeType type) noexcept {
  return type == NodeType::comm_send || type == NodeType::comm_recv || type == NodeType::comm_coll;
}

}  // namespace chakra
