// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "sim/workload.hpp"

namespace chakra {
namespace {

using testing::on;
using testing::RankTrace;

std::vector<TracePtr> one_message(std::uint32_t npus, std::uint32_t src, std::uint32_t dst, std::int64_t bytes) {
  std::vector<TracePtr> traces;
  for (std::uint32_t r = 0; r < npus; ++r) {
    RankTrace trace;
    if (r == src) trace.send(dst, bytes);
    if (r == dst) trace.receive(src, bytes);
    traces.push_back(trace.build());
  }
  return traces;
}

TEST(PointToPoint, T35OverTwoDimensions) {
  SimulationConfig config = on({{Topology::ring, 4, 50, 100}, {Topology::ring, 2, 50, 1000}});
  const auto traces = one_message(8, 0, 5, 1 << 20);
  EXPECT_EQ(simulate(traces, config).finish_ns[5], 20'631U);
  config.congestion = true;
  EXPECT_EQ(simulate(traces, config).finish_ns[5], 40'162U);
  config.congestion = false;
  config.parity = true;
  EXPECT_EQ(simulate(traces, config).finish_ns[5], 19'631U);
}

TEST(PointToPoint, RendezvousWaitsForTheReceiver) {
  SimulationConfig config = on({{Topology::ring, 4, 50, 100}});
  const std::vector<TracePtr> traces{
      RankTrace().send(1, 1 << 20).build(),
      RankTrace().compute(5000).then().receive(0, 1 << 20).build(),
      RankTrace().build(),
      RankTrace().build(),
  };
  EXPECT_EQ(simulate(traces, config).finish_ns[1], 19'631U);
  config.rendezvous_protocol = true;
  // The control message of 8192 bytes goes back first: 100 + 152 ns.
  EXPECT_EQ(simulate(traces, config).finish_ns[1], 5000U + 252 + 19'631);
  EXPECT_EQ(simulate(traces, config).finish_ns[0], 5000U + 252 + 19'631);
}

TEST(PointToPoint, SizesFromTwoGiBAreCutInParityRendezvousOnly) {
  SimulationConfig config = on({{Topology::ring, 4, 50, 100}});
  config.rendezvous_protocol = true;
  const auto traces = one_message(4, 0, 1, std::int64_t{5} << 30);
  const std::uint64_t one_gib = 252 + 100 + 20'000'000;
  EXPECT_NEAR(static_cast<double>(simulate(traces, config).finish_ns[1]), 100'000'352, 1);
  config.parity = true;
  EXPECT_NEAR(static_cast<double>(simulate(traces, config).finish_ns[1]), static_cast<double>(one_gib), 1);
}

TEST(PointToPoint, ALinkServesOneMessageAfterTheOther) {
  SimulationConfig config = on({{Topology::ring, 4, 50, 100}});
  config.congestion = true;
  const std::vector<TracePtr> traces{
      RankTrace().send(1, 1 << 20).build(),
      RankTrace().receive(0, 1 << 20).receive(3, 1 << 20, 7).build(),
      RankTrace().build(),
      RankTrace().send(1, 1 << 20, 7).build(),
  };
  // The message from 3 goes by way of 0: it is there after 19,631 ns, when the link to 1 is free again.
  EXPECT_EQ(simulate(traces, config).finish_ns[1], 2 * 19'631U);
  const SimulationResult result = simulate(traces, config);
  EXPECT_EQ(result.finish_ns[0], 19'631U);
}

TEST(PointToPoint, MessagesOfOneKeyMeetInOrder) {
  const SimulationConfig config = on({{Topology::ring, 2, 50, 100}});
  const std::vector<TracePtr> traces{
      RankTrace().send(1, 1 << 20).then().compute(1000).then().send(1, 1 << 20).build(),
      RankTrace().compute(1'000'000).then().receive(0, 1 << 20).receive(0, 1 << 20).build(),
  };
  const SimulationResult result = simulate(traces, config);
  EXPECT_EQ(result.finish_ns[0], 2 * 19'631U + 1000);
  EXPECT_EQ(result.finish_ns[1], 1'000'000U) << "both were there before";
  EXPECT_TRUE(result.warnings.empty());
}

TEST(PointToPoint, ToOneselfAndOfNoBytesWorksByDefault) {
  for (const bool congestion : {false, true}) {
    SimulationConfig config = on({{Topology::ring, 2, 50, 100}});
    config.congestion = congestion;
    const std::vector<TracePtr> traces{
        RankTrace().send(0, 1 << 20).receive(0, 1 << 20).send(1, 0).build(),
        RankTrace().receive(0, 0).build(),
    };
    const SimulationResult result = simulate(traces, config);
    EXPECT_EQ(result.finish_ns[0], 100U);
    EXPECT_EQ(result.finish_ns[1], 100U);
    config.parity = true;
    EXPECT_ANY_THROW(simulate(traces, config));
  }
}

TEST(PointToPoint, AMessageThatNobodyReceivesIsCounted) {
  const SimulationConfig config = on({{Topology::ring, 2, 50, 100}});
  const std::vector<TracePtr> traces{RankTrace().send(1, 64).build(), RankTrace().compute(5).build()};
  EXPECT_EQ(simulate(traces, config).warnings, std::vector<std::string>{"1 messages were sent and never received"});
}

}  // namespace
}  // namespace chakra
