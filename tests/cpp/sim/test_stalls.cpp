// SPDX-License-Identifier: MIT
#include <string>

#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "sim/workload.hpp"

namespace chakra {
namespace {

using testing::on;
using testing::RankTrace;

std::string stall(const std::vector<TracePtr>& traces, const SimulationConfig& config) {
  try {
    simulate(traces, config);
  } catch (const SimulationError& error) {
    return error.what();
  }
  return "no error";
}

void expect_parts(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << "\nis not in\n" << text;
}

TEST(Stalls, T31SizesThatDifferAreNamedOnBothSides) {
  const std::vector<TracePtr> traces{RankTrace().send(1, 1024).build(),
                                     RankTrace().receive(0, 2048).then().compute(5).build()};
  for (const bool parity : {false, true}) {
    for (const bool rendezvous : {false, true}) {
      SimulationConfig config = on({{Topology::ring, 2, 50, 500}});
      config.parity = parity;
      config.rendezvous_protocol = rendezvous;
      expect_parts(stall(traces, config),
                   {"1 of 2 ranks wait", "rank 1 has 2 unfinished nodes", "node 0 \"node0\" (COMM_RECV_NODE)",
                    "a message from rank 0 of 2048 bytes with tag 0", "rank 0: node 0 \"node0\" (COMM_SEND_NODE) sent",
                    "1024 bytes with tag 0", "node 1 \"node1\" (COMP_NODE) waits for its parent node 0"});
    }
  }
}

TEST(Stalls, AReceiveWithoutSend) {
  const std::vector<TracePtr> traces{RankTrace().compute(3).build(), RankTrace().receive(0, 64, 9).build()};
  expect_parts(stall(traces, on({{Topology::ring, 2, 50, 500}})),
               {"a message from rank 0 of 64 bytes with tag 9", "rank 0 has sent nothing that is not received"});
}

TEST(Stalls, ASenderThatWaitsForItsReceiver) {
  SimulationConfig config = on({{Topology::ring, 2, 50, 500}});
  config.rendezvous_protocol = true;
  const std::vector<TracePtr> traces{RankTrace().send(1, 64, 9).build(), RankTrace().build()};
  expect_parts(stall(traces, config), {"rank 1 to be ready to receive 64 bytes with tag 9"});
}

TEST(Stalls, ACollectiveThatOneRankMisses) {
  SimulationConfig config = on({{Topology::ring, 4, 50, 500}});
  config.groups = {{"pair", {2, 3}}};
  const auto all = RankTrace().collective(CollectiveType::all_reduce, 4096).build();
  const auto pair = RankTrace()
                        .collective(CollectiveType::all_reduce, 4096)
                        .then()
                        .collective(CollectiveType::all_gather, 128, "pair")
                        .build();
  const std::vector<TracePtr> traces{all, all, all, pair};
  const char* const missing =
      "collective number 0 of communicator group \"pair\" (node 1, ALL_GATHER of 128 bytes, first issued by "
      "rank 3) was never issued by rank 2";
  expect_parts(stall(traces, config), {"rank 3 has 1 unfinished nodes", "group \"pair\": rank 2 to begin it", missing});
  config.fidelity = Fidelity::message;
  expect_parts(stall(traces, config),
               {"rank 3 has 1 unfinished nodes", "group \"pair\": a message from rank 2 (128 bytes)", missing});
}

TEST(Stalls, ReportsOfManyRanksAreBounded) {
  const SimulationConfig config = on({{Topology::ring, 4096, 50, 500}});
  std::vector<TracePtr> traces(4096, RankTrace().collective(CollectiveType::all_reduce, 1 << 20).build());
  traces[17] = RankTrace().compute(1).build();
  const std::string text = stall(traces, config);
  expect_parts(text, {"4095 of 4096 ranks", "and 4063 more ranks", "was never issued by rank 17"});
  EXPECT_LT(text.size(), 20'000U);
}

TEST(Stalls, ACycleIsADependencyErrorUnlessParityIgnoresIt) {
  TraceBuilder builder;
  const std::vector<NodeId> one{1};
  const std::vector<NodeId> two{2};
  builder.add_node({.id = 1, .type = NodeType::comp, .data_deps = two, .duration_ns = 5});
  builder.add_node({.id = 2, .type = NodeType::comp, .data_deps = one, .duration_ns = 5});
  builder.add_node({.id = 3, .type = NodeType::comp, .duration_ns = 1000});
  const std::vector<TracePtr> traces{builder.build()};
  SimulationConfig config = on({{Topology::ring, 1, 50, 500}});
  EXPECT_THROW(simulate(traces, config), DependencyError);
  config.parity = true;
  const SimulationResult result = simulate(traces, config);
  EXPECT_EQ(result.finish_ns[0], 1000U);
  EXPECT_EQ(result.node_end_ns, (std::vector<std::uint64_t>{never_ended, never_ended, 1000}));
}

}  // namespace
}  // namespace chakra
