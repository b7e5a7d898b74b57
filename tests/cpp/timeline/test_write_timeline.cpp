// SPDX-License-Identifier: MIT
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "chakra_core/errors.hpp"
#include "chakra_core/timeline.hpp"
#include "chakra_core/trace_builder.hpp"

namespace chakra {
namespace {

class WriteTimeline : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("timeline-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    TraceBuilder builder;
    builder.add_node({.id = 5, .name = "mul", .type = NodeType::comp});
    const std::vector<Attribute> attributes = {make_int64("comm_size", 64), make_int64("comm_type", 0)};
    builder.add_node({.id = 9, .name = "sum", .type = NodeType::comm_coll, .attributes = attributes});
    process_.name = "rank 0";
    process_.tracks = {"compute", "comm"};
    process_.trace = builder.build();
    process_.rows = rows_;
    process_.track = track_;
    process_.start_ns = start_;
    process_.end_ns = end_;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Timeline picture() const { return {{&process_, 1}, flows_, counters_}; }

  std::string written(const std::string& name) {
    write_timeline(picture(), folder_ / name);
    std::ifstream file(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void expect_refused(const std::string& part) {
    try {
      write_timeline(picture(), folder_ / "bad.json");
      FAIL() << "not refused";
    } catch (const ChakraError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder_));
  }

  std::filesystem::path folder_;
  std::vector<NodeIndex> rows_ = {1, 0};
  std::vector<std::uint32_t> track_ = {1, 0};
  std::vector<std::uint64_t> start_ = {1500, 0};
  std::vector<std::uint64_t> end_ = {2750, 1500};
  TimelineProcess process_;
  std::vector<TimelineFlow> flows_ = {};
  std::vector<TimelineCounter> counters_ = {};
};

TEST_F(WriteTimeline, ChromeJsonIsWhatTheFormatSays) {
  EXPECT_EQ(written("run.json"), R"({"displayTimeUnit":"ns","traceEvents":[
{"ph":"M","pid":0,"name":"process_name","args":{"name":"rank 0"}},
{"ph":"M","pid":0,"name":"process_sort_index","args":{"sort_index":1}},
{"ph":"M","pid":0,"tid":1,"name":"thread_name","args":{"name":"compute"}},
{"ph":"M","pid":0,"tid":1,"name":"thread_sort_index","args":{"sort_index":1}},
{"ph":"X","pid":0,"tid":1,"ts":0.000,"dur":1.500,"name":"mul","cat":"COMP_NODE","args":{"node":5}},
{"ph":"M","pid":0,"tid":2,"name":"thread_name","args":{"name":"comm"}},
{"ph":"M","pid":0,"tid":2,"name":"thread_sort_index","args":{"sort_index":2}},
{"ph":"X","pid":0,"tid":2,"ts":1.500,"dur":1.250,"name":"sum","cat":"COMM_COLL_NODE",)"
                                 R"("args":{"node":9,"comm_size":64,"comm_type":"ALL_REDUCE"}}
]}
)");
}

TEST_F(WriteTimeline, FormatFollowsTheName) {
  EXPECT_EQ(timeline_format("a/run.json"), TimelineFormat::chrome_json);
  EXPECT_EQ(timeline_format("run.json.gz"), TimelineFormat::chrome_json);
  EXPECT_EQ(timeline_format("run.pftrace"), TimelineFormat::perfetto);
  EXPECT_EQ(timeline_format("run.gz"), TimelineFormat::perfetto);
  EXPECT_EQ(written("run.json.gz").substr(0, 2), "\x1f\x8b");
  EXPECT_EQ(written("run.pftrace")[0], '\x0a');
}

TEST_F(WriteTimeline, EqualInputGivesEqualBytes) {
  EXPECT_EQ(written("a.pftrace.gz"), written("b.pftrace.gz"));
  EXPECT_EQ(written("a.pftrace"), written("b.pftrace"));
}

TEST_F(WriteTimeline, BadColumnsAreRefusedAndLeaveNoFile) {
  process_.end_ns = std::span(end_).first(1);
  expect_refused("unequal lengths: rows 2, track 2, start_ns 2, end_ns 1");
  process_.end_ns = end_;
  rows_[1] = 2;
  expect_refused("slice 1 of 'rank 0' has row 2 of a trace of 2 rows");
  rows_[1] = 0;
  track_[0] = 2;
  expect_refused("slice 0 of 'rank 0' has track 2 of 2");
  track_[0] = 1;
  end_[0] = 1499;
  expect_refused("slice 0 of 'rank 0' has an end at 1499 ns before its start at 1500 ns");
  end_[0] = 1500;
  process_.trace = nullptr;
  expect_refused("'rank 0' has no trace");
}

TEST_F(WriteTimeline, ArrowsAndCounters) {
  const std::vector<std::uint64_t> times = {0, 1500};
  const std::vector<double> values = {12.5, 0};
  flows_ = {{0, 1, 0, 0}};
  counters_ = {{"network", "dimension 0", "%", times, values}};
  const std::string text = written("run.json");
  EXPECT_NE(text.find(R"({"ph":"s","pid":0,"tid":1,"ts":0.000,"id":1,"name":"message","cat":"message"})"),
            std::string::npos);
  EXPECT_NE(text.find(R"({"ph":"f","pid":0,"tid":2,"ts":1.500,"id":1,"name":"message","cat":"message","bp":"e"})"),
            std::string::npos);
  EXPECT_NE(text.find(R"({"ph":"M","pid":1,"name":"process_name","args":{"name":"network"}})"), std::string::npos);
  EXPECT_NE(text.find(R"({"ph":"C","pid":1,"ts":0.000,"name":"dimension 0","args":{"%":12.5}})"), std::string::npos);
  EXPECT_NE(text.find(R"({"ph":"C","pid":1,"ts":1.500,"name":"dimension 0","args":{"%":0}})"), std::string::npos);
}

TEST_F(WriteTimeline, BadArrowsAndCountersAreRefused) {
  flows_ = {{0, 1, 0, 2}};
  expect_refused("flow 0 has slice 2 of process 0, which does not exist");
  flows_ = {{1, 0, 0, 0}};
  expect_refused("flow 0 has slice 0 of process 1, which does not exist");
  flows_.clear();
  std::vector<std::uint64_t> times = {0, 1500};
  const std::vector<double> values = {12.5};
  counters_ = {{"network", "dimension 0", "%", times, values}};
  expect_refused("counter 'dimension 0' has 2 times and 1 values");
  const std::vector<double> two = {12.5, 0};
  counters_ = {{"network", "dimension 0", "%", times, two}};
  times[0] = 2000;
  expect_refused("counter 'dimension 0' has times that do not ascend");
}

TEST_F(WriteTimeline, ProgressCountsSlicesAndCancels) {
  Progress progress;
  write_timeline(picture(), folder_ / "run.json", {.progress = &progress});
  EXPECT_EQ(progress.done, 2U);
  EXPECT_EQ(progress.total, 2U);
  std::filesystem::remove(folder_ / "run.json");
  progress.cancel = true;
  EXPECT_THROW(write_timeline(picture(), folder_ / "run.json", {.progress = &progress}), Cancelled);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

}  // namespace
}  // namespace chakra
