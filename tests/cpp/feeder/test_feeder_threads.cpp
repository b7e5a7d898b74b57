// SPDX-License-Identifier: MIT
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "chakra_core/feeder.hpp"
#include "random_graph.hpp"

namespace chakra {
namespace {

using namespace chakra::test;

/// For the thread sanitizer: what a trace makes on first use is made by whoever comes first.
TEST(FeederThreads, ManyFeedersShareOneTrace) {
  std::mt19937_64 random(51);
  for (const auto in_file : {GraphShape::File::in_order, GraphShape::File::shuffled}) {
    const auto nodes = random_graph(random, {.nodes = 3000, .reach = 200, .file = in_file});
    const TracePtr trace = make_trace(nodes);
    const std::vector<FeederOptions> options = {
        {},
        {.order = {.by = IssueOrder::By::start_time}},
        {.dependencies = DependencyKind::data},
        {.order = {.by = IssueOrder::By::attribute, .attribute = "comm_priority"}}};
    std::vector<std::vector<NodeId>> orders(8);
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < orders.size(); ++i) {
        threads.emplace_back([&, i] {
          Feeder feeder(trace, options[i % options.size()]);
          orders[i] = drain(feeder);
          (void)feeder.blocked();
        });
      }
    }
    for (std::size_t i = 0; i < orders.size(); ++i) {
      Feeder alone(make_trace(nodes), options[i % options.size()]);
      EXPECT_EQ(orders[i], drain(alone)) << i;
    }
  }
}

}  // namespace
}  // namespace chakra
