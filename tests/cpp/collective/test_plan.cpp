// SPDX-License-Identifier: MIT
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "collective/plan.hpp"

namespace chakra {
namespace {

const Network grid({{Topology::ring, 4, 50, 100}, {Topology::ring, 2, 50, 100}, {Topology::switch_, 2, 50, 100}});

SystemConfig three_rings() {
  SystemConfig system;
  system.all_reduce = system.all_gather = system.reduce_scatter = system.all_to_all = {{}, {}, {}};
  return system;
}

CollectiveRequest world(CollectiveType type, std::uint64_t size, std::uint32_t rank = 0) {
  CollectiveRequest request;
  request.type = type;
  request.size = size;
  request.rank = rank;
  return request;
}

std::string outline(const std::vector<Phase>& phases) {
  const std::string kinds[] = {"AR", "RS", "AG", "A2A", "reduce", "broadcast", "gather", "scatter", "barrier"};
  std::string text;
  for (const Phase& phase : phases) {
    if (!text.empty()) text += ' ';
    text += kinds[static_cast<std::size_t>(phase.kind)] + std::to_string(phase.dimension) + ":" +
            std::to_string(phase.bytes);
  }
  return text;
}

std::string plan(const SystemConfig& system, const CollectiveRequest& request, bool parity = true) {
  std::vector<Phase> phases;
  Planner(grid, system, parity).plan(request, request.size, phases);
  return outline(phases);
}

TEST(Planner, PhasesOfEachType) {
  for (const bool parity : {true, false}) {
    SystemConfig system = three_rings();
    EXPECT_EQ(plan(system, world(CollectiveType::all_reduce, 1600), parity), "AR0:1600 AR1:1600 AR2:1600");
    EXPECT_EQ(plan(system, world(CollectiveType::reduce_scatter, 1600), parity), "RS0:1600 RS1:400 RS2:200");
    EXPECT_EQ(plan(system, world(CollectiveType::all_gather, 100), parity), "AG2:100 AG1:200 AG0:400");
    EXPECT_EQ(plan(system, world(CollectiveType::all_to_all, 1600), parity), "A2A0:1600 A2A1:1600 A2A2:1600");
    system.collective_optimization = CollectiveOptimization::local_bw_aware;
    EXPECT_EQ(plan(system, world(CollectiveType::all_reduce, 1600), parity),
              "RS0:1600 RS1:400 AR2:200 AG1:200 AG0:400");
  }
}

TEST(Planner, InvolvedDimensions) {
  CollectiveRequest request = world(CollectiveType::all_reduce, 1600);
  request.all_dims = false;
  request.involved_dims = "101";
  EXPECT_EQ(plan(three_rings(), request), "AR0:1600 AR2:1600");
  request.involved_dims = "01";
  EXPECT_EQ(plan(three_rings(), request), "AR1:1600");
  request.involved_dims = "000";
  EXPECT_EQ(plan(three_rings(), request), "");
}

TEST(Planner, UnevenSharesAddUpOverTheRanks) {
  SystemConfig system = three_rings();
  system.collective_optimization = CollectiveOptimization::local_bw_aware;
  const Planner planner(grid, system, false);
  for (const std::uint64_t size : {1U, 7U, 16U, 101U, 1003U}) {
    std::uint64_t turning = 0;
    for (std::uint32_t rank = 0; rank < grid.npus(); ++rank) {
      std::vector<Phase> phases;
      planner.plan(world(CollectiveType::all_reduce, size, rank), size, phases);
      for (const Phase& phase : phases) {
        if (phase.kind == PhaseKind::all_reduce) turning += phase.bytes;
        EXPECT_GT(phase.total, 0U);
      }
    }
    EXPECT_EQ(turning, 2 * size) << "each byte is in one line of the last dimension, which has two members";
  }
}

TEST(Planner, OneAlgorithmOverAllNpus) {
  SystemConfig system = three_rings();
  system.all_reduce = {{}, parse_algorithm("oneRing")};
  std::vector<Phase> phases;
  Planner(grid, system, true).plan(world(CollectiveType::all_reduce, 1600, 5), 1600, phases);
  ASSERT_EQ(outline(phases), "AR0:1600 AR1:1600");
  EXPECT_EQ(phases[1].members.size, 16U);
  EXPECT_EQ(phases[1].position, 5U);
  EXPECT_THROW(Planner(grid, system, false), ConfigError) << "the whole after a part is no all-reduce";
}

TEST(Planner, ChunksOfParityAreFullAndOthersAddUp) {
  SystemConfig system = three_rings();
  system.preferred_dataset_splits = 16;
  const Planner parity(grid, system, true);
  EXPECT_EQ(parity.chunk_sizes(world(CollectiveType::all_reduce, 1'000'003)),
            std::vector<std::uint64_t>(17, 1'000'003 / 16));
  EXPECT_EQ(parity.chunk_sizes(world(CollectiveType::all_reduce, 3)), std::vector<std::uint64_t>(16, 16));
  EXPECT_THROW(parity.chunk_sizes(world(CollectiveType::all_gather, 3)), SimulationError);
  const Planner planner(grid, system, false);
  for (const std::uint64_t size : {0U, 1U, 15U, 16U, 17U, 255U, 256U, 300U, 1'000'003U}) {
    for (const CollectiveType type : {CollectiveType::all_reduce, CollectiveType::all_gather}) {
      const auto sizes = planner.chunk_sizes(world(type, size));
      EXPECT_LE(sizes.size(), 16U);
      EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0}), size);
    }
  }
}

