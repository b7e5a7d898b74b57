// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "pytorch/launches.hpp"
#include "pytorch/trace_maker.hpp"

namespace chakra::pytorch {
namespace {

using test::ctrl_parents;
using test::data_parents;
using test::row_named;
using test::TraceMaker;

struct Paired {
  CallTree tree;
  Launches launches;

  const DeviceWork& of(std::uint32_t event) const {
    for (const DeviceWork& work : launches.work) {
      if (work.event == event) return work;
    }
    throw std::runtime_error("no work of that event");
  }
  std::uint32_t parent(std::uint32_t event) const {
    const std::uint32_t op = of(event).parent_op;
    return op == no_row ? no_row : tree.frames[op].event;
  }
  std::uint32_t call(std::uint32_t event) const {
    return of(event).call == no_row ? no_row : tree.frames[of(event).call].event;
  }
};

Paired pair(const DeviceTrace& device, OnError on_error = OnError::strict) {
  Paired out;
  out.tree = build_call_tree(device);
  out.launches = pair_launches(device, out.tree, on_error);
  return out;
}

// T19
TEST(Launches, AnOpThatHasEndedIsNoParent) {
  TraceMaker make;
  make.op("ended", 0, 1);
  const auto launch = make.call("cudaLaunchKernel", 100, 5, 3);
  const auto kernel = make.kernel("k", 110, 10, 3);
  const Paired paired = pair(make.device);
  EXPECT_EQ(paired.parent(kernel), no_row);
  EXPECT_EQ(paired.call(kernel), launch);
  EXPECT_EQ(paired.launches.without_op, 1U);
  EXPECT_EQ(paired.launches.orphans, 0U);
}

TEST(Launches, WithoutAnOpTheKernelHangsUnderItsThreadsRoot) {
  TraceMaker make;
  make.op("ended", 0, 1, "1", 5);
  make.call("cudaLaunchKernel", 100, 5, 3);
  make.kernel("k", 110, 10, 3);
  make.node(1, "[pytorch|profiler|execution_trace|process]", 1, 0, 0);
  make.node(2, "[pytorch|profiler|execution_trace|thread]", 1, 0);
  make.node(3, "ended", 2, 5);
  const LinkedTrace linked = make.link_both();
  EXPECT_EQ(linked.report().count("coverage", "no enclosing op"), 1U);
  ConvertOptions ops;
  ops.layout = TraceLayout::ops;
  const TracePtr trace = convert(linked, ops);
  EXPECT_EQ(ctrl_parents(*trace, row_named(*trace, "k")),
            std::vector<std::string>{"[pytorch|profiler|execution_trace|thread]"});
}

// T20
TEST(Launches, TheInnermostOpAroundTheCallIsTheParent) {
  TraceMaker make;
  make.op("record_param_comms", 100, 50);
  const auto gather = make.op("nccl:_all_gather_base", 105, 40);
  make.call("cudaLaunchKernelExC", 110, 5, 5);
  const auto kernel = make.kernel("ncclDevKernel_AllGather", 200, 30, 5);
  EXPECT_EQ(pair(make.device).parent(kernel), gather);
}

TEST(Launches, AnOpThatStartsWithTheCallIsAroundItAndOneThatEndsThereIsNot) {
  TraceMaker make;
  make.op("before", 0, 10);
  const auto around = make.op("around", 10, 10);
  make.call("cudaLaunchKernel", 10, 5, 1);
  const auto kernel = make.kernel("k", 30, 5, 1);
  EXPECT_EQ(pair(make.device).parent(kernel), around);
}

// T21
TEST(Launches, ExternalIdsWhereThereIsNoCorrelation) {
  TraceMaker make;
  const auto first = make.op("first", 0, 10);
  const auto second = make.op("second", 20, 10);
  make.event(make.call("hipLaunchKernel", 2, 2, 0)).external_id = 1;
  make.event(make.call("hipLaunchKernel", 22, 2, 0)).external_id = 2;
  const auto k1 = make.kernel("k1", 5, 5, 0, 0);
  const auto k2 = make.kernel("k2", 25, 5, 0, 0);
  make.event(k1).external_id = 1;
  make.event(k2).external_id = 2;
  const Paired paired = pair(make.device);
  EXPECT_EQ(paired.parent(k1), first);
  EXPECT_EQ(paired.parent(k2), second);
  EXPECT_EQ(paired.launches.by_external_id, 2U);
}

TEST(Launches, AnOpWithTheExternalIdIsAParentButNoLaunch) {
  TraceMaker make;
  const auto op = make.op("op", 0, 10);
  make.event(op).external_id = 9;
  const auto kernel = make.kernel("k", 5, 5, 0);
  make.event(kernel).external_id = 9;
  const Paired paired = pair(make.device);
  EXPECT_EQ(paired.parent(kernel), op);
  EXPECT_EQ(paired.call(kernel), no_row);
  EXPECT_EQ(paired.of(kernel).orphan, Orphan::no_correlation);
}

// T22
TEST(Launches, TwoCallsOfOneCorrelation) {
  TraceMaker make;
  make.call("cudaLaunchKernel", 1, 1, 5);
  const auto later = make.call("cudaGraphLaunch", 3, 1, 5);
  const auto kernel = make.kernel("k", 10, 5, 5);
  try {
    pair(make.device);
    FAIL() << "strict must refuse";
  } catch (const LinkError& error) {
    EXPECT_NE(std::string(error.what()).find("cudaLaunchKernel"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("cudaGraphLaunch"), std::string::npos);
  }
  const Paired recovered = pair(make.device, OnError::recover);
  EXPECT_EQ(recovered.call(kernel), later);
  EXPECT_EQ(recovered.launches.ambiguous, 1U);
}

TEST(Launches, ADriverCallInsideARuntimeCallIsNotAmbiguous) {
  TraceMaker make;
  make.call("cudaLaunchKernel", 1, 9, 5);
  const auto driver = make.call("cuLaunchKernel", 3, 2, 5);
  const auto kernel = make.kernel("k", 12, 5, 5);
  const Paired paired = pair(make.device);
  EXPECT_EQ(paired.call(kernel), driver);
  EXPECT_EQ(paired.launches.ambiguous, 0U);
}

TEST(Launches, ACallAfterTheKernelIsNotItsLaunch) {
  TraceMaker make;
  const auto first = make.call("cudaLaunchKernel", 1, 1, 5);
  make.call("cudaLaunchKernel", 30, 1, 5);
  const auto kernel = make.kernel("k", 10, 5, 5);
  EXPECT_EQ(pair(make.device).call(kernel), first);
}

// T23
TEST(Launches, GraphsAndMemsetsKeepAllTheirWork) {
  TraceMaker make;
  make.op("A", 0, 20);
  make.call("cudaGraphLaunch", 5, 5, 5);
  make.op("B", 30, 20);
  make.call("cudaMemsetAsync", 35, 5, 6);
  make.kernel("k1", 20, 5, 5);
  make.kernel("k2", 26, 5, 5);
  make.kernel("Memset (Device)", 45, 2, 6, 7, DeviceEventKind::memset);
  const TracePtr trace = convert(make.link_device());
  EXPECT_EQ(ctrl_parents(*trace, row_named(*trace, "k1")), std::vector<std::string>{"A"});
  EXPECT_EQ(ctrl_parents(*trace, row_named(*trace, "k2")), std::vector<std::string>{"A"});
  EXPECT_EQ(ctrl_parents(*trace, row_named(*trace, "Memset (Device)")), std::vector<std::string>{"B"});
}

TEST(Launches, OrphansSayWhy) {
  TraceMaker make;
  make.op("op", 0, 10);
  const auto before = make.kernel("launched before the window", 5, 5, 77);
  const auto without = make.kernel("without correlation", 20, 5, 0);
  const Paired paired = pair(make.device);
  EXPECT_EQ(paired.of(before).orphan, Orphan::call_not_in_trace);
  EXPECT_EQ(paired.of(without).orphan, Orphan::no_correlation);
  EXPECT_EQ(paired.launches.orphans, 2U);
  EXPECT_EQ(paired.of(without).previous, 0U);
}

TEST(Launches, StreamsAnswerByTime) {
  TraceMaker make;
  for (int i = 0; i < 5; ++i) make.call("cudaLaunchKernel", 10 * i, 1, static_cast<std::uint64_t>(i + 1));
  for (int i = 0; i < 5; ++i) make.kernel("k", 100 + 20 * i, 15, static_cast<std::uint64_t>(i + 1));
  const Paired paired = pair(make.device);
  const StreamWork& stream = paired.launches.streams.at(0);
  EXPECT_EQ(stream.last_launched_before(0), no_row);
  EXPECT_EQ(stream.last_launched_before(10'000), 0U);
  EXPECT_EQ(stream.last_launched_before(10'001), 1U);
  EXPECT_EQ(stream.first_launched_from(10'000), 1U);
  EXPECT_EQ(stream.first_launched_from(41'000), no_row);
  EXPECT_EQ(stream.last_ended_by(114'999), no_row);
  EXPECT_EQ(stream.last_ended_by(115'000), 0U);
  EXPECT_EQ(stream.outstanding(115'000), 4);
}

TEST(Launches, UntimedWorkStandsAtTheEndOfItsCall) {
  TraceMaker make;
  make.op("op", 100, 50);
  make.call("cudaLaunchKernel", 110, 5, 1);
  const auto kernel = make.kernel("k", 0, 0, 1);
  const Paired paired = pair(make.device);
  EXPECT_EQ(paired.of(kernel).start_ns, 15'000);
  EXPECT_EQ(paired.of(kernel).end_ns, 15'000);
}

}  // namespace
}  // namespace chakra::pytorch
