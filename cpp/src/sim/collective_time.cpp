// SPDX-License-Identifier: MIT
#include "chakra_core/collective_time.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "chakra_core/errors.hpp"
#include "chakra_core/trace_builder.hpp"

namespace chakra {

namespace {

/// Parity takes numbers as names.
constexpr const char* group_name = "1";

TracePtr one_collective(CollectiveType type, std::uint64_t bytes, const CollectiveTimeOptions& options) {
  std::vector<Attribute> attributes{make_int64("comm_type", static_cast<std::int64_t>(type)),
                                    make_int64("comm_size", static_cast<std::int64_t>(bytes))};
  if (!options.group.empty()) attributes.push_back(make_string("pg_name", group_name));
  if (options.root) attributes.push_back(make_int64("comm_src", *options.root));
  TraceBuilder builder;
  builder.add_node({.id = 0, .name = "collective", .type = NodeType::comm_coll, .attributes = attributes});
  return builder.build();
}

}  // namespace

std::uint64_t collective_time(const Network& network, const SystemConfig& system, CollectiveType type,
                              std::uint64_t bytes, const CollectiveTimeOptions& options) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 62;
  if (bytes > most_bytes) throw ConfigError("a collective of " + std::to_string(bytes) + " bytes is too large");
  SimulationConfig config{.network = network, .system = system};
  config.parity = options.parity;
  config.congestion = options.congestion;
  config.rendezvous_protocol = options.rendezvous_protocol;
  config.num_queues_per_dim = options.num_queues_per_dim;
  config.injection_scale = options.injection_scale;
  config.fidelity = options.fidelity;
  config.record_nodes = false;
  const TracePtr member = one_collective(type, bytes, options);
  std::vector<TracePtr> traces(network.npus(), member);
  if (!options.group.empty()) {
    config.groups.push_back({group_name, {options.group.begin(), options.group.end()}});
    traces.assign(network.npus(), TraceBuilder().build());
    for (const std::uint32_t rank : options.group) {
      if (rank < traces.size()) traces[rank] = member;
    }
  }
  const SimulationResult result = simulate(traces, config);
  return *std::max_element(result.finish_ns.begin(), result.finish_ns.end());
}

}  // namespace chakra