TEST(Planner, ListsThatDoNotFitTheNetwork) {
  SystemConfig system;
  EXPECT_NO_THROW(Planner(grid, system, true)) << "ASTRA-sim uses the dimensions that are listed";
  EXPECT_THROW(Planner(grid, system, false), ConfigError);
  system = three_rings();
  system.all_gather.push_back({});
  try {
    Planner(grid, system, true);
    ADD_FAILURE();
  } catch (const ConfigError& error) {
    EXPECT_EQ(std::string(error.what()),
              "all-gather-implementation has 4 entries, the network 3 dimensions; give one entry for each dimension");
  }
}

TEST(Planner, AlgorithmsThatCannotDoIt) {
  SystemConfig system = three_rings();
  system.all_to_all[1] = {AlgorithmKind::halving_doubling};
  EXPECT_THROW(plan(system, world(CollectiveType::all_to_all, 1600)), ConfigError);
  system.all_gather[0] = {AlgorithmKind::double_binary_tree};
  EXPECT_EQ(plan(system, world(CollectiveType::all_gather, 16), true), "AG2:16 AG1:32 AG0:64");
  EXPECT_THROW(plan(system, world(CollectiveType::all_gather, 16), false), ConfigError);
}

TEST(Planner, DoubleTreeInBandwidthAwareAllReduceIsNotReturnedTo) {
  SystemConfig system = three_rings();
  system.collective_optimization = CollectiveOptimization::local_bw_aware;
  system.all_reduce[1] = {AlgorithmKind::double_binary_tree};
  EXPECT_EQ(plan(system, world(CollectiveType::all_reduce, 1600), true), "RS0:1600 RS1:400 AR2:400 AG1:400 AG0:400");
  EXPECT_EQ(plan(system, world(CollectiveType::all_reduce, 1600), false), "RS0:1600 AR1:400 AR2:400 AG0:400");
}

TEST(Planner, RootedPhasesFollowTheRootsLines) {
  CollectiveRequest request = world(CollectiveType::scatter, 1600, 0);
  EXPECT_EQ(plan(three_rings(), request, false), "scatter2:1600 scatter1:800 scatter0:400");
  request.rank = 4;  // coordinates 0, 1, 0: no member of the root's line of the last dimension
  EXPECT_EQ(plan(three_rings(), request, false), "scatter1:800 scatter0:400");
  request.rank = 5;
  EXPECT_EQ(plan(three_rings(), request, false), "scatter0:400");
  request.type = CollectiveType::gather;
  request.size = 100;
  EXPECT_EQ(plan(three_rings(), request, false), "gather0:100");
  request.rank = 0;
  EXPECT_EQ(plan(three_rings(), request, false), "gather0:100 gather1:400 gather2:800");
  request.type = CollectiveType::barrier;
  request.size = 1;
  request.rank = 7;
  EXPECT_EQ(plan(three_rings(), request, false), "barrier0:1 barrier1:1 barrier2:1");
}

}  // namespace
}  // namespace chakra
