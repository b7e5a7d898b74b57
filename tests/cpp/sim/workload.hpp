// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chakra_core/simulator.hpp"
#include "chakra_core/trace_builder.hpp"

namespace chakra::testing {

/// Builds the trace of one rank; ids count from 0.
class RankTrace {
 public:
  /// Nodes added from here on depend on these.
  RankTrace& after(std::vector<NodeId> parents) {
    parents_ = std::move(parents);
    return *this;
  }
  RankTrace& compute(std::uint64_t duration_ns, bool on_cpu = false) {
    return add(NodeType::comp, duration_ns, {make_bool("is_cpu_op", on_cpu)});
  }
  RankTrace& roofline(std::optional<std::int64_t> operations, std::optional<std::int64_t> bytes) {
    std::vector<Attribute> attributes{make_bool("is_cpu_op", false)};
    if (operations) attributes.push_back(make_int64("num_ops", *operations));
    if (bytes) attributes.push_back(make_int64("tensor_size", *bytes));
    return add(NodeType::comp, 7000, std::move(attributes));
  }
  RankTrace& memory(std::int64_t bytes) { return add(NodeType::mem_load, 0, {make_int64("tensor_size", bytes)}); }
  RankTrace& empty(NodeType type) { return add(type, 0, {}); }
  RankTrace& send(std::int64_t dst, std::int64_t bytes, std::int64_t tag = 0) {
    return add(NodeType::comm_send, 0,
               {make_int64("comm_dst", dst), make_int64("comm_size", bytes), make_int64("comm_tag", tag)});
  }
  RankTrace& receive(std::int64_t src, std::int64_t bytes, std::int64_t tag = 0) {
    return add(NodeType::comm_recv, 0,
               {make_int64("comm_src", src), make_int64("comm_size", bytes), make_int64("comm_tag", tag)});
  }
  RankTrace& collective(CollectiveType type, std::int64_t bytes, std::optional<std::string> group = {},
                        std::optional<std::int64_t> root = {}) {
    std::vector<Attribute> attributes{make_int64("comm_type", static_cast<std::int64_t>(type)),
                                      make_int64("comm_size", bytes)};
    if (group) attributes.push_back(make_string("pg_name", *group));
    if (root) attributes.push_back(make_int64("comm_src", *root));
    return add(NodeType::comm_coll, 0, std::move(attributes));
  }

  RankTrace& add(NodeType type, std::uint64_t duration_ns, std::vector<Attribute> attributes) {
    const std::string name = "node" + std::to_string(next_);
    builder_.add_node({.id = next_++,
                       .name = name,
                       .type = type,
                       .data_deps = parents_,
                       .duration_ns = duration_ns,
                       .attributes = attributes});
    return *this;
  }
  /// Id of the node added last.
  NodeId last() const { return next_ - 1; }
  /// What is added next waits for what was added last.
  RankTrace& then() { return after({last()}); }

  TracePtr build() { return builder_.build(); }

 private:
  TraceBuilder builder_;
  NodeId next_ = 0;
  std::vector<NodeId> parents_;
};

inline SimulationConfig on(std::vector<Dimension> dimensions) {
  SimulationConfig config{.network = Network(std::move(dimensions))};
  const std::size_t size = config.network.dimensions().size();
  config.system.endpoint_delay_ns = 0;
  config.system.all_reduce.resize(size);
  config.system.all_gather.resize(size);
  config.system.reduce_scatter.resize(size);
  config.system.all_to_all.resize(size);
  return config;
}

/// The same algorithm for every collective and dimension.
inline void use(SimulationConfig& config, const std::string& algorithm) {
  SystemConfig& system = config.system;
  for (auto* list : {&system.all_reduce, &system.all_gather, &system.reduce_scatter, &system.all_to_all}) {
    for (Algorithm& entry : *list) entry = parse_algorithm(algorithm);
  }
}

/// Nodes of all ranks that ended.
inline std::size_t ended_nodes(const SimulationResult& result) {
  return result.node_end_ns.size() -
         static_cast<std::size_t>(std::count(result.node_end_ns.begin(), result.node_end_ns.end(), never_ended));
}

/// One collective on every rank; rank r starts it after `skew[r]` ns.
inline std::vector<TracePtr> skewed_collective(CollectiveType type, std::int64_t bytes,
                                               const std::vector<std::uint64_t>& skew) {
  std::vector<TracePtr> traces;
  for (const std::uint64_t delay : skew) {
    traces.push_back(RankTrace().compute(delay).then().collective(type, bytes).build());
  }
  return traces;
}

}  // namespace chakra::testing
