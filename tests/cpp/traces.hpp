// SPDX-License-Identifier: MIT
#pragma once

#include <utility>
#include <vector>

#include "chakra_core/trace_builder.hpp"

namespace chakra::test {

/// A node's id and parents, for traces where nothing else matters.
struct Plain {
  NodeId id;
  std::vector<NodeId> data = {};
  std::vector<NodeId> ctrl = {};
};

inline TracePtr make_trace(const std::vector<Plain>& nodes) {
  TraceBuilder builder;
  for (const Plain& node : nodes) {
    builder.add_node({.id = node.id, .type = NodeType::comp, .data_deps = node.data, .ctrl_deps = node.ctrl});
  }
  return builder.build();
}

}  // namespace chakra::test
