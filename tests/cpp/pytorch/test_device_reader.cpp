// SPDX-License-Identifier: MIT
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "pytorch/device_reader.hpp"
#include "pytorch/process_groups.hpp"
#include "pytorch/read_text.hpp"

namespace chakra::test {
namespace {

using pytorch::DeviceEventKind;
using pytorch::DeviceTrace;
using pytorch::no_row;
using pytorch::no_stream;

std::string with_events(const std::string& events) {
  return "{\"schemaVersion\": 1, \"traceEvents\": [" + events + "]}";
}

/// An event of kind X with the usual members; `more` is added to them.
std::string event(const std::string& category, const std::string& name, const std::string& ts, const std::string& dur,
                  const std::string& more = "") {
  return "{\"ph\": \"X\", \"cat\": \"" + category + "\", \"name\": \"" + name +
         "\", \"pid\": 1, \"tid\": 2, \"ts\": " + ts + ", \"dur\": " + dur + more + "}";
}

TEST(DeviceReader, ReadsTheFieldsOfEveryKind) {
  const DeviceTrace trace = read_device(with_events(
      event("cpu_op", "aten::mm", "100.001", "5.5",
            ", \"args\": {\"External id\": 18446744073709551615, \"Record function id\": 7, \"Sequence number\": 3, "
            "\"Fwd thread id\": 1, \"Input Dims\": [[1, 2],[]], \"Input type\": [\"float\",\"\"], "
            "\"Concrete Inputs\": [\"\",\"1\"], \"Ev Idx\": 9}") +
      "," + event("cuda_runtime", "cudaLaunchKernel", "101", "1", ", \"args\": {\"cbid\": 211, \"correlation\": 5}") +
      "," +
      event("kernel", "k", "103.5", "0.768",
            ", \"args\": {\"device\": 3, \"stream\": 7, \"correlation\": 5, \"grid\": [1, 2, 3]}") +
      "," + event("gpu_memcpy", "Memcpy HtoD", "104", "1", ", \"args\": {\"stream\": 8}") + "," +
      event("gpu_memset", "Memset", "105", "1") + "," + event("user_annotation", "ProfilerStep#1", "90", "50") + "," +
      event("cuda_sync", "Stream Wait Event", "106", "0",
            ", \"args\": {\"cuda_sync_kind\": \"Stream Wait Event\", \"stream\": 4294967295, \"wait_on_stream\": 20, "
            "\"wait_on_cuda_event_record_corr_id\": 77, \"wait_on_cuda_event_id\": 2}")));
  ASSERT_EQ(trace.events.size(), 7U);
  const std::vector<DeviceEventKind> kinds = {
      DeviceEventKind::cpu_op, DeviceEventKind::runtime_call,    DeviceEventKind::kernel, DeviceEventKind::memcpy,
      DeviceEventKind::memset, DeviceEventKind::user_annotation, DeviceEventKind::sync};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    EXPECT_EQ(trace.events[i].kind, kinds[i]);
    EXPECT_EQ(trace.events[i].thread, 0U);
  }
  const auto& op = trace.events[0];
  EXPECT_EQ(text_of(trace, op.name), "aten::mm");
  EXPECT_EQ(op.start_ns, 100001);
  EXPECT_EQ(op.duration_ns, 5500);
  EXPECT_EQ(op.end_ns(), 105501);
  EXPECT_EQ(op.external_id, 18446744073709551615U);
  EXPECT_EQ(op.record_function_id, 7U);
  EXPECT_EQ(op.stream, no_stream);
  EXPECT_EQ(op.device, -1);
  EXPECT_EQ(op.comm, no_row);
  EXPECT_EQ(op.sync, no_row);
  const auto& arguments = trace.ops.at(op.op);
  EXPECT_EQ(text_of(trace, arguments.input_dims), "[[1, 2], []]");
  EXPECT_EQ(text_of(trace, arguments.input_types), "['float', '']");
  EXPECT_EQ(text_of(trace, arguments.concrete_inputs), "['', '1']");
  EXPECT_EQ(arguments.sequence_number, 3);
  EXPECT_EQ(arguments.forward_thread, 1);
  EXPECT_EQ(trace.events[1].correlation, 5U);
  EXPECT_EQ(trace.events[1].op, no_row);
  EXPECT_EQ(trace.events[2].duration_ns, 768);  // T28: below a microsecond
  EXPECT_EQ(trace.events[2].stream, 7);
  EXPECT_EQ(trace.events[2].device, 3);
  EXPECT_EQ(trace.events[6].stream, -1);
  const auto& sync = trace.syncs.at(trace.events[6].sync);
  EXPECT_EQ(text_of(trace, sync.kind), "Stream Wait Event");
  EXPECT_EQ(sync.wait_on_stream, 20);
  EXPECT_EQ(sync.wait_on_record, 77U);
  EXPECT_EQ(sync.wait_on_event, 2);
  EXPECT_TRUE(trace.report.entries.empty());
}

TEST(DeviceReader, ReadsCommunicationWhereverItStands) {
  const DeviceTrace trace = read_device(with_events(
      event("cpu_op", "record_param_comms", "1", "1",
            ", \"args\": {\"Collective name\": \"allreduce\", \"dtype\": \"Float\", \"In msg nelems\": 16, \"Out msg "
            "nelems\": 32, \"In split size\": \"[]\", \"Out split size\": [1,2], \"Group size\": 2, \"Process Group "
            "Name\": \"0\", \"Process Group ID\": 9, \"Process Group Description\": \"default_pg\", \"Process Group "
            "Ranks\": \"[0, 1]\", \"Global rank start\": 0, \"Global rank stride\": 1, \"Seq\": 4, \"Rank\": 1, \"Src "
            "Rank\": 0, \"Dst Rank\": \"1\"}") +
      "," +
      event("kernel", "ncclDevKernel", "2", "1",
            ", \"args\": {\"Process Group ID\": 12, \"Process Group Ranks\": [0,1]}")));
  ASSERT_EQ(trace.communications.size(), 2U);
  const auto& comm = trace.communications[trace.events[0].comm];
  EXPECT_EQ(text_of(trace, comm.collective_name), "allreduce");
  EXPECT_EQ(text_of(trace, comm.dtype), "Float");
  EXPECT_EQ(comm.in_elements, 16);
  EXPECT_EQ(comm.out_elements, 32);
  EXPECT_EQ(text_of(trace, comm.in_split), "[]");
  EXPECT_EQ(text_of(trace, comm.out_split), "[1, 2]");
  EXPECT_EQ(comm.group_size, 2);
  EXPECT_EQ(text_of(trace, comm.group_name), "0");
  EXPECT_EQ(text_of(trace, comm.group_description), "default_pg");
  EXPECT_EQ(text_of(trace, comm.group_ranks), "[0, 1]");
  EXPECT_EQ(comm.global_rank_start, 0);
  EXPECT_EQ(comm.global_rank_stride, 1);
  EXPECT_EQ(comm.sequence, 4);
  EXPECT_EQ(comm.rank, 1);
  EXPECT_EQ(comm.source_rank, 0);
  EXPECT_EQ(comm.destination_rank, 1);
  EXPECT_EQ(trace.events[0].op, no_row);
  const auto& kernel = trace.communications[trace.events[1].comm];
  EXPECT_EQ(text_of(trace, kernel.group_name), "12");
  EXPECT_EQ(text_of(trace, kernel.group_ranks), "[0, 1]");
  EXPECT_EQ(text_of(trace, kernel.collective_name), "<absent>");
  EXPECT_EQ(kernel.in_elements, -1);
}

// T10
TEST(DeviceReader, ArgumentsMayBeAbsentOrNullAndOtherPhasesAreNotKept) {
  const DeviceTrace trace = read_device(with_events(
      event("cpu_op", "none", "1", "2") + "," + event("cpu_op", "null", "3", "2", ", \"args\": null") + "," +
      event("cpu_op", "text", "3", "2", ", \"args\": \"x\"") +
      ", {\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"tid\": 0, \"args\": {\"name\": \"python\"}}"
      ", {\"ph\": \"t\", \"cat\": \"ac2g\", \"id\": 1, \"pid\": 1, \"tid\": 2, \"ts\": 5, \"bp\": \"e\"}"
      ", {\"ph\": \"i\", \"name\": \"Record Window End\", \"s\": \"g\", \"pid\": \"\", \"tid\": \"\", \"ts\": 9}"
      ", {\"ph\": \"X\", \"cat\": \"gpu_user_annotation\", \"name\": \"x\", \"ts\": 1}"
      ", {\"ph\": \"X\", \"cat\": \"Trace\", \"name\": \"x\"}, {}"));
  ASSERT_EQ(trace.events.size(), 3U);
  for (const auto& kept : trace.events) {
    EXPECT_EQ(kept.external_id, 0U);
    EXPECT_EQ(kept.correlation, 0U);
    EXPECT_EQ(kept.op, no_row);
  }
  EXPECT_TRUE(trace.flows.empty());
}

TEST(DeviceReader, CategoriesOfAllAgesInAnyCase) {
  const std::vector<std::pair<std::string, DeviceEventKind>> kinds = {{"Operator", DeviceEventKind::cpu_op},
                                                                      {"Runtime", DeviceEventKind::runtime_call},
                                                                      {"cuda_driver", DeviceEventKind::runtime_call},
                                                                      {"hip_runtime", DeviceEventKind::runtime_call},
                                                                      {"mtia_runtime", DeviceEventKind::runtime_call},
                                                                      {"Kernel", DeviceEventKind::kernel},
                                                                      {"mtia_ccp_events", DeviceEventKind::kernel},
                                                                      {"Memcpy", DeviceEventKind::memcpy},
                                                                      {"Memset", DeviceEventKind::memset}};
  for (const auto& [category, kind] : kinds) {
    const DeviceTrace trace =
        read_device(with_events(event(category, "e", "1", "1", ", \"args\": {\"external id\": 4}")));
    ASSERT_EQ(trace.events.size(), 1U) << category;
    EXPECT_EQ(trace.events[0].kind, kind) << category;
    EXPECT_EQ(trace.events[0].external_id, 4U) << category;
  }
}

TEST(DeviceReader, NumbersMayBeStringsAndStreamsPointers) {
  const DeviceTrace trace = read_device(with_events(
      "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": \"GPU 0\", \"tid\": \"stream 7\", \"ts\": "
      "\"1669783687464181.123\", \"dur\": \"4\", \"args\": {\"External id\": \"12\", \"correlation\": \"13\", "
      "\"stream\": \"0x7f12\"}}, {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": \"GPU 0\", \"tid\": 7, "
      "\"ts\": 1, \"args\": {\"stream\": \"7\", \"correlation\": null, \"External id\": -1}}"));
  ASSERT_EQ(trace.events.size(), 2U);
  EXPECT_EQ(trace.events[0].start_ns, 1669783687464181123);
  EXPECT_EQ(trace.events[0].duration_ns, 4000);
  EXPECT_EQ(trace.events[0].external_id, 12U);
  EXPECT_EQ(trace.events[0].correlation, 13U);
  EXPECT_EQ(trace.events[0].stream, no_stream);
  EXPECT_EQ(trace.events[1].stream, 7);
  EXPECT_EQ(trace.events[1].correlation, 0U);
  EXPECT_EQ(trace.events[1].external_id, 0U);
  EXPECT_EQ(trace.events[1].duration_ns, 0);
  ASSERT_EQ(trace.threads.size(), 2U);
  EXPECT_EQ(text_of(trace, trace.threads[0].pid), "GPU 0");
  EXPECT_EQ(text_of(trace, trace.threads[0].tid), "stream 7");
  EXPECT_EQ(text_of(trace, trace.threads[1].tid), "7");
}

TEST(DeviceReader, MembersMayComeInAnyOrder) {
  const DeviceTrace trace =
      read_device(with_events("{\"args\": {\"External id\": 3, \"Sequence number\": 8}, \"dur\": 2, \"tid\": 5, "
                              "\"ts\": 1, \"name\": \"n\", \"pid\": "
                              "4, \"cat\": \"cpu_op\", \"ph\": \"X\"}, {\"id\": 6, \"ts\": 2, \"tid\": 5, \"pid\": 4, "
                              "\"cat\": \"fwdbwd\", \"ph\": "
                              "\"s\"}"));
  ASSERT_EQ(trace.events.size(), 1U);
  EXPECT_EQ(trace.events[0].external_id, 3U);
  EXPECT_EQ(trace.ops.at(trace.events[0].op).sequence_number, 8);
  ASSERT_EQ(trace.flows.size(), 1U);
  EXPECT_EQ(trace.flows[0].id, 6U);
  EXPECT_EQ(trace.flows[0].time_ns, 2000);
  EXPECT_EQ(trace.flows[0].thread, 0U);
  EXPECT_FALSE(trace.flows[0].finish);
}

TEST(DeviceReader, MetadataBeforeAndAfterTheEventsAndABareList) {
  const std::string events = "[" + event("cpu_op", "a", "1", "1") + "]";
  const std::string info =
      "\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 3, \"world_size\": 8, \"pg_count\": 1, \"pg_config\": "
      "[{\"pg_name\": 0, \"pg_desc\": \"default_pg\", \"backend_config\": \"cuda:nccl\", \"pg_size\": 8, \"ranks\": "
      "[0, 1, "
      "7]}, \"junk\"]}, \"traceName\": \"/tmp/a]b}.json\", \"baseTimeNanoseconds\": 1711964646000000000";
  for (const std::string& json :
       {"{" + info + ", \"traceEvents\": " + events + "}", "{\"traceEvents\": " + events + ", " + info + "}"}) {
    const DeviceTrace trace = read_device(json, OnError::strict, 8);
    EXPECT_EQ(trace.events.size(), 1U);
    EXPECT_EQ(trace.trace_name, "/tmp/a]b}.json");
    EXPECT_EQ(trace.base_time_ns, 1711964646000000000);
    EXPECT_EQ(trace.distributed.backend, "nccl");
    EXPECT_EQ(trace.distributed.rank, 3);
    EXPECT_EQ(trace.distributed.world_size, 8);
    ASSERT_EQ(trace.distributed.groups.size(), 1U);
    const auto& group = trace.distributed.groups[0];
    EXPECT_EQ(group.name, "0");
    EXPECT_EQ(group.description, "default_pg");
    EXPECT_EQ(group.backend, "cuda:nccl");
    EXPECT_EQ(group.size, 8);
    EXPECT_EQ(group.ranks, (std::vector<std::int64_t>{0, 1, 7}));
  }
  const DeviceTrace bare = read_device(events);
  EXPECT_EQ(bare.events.size(), 1U);
  EXPECT_EQ(bare.base_time_ns, -1);
  EXPECT_EQ(bare.distributed.rank, -1);
}

TEST(DeviceReader, OddTimesAreCounted) {
  const DeviceTrace trace = read_device(
      with_events(event("kernel", "k", "0", "0") + "," + event("kernel", "k", "0.0", "0") + "," +
                  event("cpu_op", "n", "5", "-3") + "," + event("cpu_op", "n", "9223372036854775.807", "1")));
  EXPECT_EQ(trace.events.size(), 4U);
  EXPECT_EQ(count_of(trace.report, "kernel with timestamp 0"), 2U);
  EXPECT_EQ(count_of(trace.report, "event with a negative duration, taken as 0"), 1U);
  EXPECT_EQ(count_of(trace.report, "event that ends beyond the range of time, duration taken as 0"), 1U);
}

TEST(DeviceReader, AnEventWithoutTimeIsAnErrorOrLost) {
  for (const std::string ts : {"null", "\"soon\"", "nan", "1e300"}) {
    const std::string json = with_events(event("cpu_op", "a", ts, "1") + "," + event("cpu_op", "b", "1", "1"));
    EXPECT_THROW(read_device(json), FormatError) << ts;
    const DeviceTrace trace = read_device(json, OnError::recover);
    EXPECT_EQ(trace.events.size(), 1U);
    EXPECT_EQ(count_of(trace.report, "event whose \"ts\" is no usable number"), 1U);
  }
  const std::string json = with_events("{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\"}");
  EXPECT_THROW(read_device(json), FormatError);
  EXPECT_EQ(count_of(read_device(json, OnError::recover).report, "event without \"ts\""), 1U);
}

// T12
TEST(DeviceReader, AMissingValueIsAnErrorWithOffsetOrTheEmptyString) {
  const std::string json = with_events(
      event("kernel", "k", "1", "1",
            ", \"args\": {\"Process Group Description\": , \"Process Group Ranks\": \"[]\", \"stream\": 7}"));
  try {
    read_device(json);
    FAIL();
  } catch (const FormatError& error) {
    EXPECT_EQ(error.location().offset, json.find(", \"Process Group Ranks"));
    EXPECT_NE(std::string(error.what()).find("line 1"), std::string::npos);
  }
  const DeviceTrace trace = read_device(json, OnError::recover);
  const auto& comm = trace.communications.at(trace.events.at(0).comm);
  EXPECT_EQ(text_of(trace, comm.group_description), "");
  EXPECT_EQ(text_of(trace, comm.group_ranks), "[]");
  EXPECT_EQ(trace.events[0].stream, 7);
  EXPECT_EQ(count_of(trace.report, "missing value"), 1U);
}

// T14
TEST(DeviceReader, DirtyNamesAreMendedAndCounted) {
  const std::string json = with_events(event("cpu_op",
                                             "a\xFF"
                                             "b",
                                             "1", "1") +
                                       "," + event("cpu_op", "raw\x01", "2", "1") + "," +
                                       event("cpu_op", "torch\\cuda\\__init__.py", "3", "1"));
  EXPECT_THROW(read_device(json), FormatError);
  for (const std::size_t window : {1U, 7U, 64U, 4096U}) {
    const DeviceTrace trace = read_device(json, OnError::recover, window);
    ASSERT_EQ(trace.events.size(), 3U);
    EXPECT_EQ(text_of(trace, trace.events[0].name),
              "a\xEF\xBF\xBD"
              "b");
    EXPECT_EQ(text_of(trace, trace.events[1].name), "raw\x01");
    EXPECT_EQ(text_of(trace, trace.events[2].name), "torch\\cuda\\__init__.py");
    EXPECT_EQ(trace.report.entries.size(), 3U);
    for (const auto& entry : trace.report.entries) {
      EXPECT_EQ(entry.count, 1U);
      EXPECT_TRUE(entry.first.starts_with("byte ")) << entry.first;
    }
  }
}

TEST(DeviceReader, ABrokenEventIsLostAndTheRestIsKept) {
  const std::string good = event("cpu_op", "a", "1", "1");
  const std::string tail = ", \"traceName\": \"t\"}";
  for (const std::string& bad : {
           std::string("{\"ph\": \"X\", \"cat\" \"cpu_op\"}"),
           std::string("{\"ph\": \"X\", \"args\": {\"grid\": [1, 2}}"),
           std::string("{\"ph\": \"X\", \"name\": \"quote lost, \"ts\": 5}"),
           std::string("{\"ph\": \"X\", @@@@ {[}"),
           std::string("{\"ph\": \"X\", \"args\": {\"a\": [[1,"),
           std::string("{\"ph\": \"X\", \"args\": {\"a\": [[1"),
           std::string("{\"ph\": \"X"),
       }) {
    for (const std::size_t window : {1U, 16U, 4096U}) {
      const std::string json = "{\"traceEvents\": [" + good + "," + bad + "," + good + "," + good + "]" + tail;
      EXPECT_THROW(read_device(json), FormatError) << bad;
      const DeviceTrace trace = read_device(json, OnError::recover, window);
      EXPECT_EQ(trace.events.size(), 3U) << bad;
      EXPECT_EQ(count_of(trace.report, "lost event"), 1U) << bad;
      EXPECT_EQ(trace.trace_name, "t") << bad;

      const DeviceTrace last =
          read_device("{\"traceEvents\": [" + good + "," + bad + "]" + tail, OnError::recover, window);
      EXPECT_EQ(last.events.size(), 1U) << bad;
      EXPECT_EQ(count_of(last.report, "lost event"), 1U) << bad;
      EXPECT_EQ(last.trace_name, "t") << bad;
    }
  }
}

TEST(DeviceReader, FilesThatEndEarlyGiveTheirWholeEvents) {
  const std::string good = event("kernel", "k", "1", "1", ", \"args\": {\"stream\": 7, \"grid\": [1, 1, 1]}");
  const std::string json =
      "{\"schemaVersion\": 1, \"traceEvents\": [" + good + ",\n" + good + ",\n" + good + "\n], \"traceName\": \"t\"}";
  const std::size_t list = json.find('[') + 1;
  for (std::size_t length = list; length < json.size(); ++length) {
    const std::string cut = json.substr(0, length);
    EXPECT_THROW(read_device(cut), FormatError) << length;
    const DeviceTrace trace = read_device(cut, OnError::recover, 64);
    std::size_t whole = 0;
    for (std::size_t at = cut.find(good); at != std::string::npos; at = cut.find(good, at + 1)) {
      ++whole;
    }
    EXPECT_EQ(trace.events.size(), whole) << cut;
    EXPECT_LE(count_of(trace.report, "lost event"), 1U);
    EXPECT_FALSE(trace.report.entries.empty()) << cut;
  }
  for (std::size_t length = 0; length < list; ++length) {
    EXPECT_THROW(read_device(json.substr(0, length), OnError::recover), FormatError) << length;
  }
}

TEST(DeviceReader, DamageBeforeTheEventsIsPassedOver) {
  const std::string json = "{\"deviceProperties\": [ @@@ ], \"traceEvents\": [" + event("cpu_op", "a", "1", "1") + "," +
                           event("cpu_op", "b", "2", "1") + "], \"traceName\": \"t\"}";
  EXPECT_THROW(read_device(json), FormatError);
  const DeviceTrace trace = read_device(json, OnError::recover, 32);
  EXPECT_EQ(trace.events.size(), 2U);
  EXPECT_EQ(count_of(trace.report, "damage before the first event"), 1U);
  EXPECT_EQ(trace.trace_name, "t");
}

TEST(DeviceReader, OtherFilesAreRefusedWithTheirKind) {
  for (const OnError on_error : {OnError::strict, OnError::recover}) {
    try {
      read_device("{\"schema\": \"1.1.1-chakra.0.0.4\", \"pid\": 1, \"nodes\": []}", on_error);
      FAIL();
    } catch (const FormatError& error) {
      EXPECT_NE(std::string(error.what()).find("this is a host trace"), std::string::npos) << error.what();
    }
    EXPECT_THROW(read_device("", on_error), FormatError);
    EXPECT_THROW(read_device("{}", on_error), FormatError);
    EXPECT_THROW(read_device("{\"a\": 1}", on_error), FormatError);
    EXPECT_THROW(read_device("<html>", on_error), FormatError);
    EXPECT_THROW(read_device("17", on_error), FormatError);
  }
}

TEST(DeviceReader, ReadsFilesWithProgressAndCancels) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "progress.device.json";
  std::string events = event("cpu_op", "a", "1", "1");
  for (int i = 0; i < 2000; ++i) {
    events += "," + event("cpu_op", "a", "1", "1");
  }
  std::ofstream(path, std::ios::binary) << with_events(events);
  Progress progress;
  const DeviceTrace trace = pytorch::read_device_trace(path, {.progress = &progress});
  EXPECT_EQ(trace.events.size(), 2001U);
  EXPECT_EQ(trace.path, path.string());
  EXPECT_EQ(progress.total, std::filesystem::file_size(path));
  EXPECT_EQ(progress.done, progress.total);
  progress.cancel = true;
  EXPECT_THROW(pytorch::read_device_trace(path, {.progress = &progress}), Cancelled);
  std::filesystem::remove(path);
  EXPECT_THROW(pytorch::read_device_trace(path), ChakraError);
}

TEST(ProcessGroups, FromAnAnnotationsArgument) {
  const auto groups = pytorch::parse_process_groups(
      "[{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", \"backend_config\": \"cpu:gloo,cuda:gloo\", \"ranks\": [], "
      "\"group_size\": 2, \"group_count\": 2}, {\"pg_name\": \"1\", \"backend\": \"nccl\", \"ranks\": \"[4, 6]\"}");
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].name, "0");
  EXPECT_EQ(groups[0].backend, "cpu:gloo,cuda:gloo");
  EXPECT_EQ(groups[0].size, 2);
  EXPECT_TRUE(groups[0].ranks.empty());
  EXPECT_EQ(groups[1].backend, "nccl");
  EXPECT_EQ(groups[1].size, -1);
  EXPECT_EQ(groups[1].ranks, (std::vector<std::int64_t>{4, 6}));
  EXPECT_TRUE(pytorch::parse_process_groups("").empty());
  EXPECT_TRUE(pytorch::parse_process_groups("nonsense").empty());
  EXPECT_EQ(pytorch::parse_integers("[0, -1, x99999999999999999999, 7]"), (std::vector<std::int64_t>{0, -1, 7}));
}

}  // namespace
}  // namespace chakra::test
