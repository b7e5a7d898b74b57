// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "chakra_core/node_type.hpp"

namespace chakra::sim {

/// A collective node that a rank issues.
struct CollectiveNode {
  std::uint32_t rank = 0;
  NodeIndex row = 0;
  NodeId id = 0;
  CollectiveType type = CollectiveType::all_reduce;
  std::uint64_t size = 0;
  std::uint32_t group = 0;
  std::optional<std::string_view> involved_dims = {};
  std::optional<std::uint32_t> root = {};  ///< rank; absent: the group's first
};

}  // namespace chakra::sim
