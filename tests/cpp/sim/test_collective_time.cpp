// SPDX-License-Identifier: MIT
#include <algorithm>

#include <gtest/gtest.h>

#include "chakra_core/collective_time.hpp"
#include "chakra_core/errors.hpp"
#include "sim/workload.hpp"

namespace chakra {
namespace {

using testing::on;
using testing::RankTrace;

constexpr auto ar = CollectiveType::all_reduce;

TEST(CollectiveTime, OfARing) {
  const Network network({{Topology::ring, 8, 50, 500}});
  SystemConfig system;
  system.endpoint_delay_ns = 7;
  EXPECT_EQ(collective_time(network, system, ar, 1 << 20), 7 + 14 * (network.delay(0, 1, 1 << 17) + 7));
  EXPECT_EQ(collective_time(network, system, CollectiveType::all_gather, 1 << 17),
            7 + 7 * (network.delay(0, 1, 1 << 17) + 7));
  EXPECT_EQ(collective_time(network, system, ar, 0), 0U);
}

TEST(CollectiveTime, IsWhatSimulateGives) {
  for (const bool congestion : {false, true}) {
    for (const bool parity : {false, true}) {
      if (congestion && parity) continue;
      SimulationConfig config = on({{Topology::ring, 4, 50, 500}, {Topology::switch_, 2, 25, 300}});
      config.system.preferred_dataset_splits = 3;
      config.congestion = congestion;
      config.parity = parity;
      config.groups = {{"1", {1, 2, 6}}};
      std::vector<TracePtr> world;
      std::vector<TracePtr> group;
      for (std::uint32_t r = 0; r < 8; ++r) {
        world.push_back(RankTrace().collective(ar, 1 << 16).build());
        const bool is_member = r == 1 || r == 2 || r == 6;
        group.push_back(is_member ? RankTrace().collective(ar, 1 << 16, "1").build() : RankTrace().build());
      }
      const auto last = [&](const std::vector<TracePtr>& traces) {
        const auto finish = simulate(traces, config).finish_ns;
        return *std::max_element(finish.begin(), finish.end());
      };
      CollectiveTimeOptions options{.congestion = congestion, .parity = parity};
      EXPECT_EQ(collective_time(config.network, config.system, ar, 1 << 16, options), last(world));
      const std::vector<std::uint32_t> members{1, 2, 6};
      options.group = members;
      EXPECT_EQ(collective_time(config.network, config.system, ar, 1 << 16, options), last(group));
    }
  }
}

TEST(CollectiveTime, Roots) {
  const Network network({{Topology::ring, 5, 50, 500}});
  SystemConfig system;
  system.endpoint_delay_ns = 0;
  system.all_reduce = {parse_algorithm("direct")};
  // To the far side and no further.
  for (const std::optional<std::uint32_t> root : {std::optional<std::uint32_t>{}, std::optional<std::uint32_t>{3}}) {
    EXPECT_EQ(collective_time(network, system, CollectiveType::broadcast, 1 << 20, {.root = root}),
              network.delay(0, 2, 1 << 20));
  }
}

TEST(CollectiveTime, BadGroupsAreRefused) {
  const Network network({{Topology::ring, 4, 50, 500}});
  const std::vector<std::uint32_t> outside{0, 4};
  const std::vector<std::uint32_t> pair{0, 1};
  EXPECT_THROW(collective_time(network, {}, ar, 8, {.group = outside}), ConfigError);
  EXPECT_THROW(collective_time(network, {}, CollectiveType::broadcast, 8, {.group = pair, .root = 2}), SimulationError);
  EXPECT_THROW(collective_time(network, {}, ar, ~std::uint64_t{0}), ConfigError);
}

}  // namespace
}  // namespace chakra
