// SPDX-License-Identifier: MIT
#include "feeder/describe_blockage.hpp"

#include <algorithm>

#include "trace/cycles.hpp"

namespace chakra::detail {

namespace {

constexpr std::size_t most_named = 5;

std::string count_of(std::size_t count, const char* one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

std::string list(const std::vector<NodeId>& ids, std::size_t all) {
  std::string text;
  const std::size_t named = std::min(ids.size(), most_named);
  for (std::size_t i = 0; i < named; ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(ids[i]);
  }
  return all > named ? text + (named == 0 ? "" : " and ") + std::to_string(all - named) + " more" : text;
}

std::string list(const std::vector<NodeId>& ids) { return list(ids, ids.size()); }

std::string reason(const Blockage& blockage) {
  std::string text;
  if (!blockage.cycle.empty()) {
    text += "Nodes wait for each other: " + describe_cycle(blockage.cycle);
  }
  if (!blockage.missing.empty()) {
    text += std::string(text.empty() ? "N" : "; n") +
            "odes wait for parents that the file does not have: " + list(blockage.missing);
  }
  return text;
}

}  // namespace

std::string describe(const Blockage& blockage, std::size_t remaining) {
  if (remaining == 0) {
    return "all nodes are complete";
  }
  std::string text = count_of(blockage.ready, "node") + " ready, " + std::to_string(blockage.in_flight) + " in flight";
  if (blockage.in_flight > 0) {
    text += " (" + list(blockage.flying, blockage.in_flight) + ")";
  }
  text += ", " + std::to_string(blockage.waiting) + " waiting";
  for (const Blockage::Waiting& node : blockage.nodes) {
    text += "\n  node " + std::to_string(node.node) + " waits for " + list(node.parents);
  }
  if (blockage.waiting > blockage.nodes.size()) {
    text += "\n  and " + std::to_string(blockage.waiting - blockage.nodes.size()) + " more";
  }
  return blockage.is_deadlock() ? text + "\n" + reason(blockage) : text;
}

std::string describe_deadlock(const Blockage& blockage, std::size_t remaining, std::optional<std::size_t> size) {
  return (size ? std::to_string(remaining) + " of " + count_of(*size, "node") : count_of(remaining, "node")) +
         " can never become ready. " + reason(blockage);
}

}  // namespace chakra::detail
