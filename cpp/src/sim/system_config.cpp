// SPDX-License-Identifier: MIT
#include "chakra_core/system_config.hpp"

#include <array>
#include <cmath>

#include "chakra_core/errors.hpp"

namespace chakra {

namespace {

constexpr std::array memory_types{MemoryType::none, MemoryType::per_npu, MemoryType::per_node, MemoryType::pool};

/// Everything up to 2^53 ns is exact in a double, and no sum of delays comes near 2^64.
constexpr double longest_delay_ns = 9007199254740992.0;

/// A collective has as many chunks, each with its own state.
constexpr std::uint32_t most_splits = 1U << 20;

void check_number(const char* key, double value, double upper) {
  if (!(value >= 0) || !(value <= upper)) {
    throw ConfigError(std::string(key) + " is " + std::to_string(value) + "; it must be finite and not negative");
  }
}

void check_list(const char* key, const std::vector<Algorithm>& list) {
  if (list.empty()) throw ConfigError(std::string(key) + " is empty; it needs one entry for each dimension");
}

}  // namespace

void SystemConfig::validate() const {
  if (endpoint_delay_ns) check_number("endpoint-delay", *endpoint_delay_ns, longest_delay_ns);
  if (active_chunks_per_dimension == 0) throw ConfigError("active-chunks-per-dimension is 0; it must be at least 1");
  if (preferred_dataset_splits == 0 || preferred_dataset_splits > most_splits) {
    throw ConfigError("preferred-dataset-splits is " + std::to_string(preferred_dataset_splits) + "; it must be 1 to " +
                      std::to_string(most_splits));
  }
  check_list("all-reduce-implementation", all_reduce);
  check_list("all-gather-implementation", all_gather);
  check_list("reduce-scatter-implementation", reduce_scatter);
  check_list("all-to-all-implementation", all_to_all);
  check_number("local-mem-bw", local_mem_bw, 1e300);
  check_number("peak-perf", peak_perf, 1e300);
  if (roofline_enabled && peak_perf == 0) {
    throw ConfigError("roofline-enabled needs peak-perf, which is missing or 0");
  }
  if (roofline_enabled && local_mem_bw == 0) {
    throw ConfigError("roofline-enabled needs local-mem-bw, which is missing or 0");
  }
}

void MemoryConfig::validate(std::uint32_t npus) const {
  if (type != MemoryType::per_node) return;
  if (num_npus_per_node == 0) throw ConfigError("num-npus-per-node is 0; it must be at least 1");
  const std::uint64_t room = std::uint64_t{num_nodes} * num_npus_per_node;
  if (room < npus) {
    throw ConfigError("num-nodes " + std::to_string(num_nodes) + " times num-npus-per-node " +
                      std::to_string(num_npus_per_node) + " is less than the network's " + std::to_string(npus) +
                      " NPUs");
  }
}

MemoryType parse_memory_type(std::string_view name) {
  for (const MemoryType type : memory_types) {
    if (name == to_string(type)) return type;
  }
  throw ConfigError("unknown memory-type \"" + std::string(name) +
                    "\"; known are NO_MEMORY_EXPANSION, PER_NPU_MEMORY_EXPANSION, PER_NODE_MEMORY_EXPANSION, "
                    "MEMORY_POOL");
}

std::string_view to_string(MemoryType type) noexcept {
  switch (type) {
    case MemoryType::none:
      return "NO_MEMORY_EXPANSION";
    case MemoryType::per_npu:
      return "PER_NPU_MEMORY_EXPANSION";
    case MemoryType::per_node:
      return "PER_NODE_MEMORY_EXPANSION";
    case MemoryType::pool:
      return "MEMORY_POOL";
  }
  return "NO_MEMORY_EXPANSION";
}

CollectiveOptimization parse_collective_optimization(std::string_view name) {
  if (name == "baseline") return CollectiveOptimization::baseline;
  if (name == "localBWAware") return CollectiveOptimization::local_bw_aware;
  throw ConfigError("unknown collective-optimization \"" + std::string(name) + "\"; known are baseline, localBWAware");
}

}  // namespace chakra
