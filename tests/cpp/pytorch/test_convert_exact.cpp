// SPDX-License-Identifier: MIT
#include <random>

#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "chakra_core/replay.hpp"
#include "pytorch/trace_maker.hpp"

namespace chakra::pytorch {
namespace {

using test::ctrl_parents;
using test::data_parents;
using test::row_named;
using test::TraceMaker;
using Names = std::vector<std::string>;

std::uint64_t start(const Trace& trace, std::string_view name) { return trace.start_ns()[row_named(trace, name)]; }
std::uint64_t duration(const Trace& trace, std::string_view name) {
  return trace.duration_ns()[row_named(trace, name)];
}

TEST(ConvertExact, APieceBelongsToWhatBeginsItAndTheTailToThePieceBefore) {
  TraceMaker make;
  make.op("outer", 0, 100);
  make.op("inner", 20, 30);  // the tail of outer, 50 .. 100, stays with inner's piece
  make.op("next", 120, 10);
  const TracePtr trace = convert(make.link_device());
  EXPECT_EQ(trace->size(), 3U);
  EXPECT_EQ(duration(*trace, "outer"), 20'000U);
  EXPECT_EQ(duration(*trace, "inner"), 100'000U);
  EXPECT_EQ(duration(*trace, "next"), 10'000U);
  EXPECT_EQ(trace->attribute(row_named(*trace, "outer"), "exclusive_ns")->value, AttributeValue(std::uint64_t{70'000}));
  EXPECT_EQ(trace->attribute(row_named(*trace, "outer"), "inclusive_ns")->value,
            AttributeValue(std::uint64_t{100'000}));
  EXPECT_EQ(data_parents(*trace, row_named(*trace, "next")), Names{"inner"});
  EXPECT_EQ(ctrl_parents(*trace, row_named(*trace, "inner")), Names{"outer"});
}

TEST(ConvertExact, LaunchBoundWorkIsReleasedWhenItStarts) {
  TraceMaker make;
  make.op("op", 0, 100);
  make.call("cudaLaunchKernel", 10, 5, 1);
  make.kernel("k", 18, 50, 1);
  const TracePtr trace = convert(make.link_device());
  ASSERT_EQ(trace->size(), 3U);
  EXPECT_EQ(duration(*trace, "op"), 18'000U);
  EXPECT_EQ(start(*trace, "cudaLaunchKernel"), 18'000U);
  EXPECT_EQ(data_parents(*trace, row_named(*trace, "k")), Names{"op"});
}

TEST(ConvertExact, LaunchBoundWorkThatStartsLateIsReleasedAtTheCallsEnd) {
  TraceMaker make;
  make.op("op", 0, 100);
  make.call("cudaLaunchKernel", 10, 5, 1);
  make.kernel("k", 60, 5, 1);
  const TracePtr trace = convert(make.link_device());
  EXPECT_EQ(start(*trace, "cudaLaunchKernel"), 15'000U);
  EXPECT_EQ(data_parents(*trace, row_named(*trace, "k")), Names{"lag"});
  EXPECT_EQ(data_parents(*trace, row_named(*trace, "lag")), Names{"op"});
  EXPECT_EQ(duration(*trace, "lag"), 45'000U);
}

TEST(ConvertExact, QueuedWorkWaitsForItsStream) {
  TraceMaker make;
  make.op("op", 0, 300);
  make.call("cudaLaunchKernel", 10, 10, 1);
  make.kernel("first", 14, 100, 1);
  make.call("cudaMemsetAsync", 30, 10, 2);
  make.kernel("second", 115, 5, 2);
  const LinkedTrace linked = make.link_device();
  EXPECT_EQ(linked.model().pieces.launch_latency_ns, 4'000);
  const TracePtr trace = convert(linked);
  EXPECT_EQ(start(*trace, "cudaMemsetAsync"), 34'000U);  // call start + the latency of work that did not queue
  EXPECT_EQ(data_parents(*trace, row_named(*trace, "second")), Names{"lag"});
  EXPECT_EQ(data_parents(*trace, row_named(*trace, "lag")), (Names{"cudaLaunchKernel", "first"}));
  EXPECT_EQ(duration(*trace, "lag"), 1'000U);
}

TEST(ConvertExact, ShortLagsCanBeLeftOut) {
  TraceMaker make;
  make.op("op", 0, 300);
  make.call("cudaLaunchKernel", 10, 10, 1);
  make.kernel("first", 14, 100, 1);
  make.call("cudaLaunchKernelExC", 30, 10, 2);
  make.kernel("second", 115, 5, 2);
  const LinkedTrace linked = make.link_device();
  ConvertOptions options;
  options.lag_min_ns = 2'000;
  const TracePtr trace = convert(linked, options);
  EXPECT_EQ(data_parents(*trace, row_named(*trace, "second")), (Names{"cudaLaunchKernel", "first"}));
  EXPECT_EQ(replay(*trace).start_error_max_ns, 1'000U);
  options.lag_min_ns = -1;
  EXPECT_THROW(convert(linked, options), ConfigError);
}

TEST(ConvertExact, AThreadThatStartsLateBeginsWithAnOffset) {
  TraceMaker make;
  make.op("main", 0, 300);
  make.op("other", 40, 10, "2");
  const TracePtr trace = convert(make.link_device());
  EXPECT_EQ(duration(*trace, "start offset"), 40'000U);
  EXPECT_EQ(data_parents(*trace, row_named(*trace, "other")), Names{"start offset"});
}

TEST(ConvertExact, ForwardToBackwardAcrossThreadsOnly) {
  TraceMaker make;
  make.op("forward", 0, 50);
  make.op("next", 60, 10);
  make.op("backward", 40, 100, "2");
  make.device.flows = {{0, 1, 0, false}, {40'000, 1, 1, true}, {0, 2, 0, false}, {60'000, 2, 0, true}};
  // forward's own piece ends after backward starts: the record contradicts that edge.
  EXPECT_EQ(make.link_device().report().count("edges", "forward to backward"), 0U);
  TraceMaker later;
  later.op("forward", 0, 50);
  later.op("next", 60, 10);
  later.op("backward", 80, 100, "2");
  later.device.flows = {{0, 1, 0, false}, {80'000, 1, 1, true}, {0, 2, 0, false}, {60'000, 2, 0, true}};
  EXPECT_EQ(later.link_device().report().count("edges", "forward to backward"), 1U);
}

TEST(ConvertExact, ABackendCollectiveIsOneNodeBesideTheThreads) {
  TraceMaker make;
  const auto op = make.op("c10d::allreduce_", 100, 80);
  make.arguments(op, "[[[1000]], [], []]", "['TensorList', '', '']");
  const auto gloo = make.annotation("gloo:all_reduce", 110, 200, "worker");
  make.arguments(gloo, "[[1000]]", "['float']");
  make.op("after", 320, 10);
  const TracePtr trace = convert(make.link_device());
  const NodeIndex comm = row_named(*trace, "gloo:all_reduce");
  EXPECT_EQ(trace->types()[comm], NodeType::comm_coll);
  EXPECT_EQ(trace->is_cpu_op().get(comm), std::uint8_t{0});
  EXPECT_EQ(trace->column(IntegerAttribute::comm_size).get(comm), 4000);
  EXPECT_EQ(data_parents(*trace, comm), Names{"c10d::allreduce_"});
  EXPECT_EQ(trace->duration_ns()[comm], 200'000U);
  EXPECT_EQ(trace->types()[row_named(*trace, "after")], NodeType::comp);
  EXPECT_EQ(replay(*trace).start_error_max_ns, 0U);
  // The idle time before "after" waits for the collective, so "after" moves with it.
  std::size_t waiting = 0;
  for (const NodeIndex child : trace->children()[comm]) {
    ++waiting;
    EXPECT_EQ(trace->duration_ns()[child], 10'000U);
  }
  EXPECT_EQ(waiting, 1U);
}

TEST(ConvertExact, BackendSendsCarryPeerAndTag) {
  TraceMaker make;
  const auto op = make.op("c10d::send", 100, 20);
  make.arguments(op, "[[[16]], [], [], []]", "['TensorList', '', 'Scalar', 'Scalar']").concrete_inputs =
      make.device.strings.intern("['', '', '1', '3']");
  const auto gloo = make.annotation("gloo:send", 110, 100);
  make.arguments(gloo, "[[16]]", "['float']");
  make.device.distributed.rank = 0;
  const TracePtr trace = convert(make.link_device());
  const NodeIndex send = row_named(*trace, "gloo:send");
  EXPECT_EQ(trace->types()[send], NodeType::comm_send);
  EXPECT_EQ(trace->column(IntegerAttribute::comm_src).get(send), 0);
  EXPECT_EQ(trace->column(IntegerAttribute::comm_dst).get(send), 1);
  EXPECT_EQ(trace->column(IntegerAttribute::comm_tag).get(send), 3);
  EXPECT_EQ(trace->column(IntegerAttribute::comm_size).get(send), 64);
}

// T28
TEST(ConvertExact, SubMicrosecondKernelsAndRanksFromNames) {
  TraceMaker make;
  make.op("nccl:send 0->1", 10, 30);
  make.call("cudaLaunchKernelExC", 15, 5, 1);
  const auto kernel = make.kernel("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", 25, 0, 1, 20);
  make.event(kernel).duration_ns = 768;
  const TracePtr trace = convert(make.link_device());
  const NodeIndex send = row_named(*trace, "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)");
  EXPECT_EQ(trace->types()[send], NodeType::comm_send);
  EXPECT_EQ(trace->duration_ns()[send], 768U);
  EXPECT_EQ(trace->column(IntegerAttribute::comm_src).get(send), 0);
  EXPECT_EQ(trace->column(IntegerAttribute::comm_dst).get(send), 1);
}

TEST(ConvertExact, ProcessGroupsBecomeAMetadataNode) {
  TraceMaker make;
  make.op("op", 0, 10);
  make.device.distributed.groups = {{"0", "default_pg", "cpu:gloo", 2, {0, 1}}};
  const TracePtr trace = convert(make.link_device());
  const NodeIndex init = row_named(*trace, "## process_group:init ##");
  EXPECT_EQ(trace->types()[init], NodeType::metadata);
  EXPECT_EQ(trace->inputs(init).values,
            "['[{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", \"backend_config\": \"cpu:gloo\", \"ranks\": [0, 1], "
            "\"group_size\": 2, \"group_count\": 1}]']");
}

// Random traces: threads with nested ops and calls, streams in order, synchronisation of every kind.
class RandomTrace {
 public:
  explicit RandomTrace(std::uint32_t seed) : random_(seed) {}

  TraceMaker make() {
    const int threads = 1 + pick(3);
    for (int t = 0; t < threads; ++t) {
      thread_ = std::to_string(t + 1);
      clock_ = pick(30);
      const int tops = 3 + pick(12);
      for (int i = 0; i < tops; ++i) {
        op(0);
        if (pick(4) == 0) clock_ += pick(60);
      }
    }
    return std::move(maker_);
  }

 private:
  int pick(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }

  void op(int depth) {
    const std::int64_t start = clock_;
    // The length is known only when the children are: the row is filled in at the end.
    const bool annotates = pick(6) == 0;
    const std::uint32_t row =
        annotates ? maker_.annotation("annotation", start, 0, thread_) : maker_.op("op", start, 0, thread_);
    clock_ += pick(4);
    const int children = depth < 3 ? pick(4) : 0;
    for (int i = 0; i < children; ++i) {
      if (pick(2) == 0) {
        op(depth + 1);
      } else {
        call();
      }
      clock_ += pick(3);
    }
    if (pick(12) == 0) backend_comm(start);
    maker_.event(row).duration_ns = (clock_ - start) * 1000;
  }

  void call() {
    switch (pick(6)) {
      case 0:
        maker_.call("cudaStreamSynchronize", clock_, pick(40), next_++, thread_);
        break;
      case 1:
        maker_.call("cudaDeviceSynchronize", clock_, pick(40), next_++, thread_);
        break;
      case 2:
        maker_.call("cudaEventSynchronize", clock_, pick(40), next_++, thread_);
        break;
      case 3:
        maker_.call(pick(2) == 0 ? "cudaStreamWaitEvent" : "cudaEventRecord", clock_, pick(3), next_++, thread_);
        break;
      default:
        launch();
        return;
    }
    clock_ += maker_.device.events.back().duration_ns / 1000;
  }

  void launch() {
    const std::uint64_t correlation = pick(10) == 0 ? 0 : next_++;
    const std::int64_t duration = pick(8);
    maker_.call(pick(3) == 0 ? "cudaMemcpyAsync" : "cudaLaunchKernel", clock_, duration, correlation, thread_);
    const int works = pick(8) == 0 ? 3 : 1;
    const int stream = pick(3);
    for (int i = 0; i < works; ++i) {
      std::int64_t& free_at = free_at_[stream];
      const std::int64_t start = std::max(clock_ + pick(30), free_at);
      const std::int64_t length = pick(25);
      static constexpr const char* names[] = {"k", "Memcpy DtoH (Device -> Pageable)",
                                              "Memcpy HtoD (Pageable -> Device)", "ncclDevKernel_AllReduce"};
      const int kind = pick(4);
      maker_.kernel(names[kind], start, length, correlation, stream,
                    kind == 1 || kind == 2 ? DeviceEventKind::memcpy : DeviceEventKind::kernel);
      free_at = start + length;
    }
    clock_ += duration;
  }

  void backend_comm(std::int64_t start) {
    maker_.op("c10d::allreduce_", start, 1, thread_);
    maker_.annotation("gloo:all_reduce", start + pick(40), pick(60), "worker " + std::to_string(pick(2)));
  }

  std::mt19937 random_;
  TraceMaker maker_;
  std::string thread_;
  std::int64_t clock_ = 0;
  std::uint64_t next_ = 1;
  std::int64_t free_at_[3] = {0, 0, 0};
};

class RandomTraces : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(RandomTraces, ReplayExactlyAndAscend) {
  TraceMaker maker = RandomTrace(GetParam()).make();
  std::size_t expected = 0;
  for (const DeviceEvent& event : maker.device.events) {
    expected += event.kind != DeviceEventKind::runtime_call ? 1 : 0;
  }
  const LinkedTrace linked = maker.link_device(OnError::recover);
  const TracePtr trace = convert(linked);
  // Every op, device event and communication gives a node.
  EXPECT_GE(trace->size(), expected);
  for (NodeIndex row = 0; row < trace->size(); ++row) {
    for (const NodeIndex parent : trace->data_deps()[row]) EXPECT_LT(parent, row);
    for (const NodeIndex parent : trace->ctrl_deps()[row]) EXPECT_LT(parent, row);
  }
  const ReplayReport data = replay(*trace);
  EXPECT_EQ(data.recorded_ns, linked.span_ns());
  EXPECT_EQ(data.replayed_ns, data.recorded_ns);
  EXPECT_EQ(data.start_error_max_ns, 0U);
  EXPECT_EQ(data.inversions, 0U);
  EXPECT_EQ(replay(*trace, ReplayDependencies::both).start_error_max_ns, 0U);
  ConvertOptions ops;
  ops.layout = TraceLayout::ops;
  const TracePtr by_op = convert(linked, ops);
  EXPECT_EQ(by_op->size(), expected);
  EXPECT_NO_THROW(replay(*by_op, ReplayDependencies::data)) << "the layout must be free of cycles";
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTraces, ::testing::Range(0U, 300U));

}  // namespace
}  // namespace chakra::pytorch
