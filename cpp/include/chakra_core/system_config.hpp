// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chakra_core/trace.hpp"

namespace chakra {

/// How the members of a collective exchange their messages in one dimension.
enum class AlgorithmKind : std::uint8_t { ring, direct, halving_doubling, double_binary_tree };

/// One entry of an implementation list.
struct Algorithm {
  AlgorithmKind kind = AlgorithmKind::ring;
  std::uint32_t window = 0;  ///< direct: messages in flight at once; 0 is all of them
  bool whole = false;        ///< "one...": one exchange over all NPUs, in place of this and all later dimensions

  bool operator==(const Algorithm&) const = default;
};

/// "ring", "direct", "direct3", "halvingDoubling", "doubleBinaryTree", "oneRing", "oneDirect",
/// "oneDirect3", "oneHalvingDoubling". Throws ConfigError that lists them for anything else.
Algorithm parse_algorithm(std::string_view name);
std::string to_string(const Algorithm& algorithm);

/// How an all-reduce over several dimensions is made up.
enum class CollectiveOptimization : std::uint8_t {
  baseline,        ///< an all-reduce in every dimension
  local_bw_aware,  ///< reduce-scatter up, all-reduce in the last dimension, all-gather back
};

/// What ASTRA-sim's system file says, under its names.
struct SystemConfig {
  /// ns that an endpoint takes for each message; absent is 10, which injection_scale does not touch.
  std::optional<double> endpoint_delay_ns = {};
  std::uint32_t active_chunks_per_dimension = 1;
  std::uint32_t preferred_dataset_splits = 1;
  /// One entry a dimension.
  std::vector<Algorithm> all_reduce = {Algorithm{}};
  std::vector<Algorithm> all_gather = {Algorithm{}};
  std::vector<Algorithm> reduce_scatter = {Algorithm{}};
  std::vector<Algorithm> all_to_all = {Algorithm{}};
  /// In place of the lists: collectives of this type run these traces, one a member. Empty: they do not.
  std::vector<TracePtr> all_reduce_custom = {};
  std::vector<TracePtr> all_gather_custom = {};
  std::vector<TracePtr> reduce_scatter_custom = {};
  std::vector<TracePtr> all_to_all_custom = {};
  CollectiveOptimization collective_optimization = CollectiveOptimization::baseline;
  double local_mem_bw = 0;  ///< 1e9 bytes a second; 0: reductions cost nothing
  double peak_perf = 0;     ///< 1e12 operations a second
  bool roofline_enabled = false;
  bool replay_only = false;  ///< every node takes its recorded duration

  /// Throws ConfigError that names the key and the value.
  void validate() const;
};

enum class MemoryType : std::uint8_t { none, per_npu, per_node, pool };

/// What ASTRA-sim's remote-memory file says.
struct MemoryConfig {
  MemoryType type = MemoryType::none;
  std::uint64_t latency_ns = 0;
  std::uint64_t bandwidth_gbps = 0;  ///< 1e9 bytes a second, that is bytes per ns
  std::uint32_t num_nodes = 1;
  std::uint32_t num_npus_per_node = 1;

  /// Throws ConfigError that names the key and the value.
  void validate(std::uint32_t npus) const;
};

/// "NO_MEMORY_EXPANSION", "PER_NPU_MEMORY_EXPANSION", "PER_NODE_MEMORY_EXPANSION", "MEMORY_POOL".
/// Throws ConfigError that lists them for anything else.
MemoryType parse_memory_type(std::string_view name);
std::string_view to_string(MemoryType type) noexcept;

/// "baseline" or "localBWAware". Throws ConfigError for anything else.
CollectiveOptimization parse_collective_optimization(std::string_view name);

}  // namespace chakra
