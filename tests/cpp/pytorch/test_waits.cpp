// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "pytorch/calls.hpp"
#include "pytorch/hand_over.hpp"
#include "pytorch/trace_maker.hpp"

namespace chakra::pytorch {
namespace {

using test::data_parents;
using test::row_named;
using test::TraceMaker;

// Names of work that calls wait for, by the reports and the graph.
std::vector<std::string> waited_for(const LinkedTrace& linked) {
  std::vector<std::string> names;
  const LinkedModel& model = linked.model();
  for (const CpuWait& wait : model.cpu_waits.waits) {
    const DeviceEvent& event = model.device->events[model.launches.work[wait.work].event];
    names.emplace_back(model.device->strings.view(event.name));
  }
  return names;
}

using Edges = std::vector<std::string>;
Edges stream_edges(const LinkedTrace& linked) {
  Edges edges;
  const LinkedModel& model = linked.model();
  const auto name = [&model](std::uint32_t work) {
    return std::string(model.device->strings.view(model.device->events[model.launches.work[work].event].name));
  };
  for (const StreamWait& wait : model.stream_waits.waits) {
    edges.push_back(name(wait.source) + " -> " + name(wait.target) + " (" + std::string(to_string(wait.kind)) + ")");
  }
  return edges;
}

void launch(TraceMaker& make, std::string_view kernel, std::int64_t call, std::int64_t start, std::int64_t dur,
            std::uint64_t correlation, std::int64_t stream = 7) {
  make.call("cudaLaunchKernel", call, 5, correlation);
  make.kernel(kernel, start, dur, correlation, stream);
}

TEST(CpuWaits, CallRoles) {
  EXPECT_EQ(call_role("cudaStreamSynchronize"), CallRole::stream_synchronize);
  EXPECT_EQ(call_role("cudaDeviceSynchronize_v3020"), CallRole::device_synchronize);
  EXPECT_EQ(call_role("cuCtxSynchronize"), CallRole::device_synchronize);
  EXPECT_EQ(call_role("hipEventSynchronize"), CallRole::event_synchronize);
  EXPECT_EQ(call_role("cudaEventQuery"), CallRole::event_query);
  EXPECT_EQ(call_role("cudaEventRecordWithFlags_ptsz"), CallRole::event_record);
  EXPECT_EQ(call_role("cudaStreamWaitEvent"), CallRole::stream_wait_event);
  EXPECT_EQ(call_role("cudaMemcpyAsync_ptsz"), CallRole::memcpy);
  EXPECT_EQ(call_role("hipMemcpyWithStream"), CallRole::memcpy_block);
  EXPECT_EQ(call_role("cudaLaunchKernel"), CallRole::other);
}

TEST(CpuWaits, StreamSynchronizeWaitsForTheThreadsStreamAndCostsOnlyItsOwn) {
  TraceMaker make;
  make.op("op", 0, 200);
  launch(make, "a", 10, 20, 30, 1);
  launch(make, "b", 30, 60, 50, 2);
  make.call("cudaStreamSynchronize", 40, 75, 9);
  launch(make, "later", 150, 160, 10, 3);
  const LinkedTrace linked = make.link_device();
  EXPECT_EQ(waited_for(linked), Edges{"b"});
  const TracePtr trace = convert(linked);
  const NodeIndex wait = row_named(*trace, "cudaStreamSynchronize");
  EXPECT_EQ(trace->start_ns()[wait], 110'000U);
  EXPECT_EQ(trace->attribute(wait, "piece")->value, AttributeValue(std::string("wait")));
  EXPECT_EQ(data_parents(*trace, wait).back(), "b");
}

TEST(CpuWaits, TheRecordedStreamWins) {
  TraceMaker make;
  make.op("op", 0, 200);
  launch(make, "a", 10, 20, 30, 1, 7);
  launch(make, "b", 30, 40, 10, 2, 8);
  make.call("cudaStreamSynchronize", 40, 20, 9);
  make.sync("Stream Sync", 40, 20, 9, 7);
  EXPECT_EQ(waited_for(make.link_device()), Edges{"a"});
}

TEST(CpuWaits, DeviceSynchronizeWaitsForEveryStream) {
  TraceMaker make;
  make.op("op", 0, 200);
  launch(make, "a", 10, 20, 30, 1, 7);
  launch(make, "b", 30, 40, 10, 2, 8);
  make.call("cudaDeviceSynchronize", 40, 20, 9);
  make.sync("Context Sync", 40, 20, 9, -1);
  EXPECT_EQ(waited_for(make.link_device()), (Edges{"a", "b"}));
}

TEST(CpuWaits, WhatEndsAfterTheCallIsNotWaitedFor) {
  TraceMaker make;
  make.op("op", 0, 200);
  launch(make, "a", 10, 20, 130, 1);
  make.call("cudaStreamSynchronize", 40, 20, 9);
  const LinkedTrace linked = make.link_device();
  EXPECT_TRUE(waited_for(linked).empty());
  EXPECT_EQ(linked.report().count("dropped", "CPU waits that the record contradicts"), 1U);
}

TEST(CpuWaits, EventSynchronizeWaitsForTheRecord) {
  TraceMaker make;
  make.op("op", 0, 200);
  launch(make, "a", 10, 20, 30, 1);
  make.call("cudaEventRecord", 16, 2, 4);
  launch(make, "b", 20, 55, 10, 2);
  make.call("cudaEventSynchronize", 30, 25, 9);
  make.sync("Event Sync", 30, 25, 9, -1, 7, 4);
  EXPECT_EQ(waited_for(make.link_device()), Edges{"a"});
}

TEST(CpuWaits, EventSynchronizeOfAnUnrecordedEventIsCounted) {
  TraceMaker make;
  make.op("op", 0, 200);
  launch(make, "a", 10, 20, 30, 1);
  make.call("cudaEventSynchronize", 30, 25, 9);
  make.sync("Event Sync", 30, 25, 9, -1, 7, 1234);
  const LinkedTrace linked = make.link_device();
  EXPECT_TRUE(waited_for(linked).empty());
  EXPECT_EQ(linked.report().count("unexplained", "event synchronizes without their record"), 1U);
}

TEST(CpuWaits, EventSynchronizeWithoutIdentifiersGoesByTime) {
  TraceMaker make;
  make.op("op", 0, 200);
  launch(make, "a", 10, 20, 30, 1);
  make.call("cudaEventRecord", 16, 2, 4);
  launch(make, "b", 20, 52, 30, 2);
  make.call("cudaEventSynchronize", 30, 25, 9);  // a ends inside
  make.call("cudaEventSynchronize", 90, 5, 10);  // nothing ends inside
  const LinkedTrace linked = make.link_device();
  EXPECT_EQ(waited_for(linked), Edges{"a"});
  EXPECT_EQ(linked.report().count("unexplained", "event synchronizes without a source"), 1U);
}

TEST(CpuWaits, PollingWaitsForNothing) {
  TraceMaker make;
  make.op("op", 0, 200);
  launch(make, "a", 10, 20, 30, 1);
  make.call("cudaEventRecord", 16, 2, 4);
  make.call("cudaEventQuery", 60, 5, 9);
  make.sync("Event Sync", 60, 5, 9, -1, 7, 4);
  EXPECT_TRUE(waited_for(make.link_device()).empty());
}

struct CopyCase {
  const char* api;
  const char* name;
  std::int64_t copy_end;  // the call is 100 .. 200, the work before ends at 150
  Edges waits;
};

class CopyWaits : public ::testing::TestWithParam<CopyCase> {};

TEST_P(CopyWaits, Rule) {
  TraceMaker make;
  make.op("op", 0, 400);
  launch(make, "before", 10, 20, 130, 1);
  make.call(GetParam().api, 100, 100, 2);
  make.kernel(GetParam().name, 160, GetParam().copy_end - 160, 2, 7, DeviceEventKind::memcpy);
  EXPECT_EQ(waited_for(make.link_device()), GetParam().waits);
}

INSTANTIATE_TEST_SUITE_P(
    Table, CopyWaits,
    ::testing::Values(
        CopyCase{"cudaMemcpyAsync", "Memcpy DtoH (Device -> Pageable)", 190, {"Memcpy DtoH (Device -> Pageable)"}},
        CopyCase{"cudaMemcpyAsync", "Memcpy DtoH (Device -> Pageable)", 210, {}},
        CopyCase{"cudaMemcpyAsync", "Memcpy DtoH (Device -> Pinned)", 190, {}},
        CopyCase{"cudaMemcpy", "Memcpy DtoH (Device -> Pinned)", 190, {"Memcpy DtoH (Device -> Pinned)"}},
        CopyCase{"hipMemcpyWithStream", "Memcpy HtoD (Host -> Device)", 190, {"Memcpy HtoD (Host -> Device)"}},
        CopyCase{"cudaMemcpyAsync", "Memcpy HtoD (Pageable -> Device)", 210, {"before"}},
        CopyCase{"cudaMemcpyAsync", "Memcpy HtoD (Pinned -> Device)", 210, {}},
        CopyCase{"cudaMemcpyAsync", "Memcpy DtoD (Device -> Device)", 190, {}},
        CopyCase{"cudaMemcpy", "Memcpy DtoD (Device -> Device)", 190, {}}));

TEST(CpuWaits, AFullLaunchQueueBlocksTheLaunch) {
  TraceMaker make;
  make.op("op", 0, 20'000);
  // 1100 launches 1 us apart; each kernel takes 100 us, so the queue fills; launch 1050 is blocked for 200 us.
  std::int64_t call = 10;
  for (std::uint64_t i = 0; i < 1100; ++i) {
    const std::int64_t dur = i == 1050 ? 200 : 1;
    make.call("cudaLaunchKernel", call, dur, i + 1);
    make.kernel("k" + std::to_string(i), 20 + 100 * static_cast<std::int64_t>(i), 100, i + 1);
    call += dur;
  }
  // Blocked from 1060 to 1260; k11 ends at 1220.
  EXPECT_EQ(waited_for(make.link_device()), Edges{"k11"});
}

// --- streams ---

TEST(StreamWaits, RecordedWaitsNameBothSides) {
  TraceMaker make;
  make.op("op", 0, 500);
  launch(make, "a", 10, 20, 50, 1, 7);
  make.call("cudaEventRecord", 16, 1, 4);
  launch(make, "b", 20, 75, 50, 2, 7);
  make.call("cudaStreamWaitEvent", 30, 1, 5);
  make.sync("Stream Wait Event", 30, 1, 5, 20, 7, 4);
  launch(make, "c", 40, 80, 10, 3, 20);
  EXPECT_EQ(stream_edges(make.link_device()), Edges{"a -> c (event)"});
}

TEST(StreamWaits, RecordedWaitsWithoutWorkAreCounted) {
  TraceMaker make;
  make.op("op", 0, 500);
  launch(make, "a", 10, 20, 50, 1, 7);
  make.call("cudaEventRecord", 16, 1, 4);
  make.call("cudaStreamWaitEvent", 30, 1, 5);
  make.sync("Stream Wait Event", 30, 1, 5, 20, 7, 4);
  const LinkedTrace linked = make.link_device();
  EXPECT_TRUE(stream_edges(linked).empty());
  EXPECT_EQ(linked.report().count("dropped", "stream waits without work on one side"), 1U);
}

TEST(StreamWaits, ACollectiveWaitsForTheWorkBeforeIt) {
  TraceMaker make;
  launch(make, "gradient", 10, 20, 50, 1, 7);
  make.op("c10d::allreduce_", 30, 30);
  make.call("cudaStreamWaitEvent", 35, 1, 4);
  make.call("cudaStreamWaitEvent", 37, 1, 5);  // internal to NCCL
  make.call("cudaLaunchKernelExC", 40, 5, 2);
  make.kernel("ncclDevKernel_AllReduce", 75, 100, 2, 20);
  EXPECT_EQ(stream_edges(make.link_device()), Edges{"gradient -> ncclDevKernel_AllReduce (pre-comm)"});
}

TEST(StreamWaits, WaitingInAFrameOfItsOwnAndAtTheEnd) {
  TraceMaker make;
  make.op("nccl:all_reduce", 0, 20);
  make.call("cudaLaunchKernelExC", 5, 5, 1);
  make.kernel("ncclDevKernel_AllReduce_1", 20, 30, 1, 20);
  make.op("record_param_comms", 60, 10);
  make.call("cudaStreamWaitEvent", 62, 1, 4);
  launch(make, "step 1", 75, 85, 10, 2, 7);
  make.op("nccl:all_reduce", 100, 20);
  make.call("cudaLaunchKernelExC", 105, 5, 3);
  make.kernel("ncclDevKernel_AllReduce_2", 120, 30, 3, 20);
  launch(make, "between", 130, 140, 5, 6, 7);
  make.call("cudaStreamWaitEvent", 160, 1, 5);  // outside every frame
  launch(make, "step 2", 170, 180, 10, 7, 7);
  EXPECT_EQ(stream_edges(make.link_device()), (Edges{"ncclDevKernel_AllReduce_1 -> step 1 (wait-comm)",
                                                     "ncclDevKernel_AllReduce_2 -> step 2 (wait-comm)"}));
}

TEST(StreamWaits, AfterTheLaunchInItsFrameOnlyTheSecondWaitCounts) {
  TraceMaker make;
  make.op("c10d::allreduce_", 0, 60);
  make.call("cudaLaunchKernelExC", 5, 5, 1);
  make.kernel("ncclDevKernel_AllReduce", 20, 30, 1, 20);
  make.call("cudaStreamWaitEvent", 12, 1, 4);
  make.call("cudaStreamWaitEvent", 14, 1, 5);
  launch(make, "next", 70, 80, 10, 2, 7);
  EXPECT_EQ(stream_edges(make.link_device()), Edges{"ncclDevKernel_AllReduce -> next (sync-comm)"});
}

TEST(StreamWaits, OfUnknownSourceAreCounted) {
  TraceMaker make;
  make.op("op", 0, 100);
  make.call("cudaStreamWaitEvent", 12, 1, 4);
  launch(make, "only stream", 20, 30, 10, 2, 7);
  const LinkedTrace linked = make.link_device();
  EXPECT_TRUE(stream_edges(linked).empty());
  EXPECT_EQ(linked.report().count("unexplained", "stream waits of unknown source"), 1U);
}

// --- threads ---

TEST(HandOver, ForwardToBackwardAndBack) {
  TraceMaker make;
  make.op("forward", 0, 100);
  make.annotation("## backward ##", 100, 130);  // spans the wait
  make.op("optimizer", 215, 50);
  make.op("backward", 110, 100, "2");
  const std::vector<HandOver> found = find_hand_overs(build_call_tree(make.device));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].idle_from_ns, 100'000);
  EXPECT_EQ(found[0].resumes_ns, 215'000);
  EXPECT_EQ(found[0].source_end_ns, 210'000);
  EXPECT_EQ(found[1].idle_from_ns, 0);
  EXPECT_EQ(found[1].source_end_ns, 100'000);
  const TracePtr trace = convert(make.link_device());
  const NodeIndex backward = row_named(*trace, "start offset");
  EXPECT_EQ(data_parents(*trace, backward), std::vector<std::string>{"forward"});
  EXPECT_EQ(trace->duration_ns()[backward], 10'000U);
}

TEST(HandOver, AThreadThatGoesOnIsNotWaitedFor) {
  TraceMaker make;
  make.op("a", 0, 100);
  make.op("b", 200, 100);
  make.op("long", 0, 400, "2");
  EXPECT_TRUE(find_hand_overs(build_call_tree(make.device)).empty());
}

TEST(HandOver, ShortActivityExplainsNoLongGap) {
  TraceMaker make;
  make.op("a", 0, 100);
  make.op("b", 300, 100);
  make.op("blip", 290, 5, "2");
  for (const HandOver& hand_over : find_hand_overs(build_call_tree(make.device))) {
    EXPECT_NE(hand_over.idle_from_ns, 100'000) << "5 us of activity do not explain a gap of 200 us";
  }
}

TEST(HandOver, WatchdogsNeitherWaitNorAreWaitedFor) {
  TraceMaker make;
  make.op("a", 0, 100);
  make.op("b", 200, 100);
  make.call("cudaEventQuery", 100, 95, 1, "watchdog");
  EXPECT_TRUE(find_hand_overs(build_call_tree(make.device)).empty());
}

}  // namespace
}  // namespace chakra::pytorch
