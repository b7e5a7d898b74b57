// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "chakra_core/trace.hpp"

namespace chakra {

/// A node to be added to a TraceBuilder. Views must stay valid during the call only.
struct NodeSpec {
  NodeId id = 0;
  std::string_view name = {};
  NodeType type = NodeType::invalid;
  std::span<const NodeId> data_deps = {};
  std::span<const NodeId> ctrl_deps = {};
  std::uint64_t start_ns = 0;
  std::uint64_t duration_ns = 0;
  std::span<const Attribute> attributes = {};  ///< columns are filled from those that simulators read
  const IoInfo* inputs = nullptr;
  const IoInfo* outputs = nullptr;
};

/// Builds a Trace node by node. Dependencies may name nodes that are added later.
///
/// Times are written to the wire as rounded microseconds, with the exact values in the attributes
/// `start_ns` and `duration_ns` where rounding would lose something.
class TraceBuilder {
 public:
  TraceBuilder();
  ~TraceBuilder();
  TraceBuilder(TraceBuilder&&) noexcept;
  TraceBuilder& operator=(TraceBuilder&&) noexcept;

  /// Throws ChakraError if an attribute's value does not fit its kind, or a text is not UTF-8.
  void set_metadata(Metadata metadata);
  void set_source(std::string source);

  /// Throws ChakraError if an attribute's value does not fit its kind or its column, or a text is not UTF-8.
  void add_node(const NodeSpec& node);

  /// Checks and encodes once what many nodes share: type, times, attributes, inputs and outputs (id, name and
  /// dependencies are not looked at). Returns its number, for add_node_like; numbers count from 0. Throws as add_node.
  std::size_t add_pattern(const NodeSpec& shared);
  /// Adds a node that has all but these from a pattern, and costs no memory for what they share.
  void add_node_like(std::size_t pattern, NodeId id, std::string_view name, std::span<const NodeId> data_deps = {},
                     std::span<const NodeId> ctrl_deps = {});

  /// Adds a protobuf `Node` message; its bytes are kept as they are. Throws FormatError if they are none.
  void add_record(std::string_view node_message);

  std::size_t size() const noexcept;

  /// Resolves the dependencies and hands the trace over; the builder is empty afterwards.
  /// Throws FormatError for a duplicate id, DependencyError for a missing parent.
  TracePtr build();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace chakra
