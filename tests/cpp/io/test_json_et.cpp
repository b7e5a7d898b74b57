// SPDX-License-Identifier: MIT
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "chakra_core/et_file.hpp"
#include "chakra_core/trace_builder.hpp"
#include "io/compress.hpp"
#include "io/json_et.hpp"
#include "scratch_directory.hpp"

namespace chakra {
namespace {

using namespace chakra::test;

TracePtr read(const std::string& text, OnError on_error = OnError::strict) {
  return load_bytes(std::as_bytes(std::span(text)), "<test>", {.on_error = on_error});
}

std::string graph(const std::string& nodes) { return "{\"workload_graph\": [" + nodes + "]}"; }

std::string failure(const std::string& text) {
  try {
    (void)read(text);
  } catch (const FormatError& error) {
    EXPECT_TRUE(error.location().offset.has_value()) << error.what();
    return error.what();
  }
  return "no error";
}

/// A node with an attribute of every kind, and of every kind of list.
std::vector<Attribute> every_kind() {
  using Kind = AttributeKind;
  std::vector<Attribute> all = {{"none", Kind::none, {}, ""},
                                {"documented", Kind::int64_value, std::int64_t{1}, "why"}};
  for (int kind = 3; kind <= 32; ++kind) {
    Attribute attribute{"kind " + std::to_string(kind), static_cast<Kind>(kind), {}, ""};
    const bool list = kind % 2 == 0;
    const auto base = static_cast<Kind>(list ? kind - 1 : kind);
    if (base == Kind::double_value || base == Kind::float_value) {
      attribute.value = list ? AttributeValue(std::vector<double>{0.5, -3, 0x1p100}) : AttributeValue(0.25);
    } else if (base == Kind::bool_value) {
      attribute.value = list ? AttributeValue(std::vector<bool>{true, false}) : AttributeValue(true);
    } else if (base == Kind::string_value || base == Kind::bytes_value) {
      attribute.value =
          list ? AttributeValue(std::vector<std::string>{"", "\"\\\n"}) : AttributeValue(std::string("x"));
    } else if (const std::string_view name = base == Kind::int32_value || base == Kind::int64_value ||
                                                     base == Kind::sint32_value || base == Kind::sint64_value ||
                                                     base == Kind::sfixed32_value || base == Kind::sfixed64_value
                                                 ? "signed"
                                                 : "unsigned";
               name == "signed") {
      attribute.value = list ? AttributeValue(std::vector<std::int64_t>{-1, 7}) : AttributeValue(std::int64_t{-5});
    } else {
      attribute.value = list ? AttributeValue(std::vector<std::uint64_t>{1, 7}) : AttributeValue(std::uint64_t{5});
    }
    all.push_back(attribute);
  }
  all.push_back({"not finite", Kind::double_list, std::vector<double>{std::numeric_limits<double>::infinity()}, ""});
  all.push_back({"empty", Kind::float_list, std::vector<double>(), ""});
  all.push_back({"bytes", Kind::bytes_value, std::string("\xff\0\x01", 3), ""});
  return all;
}

TEST(JsonEt, IsToldByItsFirstBytes) {
  for (const char* const text : {"{\"a\":1}", " \n{ \"workload_graph\" : []}", "{}", "{", "\xEF\xBB\xBF{\"x\":0}"}) {
    EXPECT_TRUE(io::looks_like_json(text)) << text;
  }
  for (const char* const text : {"", "[1]", "{\n\x05", "{\n\"1.1.1",
                                 "\n{\n\x05"
                                 "0.0.4",
                                 "{1"}) {
    EXPECT_FALSE(io::looks_like_json(text)) << text;
  }
}

TEST(JsonEt, TheMembersThatToolsWrite) {
  const TracePtr trace = read(
      R"({"workload_graph": [
        {"Id": 216, "Name": "mm", "NodeType": 4, "runtime": 318, "data_deps": [], "is_cpu_op": true, "ctrlDeps": [3]},
        {"Id": 18446744073709551615, "Name": "c", "NodeType": "COMM_COLL_NODE", "data_deps": [216], "ctrl_deps": [216],
         "runtime": 1.5, "start_time_micros": 2, "comm_type": 0, "comm_size": 1024, "is_cpu_op": false}
      ], "ngpus": 8, "soc": "x"})");
  ASSERT_EQ(trace->size(), 2U);
  EXPECT_EQ(trace->ids()[1], std::numeric_limits<NodeId>::max());
  EXPECT_EQ(trace->types()[0], NodeType::comp);
  EXPECT_EQ(trace->types()[1], NodeType::comm_coll);
  EXPECT_EQ(trace->name(0), "mm");
  EXPECT_EQ(trace->duration_ns()[0], 318'000U);
  EXPECT_EQ(trace->duration_ns()[1], 1500U);
  EXPECT_EQ(trace->start_ns()[1], 2000U);
  EXPECT_EQ(trace->data_deps()[1].size(), 1U);
  EXPECT_EQ(trace->ctrl_deps()[1].size(), 1U);
  EXPECT_EQ(trace->ctrl_deps()[0].size(), 0U);  // as upstream reads it
  EXPECT_EQ(trace->is_cpu_op().get(0), 1);
  EXPECT_EQ(trace->column(IntegerAttribute::comm_size).get(1), 1024);
  EXPECT_EQ(trace->attribute(0, "ctrlDeps")->kind, AttributeKind::int64_list);
  EXPECT_EQ(trace->metadata(), (Metadata{"0.0.4", {make_int64("ngpus", 8), make_string("soc", "x")}}));
}

TEST(JsonEt, PlainValuesBecomeTheirNearestKind) {
  const TracePtr trace = read(graph(
      R"({"Id": 1, "a": null, "b": 18446744073709551615, "c": 1.0, "d": [], "e": [1, 2.5], "f": [true], "g": ["x"],
          "h": {"deep": [1, {"er": null}]}, "i": [1, "x"], "j": [18446744073709551615, 1]})"));
  const std::vector<Attribute> expected = {
      {"a", AttributeKind::none, {}, ""},
      {"b", AttributeKind::uint64_value, std::numeric_limits<std::uint64_t>::max(), ""},
      {"c", AttributeKind::double_value, 1.0, ""},
      {"d", AttributeKind::int64_list, std::vector<std::int64_t>(), ""},
      {"e", AttributeKind::double_list, std::vector<double>{1, 2.5}, ""},
      {"f", AttributeKind::bool_list, std::vector<bool>{true}, ""},
      {"g", AttributeKind::string_list, std::vector<std::string>{"x"}, ""},
      {"h", AttributeKind::string_value, std::string(R"({"deep":[1,{"er":null}]})"), ""},
      {"i", AttributeKind::string_value, std::string(R"([1,"x"])"), ""},
      {"j", AttributeKind::uint64_list, std::vector<std::uint64_t>{std::numeric_limits<std::uint64_t>::max(), 1}, ""},
  };
  EXPECT_EQ(trace->attributes(0), expected);
}

TEST(JsonEt, EverythingOfTheSchemaComesBack) {
  const ScratchDirectory scratch;
  TraceBuilder builder;
  builder.set_metadata({"1.2.3", every_kind()});
  const std::vector<Attribute> attributes = every_kind();
  const std::vector<Attribute> plain = {make_bool("is_cpu_op", false), make_int64("comm_size", 9),
                                        make_string("pg_name", "dp"), make_double("whole", 4)};
  const std::vector<Attribute> names = {make_int64("Id", 5), make_int64("twice", 1), make_int64("twice", 2)};
  const std::vector<NodeId> parents = {3, 1};
  const IoInfo inputs{"[1]", "[[2]]", "\"T\"\n"};
  builder.add_node({.id = 1,
                    .name = "a\"\\\x01",
                    .type = NodeType::comp,
                    .data_deps = parents,
                    .ctrl_deps = parents,
                    .start_ns = 1'234'567,
                    .duration_ns = 1,
                    .attributes = attributes,
                    .inputs = &inputs});
  builder.add_node({.id = 2, .type = static_cast<NodeType>(-9), .attributes = plain, .outputs = &inputs});
  builder.add_node({.id = 3, .name = "caf\xc3\xa9", .start_ns = 5000, .attributes = names});
  const TracePtr built = builder.build();
  for (const char* const name : {"a.json", "a.json.gz"}) {
    save(*built, scratch / name);
    const TracePtr back = load(scratch / name);
    ASSERT_EQ(back->size(), 3U);
    EXPECT_EQ(back->metadata(), built->metadata());
    for (NodeIndex row = 0; row < 3; ++row) {
      EXPECT_EQ(back->record(row), built->record(row)) << row;
    }
  }
}

TEST(JsonEt, CopiesForSimulatorsStandBesideTheList) {
  const ScratchDirectory scratch;
  TraceBuilder builder;
  const std::vector<Attribute> attributes = {make_uint64("comm_size", 9), make_bool("is_cpu_op", false)};
  builder.add_node({.id = 1, .attributes = attributes});
  save(*builder.build(), scratch / "a.json");
  EXPECT_NE(read_file(scratch / "a.json").find("\"comm_size\": 9, \"is_cpu_op\": false, \"attr\": ["),
            std::string::npos);
}

TEST(JsonEt, MistakesSayWhereTheyAre) {
  EXPECT_NE(failure("{\"workload_graph\": [\n{\"Id\": 1},\n{\"Name\": \"x\"}]}").find("record 2"), std::string::npos);
  EXPECT_NE(failure("{\"workload_graph\": [\n{\"Id\": 1},\n{\"Name\": \"x\"}]}").find("line 3"), std::string::npos);
  const std::pair<const char*, const char*> cases[] = {
      {R"({"Id": -1})", "without a usable \"Id\""},
      {R"({"Id": 1, "Name": 3})", "\"Name\" is no string"},
      {R"({"Id": 1, "NodeType": "WALK"})", "\"NodeType\" is no type"},
      {R"({"Id": 1, "NodeType": 99999999999})", "\"NodeType\" is no type"},
      {R"({"Id": 1, "data_deps": 2})", "\"data_deps\" is no list"},
      {R"({"Id": 1, "data_deps": [1.5]})", "no id"},
      {R"({"Id": 1, "runtime": -1})", "\"runtime\" is no time"},
      {R"({"Id": 1, "runtime": 18446744073709551615})", "more than"},
      {R"({"Id": 1, "inputs": {"value": "x"}})", "unknown member \"value\""},
      {R"({"Id": 1, "attr": [3]})", "no object"},
      {R"({"Id": 1, "attr": [{"name": "x", "int32_val": 3000000000}]})", "int32_val is none"},
      {R"({"Id": 1, "attr": [{"name": "x", "bytes_val": "?"}]})", "bytes_val is none"},
      {R"({"Id": 1, "attr": [{"name": "x", "val": 1}]})", "unknown member \"val\""},
      {R"({"Id": 1, "comm_size": "big"})", "attribute comm_size holds"},
      {R"(3)", "no object"},
  };
  for (const auto& [node, what] : cases) {
    EXPECT_NE(failure(graph(node)).find(what), std::string::npos) << node << ": " << failure(graph(node));
  }
  EXPECT_NE(failure(graph(R"({"Id": 1}, {"Id": 1})").substr(0, 20)), "no error");
  EXPECT_THROW((void)read(graph(R"({"Id": 1}, {"Id": 1})")), FormatError);
  EXPECT_THROW((void)read(graph(R"({"Id": 1, "data_deps": [5]})")), DependencyError);
}

TEST(JsonEt, TheOffsetOfABadAttributeIsThatOfItsValue) {
  const std::string text = graph(R"({"Id": 1, "x": 1, "comm_size": "big", "y": 2})");
  try {
    (void)read(text);
    FAIL();
  } catch (const FormatError& error) {
    EXPECT_EQ(error.location().offset, text.find("\"big\""));
  }
}

TEST(JsonEt, RecoveryKeepsWhatIsWhole) {
  const std::string text = graph(R"({"Id": 1, "runtime": "x"}, {"Name": "lost"}, {"Id": 2, "data_deps": [1, 7]},
      {"Id": 3, "comm_size": "big"}, {"Id": 4, "x": )") +
                           R"({"Id": 5}]})";
  const TracePtr trace = read(text, OnError::recover);
  EXPECT_GE(trace->size(), 3U);
  EXPECT_TRUE(trace->find(1) && trace->find(2) && trace->find(3));
  EXPECT_EQ(trace->column(IntegerAttribute::comm_size).count(), 0U);
  EXPECT_EQ(trace->load_report().count(ProblemKind::attribute_type), 1U);
  EXPECT_EQ(trace->load_report().count(ProblemKind::missing_parent), 1U);
  EXPECT_GE(trace->load_report().count(ProblemKind::malformed_record), 2U);
}

TEST(JsonEt, CutAnywhereIsAnErrorAndKeepsWholeNodes) {
  const std::string text = graph(R"({"Id": 1, "Name": "a"}, {"Id": 2, "attr": [{"name": "x", "bool_val": true}]})");
  for (std::size_t size = 1; size < text.size(); ++size) {
    const std::string part = text.substr(0, size);
    EXPECT_THROW((void)read(part), FormatError) << part;
    const TracePtr kept = read(part, OnError::recover);
    EXPECT_FALSE(kept->load_report().ok()) << part;
    EXPECT_LE(kept->size(), 2U);
  }
}

}  // namespace
}  // namespace chakra
