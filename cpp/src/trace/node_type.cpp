// SPDX-License-Identifier: MIT
#include "chakra_core/node_type.hpp"

#include <algorithm>
#include <array>

namespace chakra {

namespace {

constexpr std::array<std::string_view, 8> node_type_names = {
    "INVALID_NODE", "METADATA_NODE",  "MEM_LOAD_NODE",  "MEM_STORE_NODE",
    "COMP_NODE",    "COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE",
};

constexpr std::array<std::string_view, 10> collective_type_names = {
    "ALL_REDUCE", "REDUCE",         "ALL_GATHER",           "GATHER",  "SCATTER", "BROADCAST",
    "ALL_TO_ALL", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER",
};

template <std::size_t Size>
std::optional<std::int32_t> number_of(const std::array<std::string_view, Size>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    return std::nullopt;
  }
  return static_cast<std::int32_t>(found - names.begin());
}

template <std::size_t Size>
std::string name_of(const std::array<std::string_view, Size>& names, std::int32_t number, const char* prefix) {
  if (number >= 0 && number < static_cast<std::int32_t>(Size)) {
    return std::string(names[static_cast<std::size_t>(number)]);
  }
  return prefix + std::to_string(number);
}

}  // namespace

std::string to_string(NodeType type) { return name_of(node_type_names, static_cast<std::int32_t>(type), "NODE_TYPE_"); }

std::string to_string(CollectiveType type) {
  return name_of(collective_type_names, static_cast<std::int32_t>(type), "COLLECTIVE_TYPE_");
}

std::optional<NodeType> parse_node_type(std::string_view name) {
  const auto number = number_of(node_type_names, name);
  return number ? std::optional(static_cast<NodeType>(*number)) : std::nullopt;
}

std::optional<CollectiveType> parse_collective_type(std::string_view name) {
  const auto number = number_of(collective_type_names, name);
  return number ? std::optional(static_cast<CollectiveType>(*number)) : std::nullopt;
}

}  // namespace chakra
