// SPDX-License-Identifier: MIT
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "pytorch/host_reader.hpp"
#include "pytorch/read_text.hpp"

namespace chakra::test {
namespace {

using pytorch::HostNode;
using pytorch::HostTrace;
using pytorch::no_host_id;

std::string attribute(const std::string& name, const std::string& type, const std::string& value) {
  return "{\"name\": \"" + name + "\", \"type\": \"" + type + "\", \"value\": " + value + "}";
}

std::string node(int id, const std::string& name, const std::string& values = "[]") {
  return "{\n\"id\": " + std::to_string(id) + ", \"name\": \"" + name +
         "\", \"ctrl_deps\": 1,\n\"inputs\": {\"values\": " + values +
         ", \"shapes\": [], \"types\": []},\n\"outputs\": {\"values\": [], \"shapes\": [], \"types\": []},\n\"attrs\": "
         "[" +
         attribute("rf_id", "uint64", "5") + "," + attribute("tid", "uint64", "1") + "]\n}";
}

std::string with_nodes(const std::string& nodes, const std::string& schema = "1.1.1-chakra.0.0.4") {
  return "{\"schema\": \"" + schema +
         "\", \"pid\": 12, \"time\": \"2024-01-01 00:00:00\", \"start_ts\": 100,\n\"nodes\": [" + nodes +
         "],\n\"finish_ts\": 200}";
}

TEST(HostReader, ReadsTheLayoutSince102) {
  for (const std::string schema :
       {"1.0.2-chakra.0.0.4", "1.0.3-chakra.0.0.4", "1.1.0-chakra.0.0.4", "1.1.1-chakra.0.0.4", "1.1.1-chakra.1.0.0"}) {
    const HostTrace trace = read_host(
        with_nodes(
            "{\"id\": 9, \"name\": \"aten::mm\", \"ctrl_deps\": 4, \"inputs\": {\"values\": [[5,6,0,112,4,\"cuda:0\"],"
            "null,true,0.5,\"it's\"], \"shapes\": [[2,3],[]], \"types\": [\"Tensor(float)\"], \"strides\": [[3,1]]}, "
            "\"outputs\": {\"values\": [1], \"shapes\": [[]], \"types\": [\"Int\"]}, \"attrs\": [" +
                attribute("rf_id", "uint64", "18446744073709551615") + "," + attribute("fw_parent", "uint64", "2") +
                "," + attribute("seq_id", "int64", "-1") + "," + attribute("scope", "uint64", "7") + "," +
                attribute("tid", "uint64", "3") + "," + attribute("fw_tid", "uint64", "4") + "," +
                attribute("op_schema", "string", "\"aten::mm(x)\"") + "," +
                attribute("kernel_file", "string", "\"a\\\"b\"") + "," + attribute("in_msg_nelems", "uint64", "16") +
                "," + attribute("list", "x", "[1,true,\"y\"]") + "]}",
            schema),
        OnError::strict, 16);
    EXPECT_EQ(trace.schema, schema);
    EXPECT_EQ(trace.pid, 12);
    EXPECT_EQ(trace.time, "2024-01-01 00:00:00");
    EXPECT_EQ(trace.start_ts, 100);
    EXPECT_EQ(trace.finish_ts, 200);
    ASSERT_EQ(trace.nodes.size(), 1U);
    const HostNode& read = trace.nodes[0];
    EXPECT_EQ(read.id, 9U);
    EXPECT_EQ(read.parent, 4U);
    EXPECT_EQ(text_of(trace, read.name), "aten::mm");
    EXPECT_EQ(read.rf_id, 18446744073709551615U);
    EXPECT_EQ(read.fw_parent, 2U);
    EXPECT_EQ(read.seq_id, -1);
    EXPECT_EQ(read.scope, 7U);
    EXPECT_EQ(read.tid, 3U);
    EXPECT_EQ(read.fw_tid, 4U);
    EXPECT_EQ(text_of(trace, read.op_schema), "aten::mm(x)");
    EXPECT_EQ(text_of(trace, read.inputs.values), "[[5, 6, 0, 112, 4, 'cuda:0'], None, True, 0.5, \"it's\"]");
    EXPECT_EQ(text_of(trace, read.inputs.shapes), "[[2, 3], []]");
    EXPECT_EQ(text_of(trace, read.inputs.types), "['Tensor(float)']");
    EXPECT_EQ(text_of(trace, read.outputs.values), "[1]");
    EXPECT_EQ(text_of(trace, read.outputs.shapes), "[[]]");
    EXPECT_EQ(text_of(trace, read.outputs.types), "['Int']");
    ASSERT_EQ(read.attribute_count, 3U);
    const auto* const attributes = &trace.attributes[read.first_attribute];
    EXPECT_EQ(text_of(trace, attributes[0].name), "kernel_file");
    EXPECT_EQ(text_of(trace, attributes[0].type), "string");
    EXPECT_EQ(text_of(trace, attributes[0].value), "a\"b");
    EXPECT_EQ(text_of(trace, attributes[1].value), "16");
    EXPECT_EQ(text_of(trace, attributes[2].value), "[1, true, \"y\"]");
    EXPECT_TRUE(trace.report.entries.empty());
  }
}

TEST(HostReader, ReadsTheLayoutOf101) {
  const HostTrace trace = read_host(
      with_nodes("{\"name\": \"aten::add\", \"id\": 8, \"rf_id\": 4, \"parent\": 7, \"fw_parent\": 1, \"seq_id\": 6, "
                 "\"scope\": 0, "
                 "\"tid\": 2, \"fw_tid\": 3, \"op_schema\": \"s\", \"inputs\": [1,\"a\"], \"input_shapes\": [[],[]], "
                 "\"input_types\": "
                 "[\"Int\"], \"outputs\": [[9, 6]], \"output_shapes\": [[48]], \"output_types\": [\"Tensor(float)\"]}",
                 "1.0.1"));
  ASSERT_EQ(trace.nodes.size(), 1U);
  const HostNode& read = trace.nodes[0];
  EXPECT_EQ(read.id, 8U);
  EXPECT_EQ(read.parent, 7U);
  EXPECT_EQ(read.rf_id, 4U);
  EXPECT_EQ(read.fw_parent, 1U);
  EXPECT_EQ(read.seq_id, 6);
  EXPECT_EQ(read.tid, 2U);
  EXPECT_EQ(read.fw_tid, 3U);
  EXPECT_EQ(text_of(trace, read.op_schema), "s");
  EXPECT_EQ(text_of(trace, read.inputs.values), "[1, 'a']");
  EXPECT_EQ(text_of(trace, read.inputs.shapes), "[[], []]");
  EXPECT_EQ(text_of(trace, read.inputs.types), "['Int']");
  EXPECT_EQ(text_of(trace, read.outputs.values), "[[9, 6]]");
  EXPECT_EQ(text_of(trace, read.outputs.shapes), "[[48]]");
  EXPECT_EQ(text_of(trace, read.outputs.types), "['Tensor(float)']");
  EXPECT_EQ(read.attribute_count, 0U);
}

TEST(HostReader, AbsentIsNotZeroOrEmpty) {
  const HostTrace trace = read_host(with_nodes("{\"id\": 0}, {\"id\": \"3\", \"ctrl_deps\": null, \"inputs\": null}"));
  ASSERT_EQ(trace.nodes.size(), 2U);
  EXPECT_EQ(trace.nodes[0].parent, no_host_id);
  EXPECT_EQ(trace.nodes[0].seq_id, -1);
  EXPECT_EQ(text_of(trace, trace.nodes[0].name), "");
  EXPECT_EQ(text_of(trace, trace.nodes[0].op_schema), "<absent>");
  EXPECT_EQ(text_of(trace, trace.nodes[0].inputs.values), "<absent>");
  EXPECT_EQ(trace.nodes[1].id, 3U);
  EXPECT_EQ(trace.nodes[1].parent, no_host_id);
}

TEST(HostReader, AnAttributesMembersMayComeInAnyOrder) {
  const HostTrace trace =
      read_host(with_nodes("{\"attrs\": [{\"value\": 6, \"type\": \"uint64\", \"name\": \"rf_id\"}, {\"value\": \"s\", "
                           "\"name\": \"op_schema\"}, "
                           "{\"value\": -4, \"name\": \"seq_id\"}, {\"value\": \"x\", \"name\": \"other\"}, "
                           "{\"value\": 1}, 3, {\"name\": \"bare\"}], "
                           "\"ctrl_deps\": [7, 8], \"name\": \"n\", \"id\": 2}"));
  ASSERT_EQ(trace.nodes.size(), 1U);
  EXPECT_EQ(trace.nodes[0].rf_id, 6U);
  EXPECT_EQ(trace.nodes[0].seq_id, -4);
  EXPECT_EQ(trace.nodes[0].parent, 7U);
  EXPECT_EQ(text_of(trace, trace.nodes[0].op_schema), "s");
  ASSERT_EQ(trace.attributes.size(), 2U);
  EXPECT_EQ(text_of(trace, trace.attributes[0].name), "other");
  EXPECT_EQ(text_of(trace, trace.attributes[0].type), "<absent>");
  EXPECT_EQ(text_of(trace, trace.attributes[1].name), "bare");
  EXPECT_EQ(text_of(trace, trace.attributes[1].value), "<absent>");
}

// T11
TEST(HostReader, AFileThatEndsInsideItsFourthNode) {
  const std::string whole = with_nodes(node(1, "a") + "," + node(2, "b") + "," + node(3, "c") + "," + node(4, "d"));
  const std::size_t fourth = whole.find("{\n\"id\": 4");
  const std::size_t fourth_end = whole.rfind(']');
  for (std::size_t length = fourth + 1; length < fourth_end; ++length) {
    const std::string cut = whole.substr(0, length);
    try {
      read_host(cut);
      FAIL() << length;
    } catch (const FormatError& error) {
      EXPECT_LE(error.location().offset.value(), length);
      EXPECT_GE(error.location().offset.value(), fourth);
    }
    const HostTrace trace = read_host(cut, OnError::recover, 32);
    EXPECT_EQ(trace.nodes.size(), 3U) << length;
    EXPECT_EQ(count_of(trace.report, "lost node"), 1U) << length;
    // "]}" in the middle of a node looks like the end of the file.
    EXPECT_EQ(count_of(trace.report, "the file ends early"), cut.ends_with("]}") ? 0U : 1U) << length;
    EXPECT_EQ(count_of(trace.report, "no finish_ts: the collection was interrupted"), 1U) << length;
  }
}

// T11
TEST(HostReader, ACommaMissingBetweenTwoNodes) {
  const std::string json = with_nodes(node(1, "a") + "," + node(2, "b") + "\n" + node(3, "c"));
  try {
    read_host(json);
    FAIL();
  } catch (const FormatError& error) {
    EXPECT_EQ(error.location().offset.value(), json.find("{\n\"id\": 3"));
  }
  const HostTrace trace = read_host(json, OnError::recover);
  EXPECT_EQ(trace.nodes.size(), 3U);
  EXPECT_EQ(trace.finish_ts, 200);
  EXPECT_EQ(count_of(trace.report, "missing comma"), 1U);
  EXPECT_EQ(trace.report.entries.size(), 1U);
}

TEST(HostReader, AHalfWrittenNodeIsLostAndTheRestIsKept) {
  const std::string third = node(3, "c", "[[1, 2, 3], \"text\"]");
  for (std::size_t length = 1; length < third.size(); ++length) {
    const std::string json = with_nodes(node(1, "a") + "," + node(2, "b") + "," + third.substr(0, length) + ",\n" +
                                        node(4, "d") + "," + node(5, "e"));
    const HostTrace trace = read_host(json, OnError::recover, 64);
    EXPECT_EQ(trace.nodes.size(), 4U) << third.substr(0, length);
    EXPECT_EQ(count_of(trace.report, "lost node"), 1U) << third.substr(0, length);
    EXPECT_EQ(trace.finish_ts, 200) << third.substr(0, length);
  }
}

// T13
TEST(HostReader, NonFiniteValues) {
  for (const OnError on_error : {OnError::strict, OnError::recover}) {
    const HostTrace trace = read_host(with_nodes(node(1, "a", "[NaN, Infinity, -Infinity, nan, inf]")), on_error);
    ASSERT_EQ(trace.nodes.size(), 1U);
    EXPECT_EQ(text_of(trace, trace.nodes[0].inputs.values), "[nan, inf, -inf, nan, inf]");
    EXPECT_TRUE(trace.report.entries.empty());
  }
}

// T14 and siblings, for values
TEST(HostReader, DirtyStringsAreMendedAndCounted) {
  const std::string json = with_nodes(node(1,
                                           "a\xFF"
                                           "b") +
                                      "," + node(2, "raw\x01") + "," + node(3, "x", "[\"torch\\cuda\\__init__.py\"]"));
  EXPECT_THROW(read_host(json), FormatError);
  const HostTrace trace = read_host(json, OnError::recover);
  ASSERT_EQ(trace.nodes.size(), 3U);
  EXPECT_EQ(text_of(trace, trace.nodes[0].name),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(text_of(trace, trace.nodes[1].name), "raw\x01");
  EXPECT_EQ(text_of(trace, trace.nodes[2].inputs.values), "['torch\\\\cuda\\\\__init__.py']");
  EXPECT_EQ(trace.report.entries.size(), 3U);
}

TEST(HostReader, ANodeWithoutIdIsAnErrorOrLost) {
  for (const std::string bad : {"{\"name\": \"x\"}", "{\"id\": null}", "{\"id\": -5}", "{\"id\": \"x\"}"}) {
    const std::string json = with_nodes(bad + "," + node(2, "b"));
    EXPECT_THROW(read_host(json), FormatError);
    const HostTrace trace = read_host(json, OnError::recover);
    EXPECT_EQ(trace.nodes.size(), 1U);
    EXPECT_EQ(count_of(trace.report, "node without a usable \"id\""), 1U);
  }
}

TEST(HostReader, NodesThatStartWithTheirNameAreNotMistakenForAttributes) {
  const std::string json = with_nodes("{\"name\": \"x\", \"id\": 1, \"attrs\": [" + attribute("rf_id", "uint64", "3") +
                                      "]}, {\"name\": \"y\", \"id\": 2, @}, {\"name\": \"z\", \"id\": 3}");
  const HostTrace trace = read_host(json, OnError::recover);
  ASSERT_EQ(trace.nodes.size(), 2U);
  EXPECT_EQ(trace.nodes[0].rf_id, 3U);
  EXPECT_EQ(trace.nodes[1].id, 3U);
}

// T28
TEST(HostReader, OddFilesAreReadWithAWarning) {
  const HostTrace interrupted = read_host("{\"schema\": \"1.1.1-chakra.1.0.0\", \"nodes\": [" + node(1, "a") + "]}");
  EXPECT_EQ(interrupted.nodes.size(), 1U);
  EXPECT_EQ(interrupted.finish_ts, -1);
  EXPECT_EQ(interrupted.report.entries.size(), 1U);
  EXPECT_EQ(count_of(interrupted.report, "no finish_ts: the collection was interrupted"), 1U);
  const HostTrace unknown = read_host(with_nodes(node(1, "a"), "9.9"));
  EXPECT_EQ(count_of(unknown.report, "unknown schema \"9.9\", read like the known ones"), 1U);
}

TEST(HostReader, OtherFilesAreRefusedWithTheirKind) {
  for (const OnError on_error : {OnError::strict, OnError::recover}) {
    try {
      read_host("{\"schemaVersion\": 1, \"traceEvents\": []}", on_error);
      FAIL();
    } catch (const FormatError& error) {
      EXPECT_NE(std::string(error.what()).find("this is a device trace"), std::string::npos) << error.what();
    }
    EXPECT_THROW(read_host("[]", on_error), FormatError);
    EXPECT_THROW(read_host("", on_error), FormatError);
    EXPECT_THROW(read_host("{\"a\": [1]}", on_error), FormatError);
  }
}

}  // namespace
}  // namespace chakra::test
