// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "pytorch/call_tree.hpp"
#include "pytorch/trace_maker.hpp"

namespace chakra::pytorch {
namespace {

using test::TraceMaker;

const Frame& frame_of(const CallTree& tree, std::uint32_t event) { return tree.frames[tree.frame_of_event[event]]; }

std::uint32_t parent_event(const CallTree& tree, std::uint32_t event) {
  const std::uint32_t parent = frame_of(tree, event).parent;
  return parent == no_row ? no_row : tree.frames[parent].event;
}

TEST(CallTree, NestsByTimePerThread) {
  TraceMaker make;
  const auto outer = make.op("outer", 0, 100);
  const auto other = make.op("other thread", 10, 20, "2");
  const auto inner = make.op("inner", 10, 50);
  const auto call = make.call("cudaLaunchKernel", 20, 5, 1);
  const auto after = make.op("after", 60, 10);
  const CallTree tree = build_call_tree(make.device);
  EXPECT_EQ(parent_event(tree, outer), no_row);
  EXPECT_EQ(parent_event(tree, other), no_row);
  EXPECT_EQ(parent_event(tree, inner), outer);
  EXPECT_EQ(parent_event(tree, call), inner);
  EXPECT_EQ(parent_event(tree, after), outer);
  EXPECT_EQ(tree.frames[frame_of(tree, call).op].event, inner);
  EXPECT_EQ(tree.span_ns, 100'000);
}

TEST(CallTree, LongerFirstThenOpsThenFileOrderAtOneStart) {
  TraceMaker make;
  const auto call = make.call("call", 0, 10, 1);
  const auto child = make.op("child", 0, 10);
  const auto parent = make.op("parent", 0, 20);
  const auto twin = make.op("twin", 0, 10);
  const CallTree tree = build_call_tree(make.device);
  EXPECT_EQ(parent_event(tree, child), parent);
  EXPECT_EQ(parent_event(tree, twin), child);
  EXPECT_EQ(parent_event(tree, call), twin);
}

TEST(CallTree, ClipsWhatOutlivesItsCaller) {
  TraceMaker make;
  make.op("caller", 0, 100);
  const auto late = make.op("late", 90, 20);
  const CallTree tree = build_call_tree(make.device);
  EXPECT_EQ(tree.clipped, 1U);
  EXPECT_EQ(frame_of(tree, late).end_ns, 100'000);
}

TEST(CallTree, AnOpEndsBeforeTheNextStartsAtItsEnd) {
  TraceMaker make;
  const auto first = make.op("first", 0, 10);
  const auto second = make.op("second", 10, 10);
  const CallTree tree = build_call_tree(make.device);
  EXPECT_EQ(parent_event(tree, second), no_row);
  EXPECT_NE(frame_of(tree, first).event, frame_of(tree, second).event);
}

TEST(CallTree, EmptyFramesAtOneTimeNest) {
  TraceMaker make;
  const auto outer = make.op("outer", 5, 0);
  const auto inner = make.op("inner", 5, 0);
  const CallTree tree = build_call_tree(make.device);
  EXPECT_EQ(parent_event(tree, inner), outer);
}

TEST(CallTree, BackendAnnotationsAreNoFrames) {
  TraceMaker make;
  const auto op = make.op("c10d::allreduce_", 0, 10);
  const auto gloo = make.annotation("gloo:all_reduce", 5, 50);
  const auto next = make.op("next", 20, 10);
  const CallTree tree = build_call_tree(make.device);
  EXPECT_EQ(tree.frame_of_event[gloo], no_row);
  ASSERT_EQ(tree.backend_annotations.size(), 1U);
  EXPECT_EQ(parent_event(tree, next), no_row);
  EXPECT_EQ(parent_event(tree, op), no_row);
}

TEST(CallTree, BoundsIgnoreUntimedWorkSyncsAndThreadsWithoutOps) {
  TraceMaker make;
  make.op("op", 100, 50);
  make.kernel("untimed", 0, 0, 1);
  make.sync("Context Sync", 1, 1000, 2, -1);
  make.call("cudaEventQuery", 50, 5000, 3, "watchdog");
  make.kernel("kernel", 140, 30, 4);
  const CallTree tree = build_call_tree(make.device);
  EXPECT_EQ(tree.origin_ns, 100'000);
  EXPECT_EQ(tree.span_ns, 70'000);
  EXPECT_EQ(tree.without_time, 1U);
}

TEST(CallTree, RefusesTimesThatNoRecordSpans) {
  TraceMaker make;
  make.event(make.op("first", 0, 1)).start_ns = std::numeric_limits<std::int64_t>::min();
  make.op("last", 1, 1);
  EXPECT_THROW(build_call_tree(make.device), LinkError);
}

TEST(CallTree, EmptyTrace) {
  const CallTree tree = build_call_tree(DeviceTrace{});
  EXPECT_TRUE(tree.frames.empty());
  EXPECT_EQ(tree.span_ns, 0);
}

}  // namespace
}  // namespace chakra::pytorch
