// SPDX-License-Identifier: MIT
// Simulates ranks and is told what happens, as a program that embeds the simulator does.
#include <cstdint>
#include <cstdio>
#include <vector>

#include <chakra_core/errors.hpp>
#include <chakra_core/simulator.hpp>
#include <chakra_core/trace_builder.hpp>

namespace {

chakra::TracePtr make_rank(std::uint64_t compute_ns) {
  chakra::TraceBuilder builder;
  const std::vector<chakra::NodeId> parents = {0};
  const std::vector<chakra::Attribute> attributes = {chakra::make_int64("comm_type", 0),
                                                     chakra::make_int64("comm_size", 1 << 20)};
  builder.add_node({.id = 0, .name = "kernel", .type = chakra::NodeType::comp, .duration_ns = compute_ns});
  builder.add_node({.id = 1,
                    .name = "all-reduce",
                    .type = chakra::NodeType::comm_coll,
                    .data_deps = parents,
                    .attributes = attributes});
  return builder.build();
}

class Printer final : public chakra::SimulationObserver {
 public:
  void node_ended(std::uint32_t rank, chakra::NodeIndex row, std::uint64_t now_ns) override {
    if (row == 0) std::printf("rank %u computed until %llu ns\n", rank, static_cast<unsigned long long>(now_ns));
  }
  void collective_ended(const chakra::ObservedCollective& collective, std::uint64_t /*now_ns*/) override {
    std::printf("all-reduce of %llu bytes is over\n", static_cast<unsigned long long>(collective.size));
  }
};

}  // namespace

int main() {
  chakra::SimulationConfig config{.network = chakra::Network({{chakra::Topology::ring, 2, 50, 500}})};
  Printer printer;
  config.observer = &printer;
  config.stragglers.compute_speed = {1, 0.5};
  const std::vector<chakra::TracePtr> traces = {make_rank(1000), make_rank(1000)};
  const chakra::SimulationResult result = chakra::simulate(traces, config);
  const chakra::CollectiveColumns& table = result.collectives;
  std::printf("%zu collective, %llu ns after the last rank came\n", table.group.size(),
              static_cast<unsigned long long>(table.end_ns[0] - table.joined_ns[0]));
  try {
    (void)chakra::simulate(std::vector<chakra::TracePtr>(3, traces[0]), config);
  } catch (const chakra::ConfigError&) {
    return 0;
  }
  return 1;
}
