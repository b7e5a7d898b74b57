// SPDX-License-Identifier: MIT
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "chakra_core/dump.hpp"
#include "chakra_core/errors.hpp"
#include "chakra_core/trace_builder.hpp"
#include "io/json_text.hpp"
#include "message.hpp"
#include "traces.hpp"

namespace chakra {
namespace {

std::string whole(TraceDump dump) {
  std::string text;
  while (auto piece = dump.next()) {
    text += *piece;
  }
  return text;
}

/// One character at a time, as the standard says it.
std::string escaped(std::string_view text) {
  std::string out = "\"";
  for (const char character : text) {
    const auto code = static_cast<unsigned char>(character);
    if (character == '"' || character == '\\') {
      out += '\\';
      out += character;
    } else if (character == '\n') {
      out += "\\n";
    } else if (character == '\t') {
      out += "\\t";
    } else if (code < 0x20) {
      constexpr std::string_view hex = "0123456789abcdef";
      out += std::string("\\u00") + hex[code / 16] + hex[code % 16];
    } else {
      out += character;
    }
  }
  return out + '"';
}

TEST(JsonText, EscapesEveryByteAtEveryPlace) {
  for (unsigned code = 0; code < 0x80; ++code) {
    for (std::size_t place = 0; place < 19; ++place) {
      std::string text = "abcdefgh\xc3\xa9jklmnopqr";
      text[place == 8 || place == 9 ? 7 : place] = static_cast<char>(code);
      std::string out;
      io::append_json_string(out, text);
      EXPECT_EQ(out, escaped(text));
    }
  }
}

TEST(JsonText, BytesThatAreNoUtf8AreReplaced) {
  std::string out;
  io::append_json_string(out, "abcdefghij\xff\"");
  EXPECT_EQ(out, "\"abcdefghij\xef\xbf\xbd\\\"\"");
}

TEST(Dump, FormsOfTwoNodes) {
  TraceBuilder builder;
  const std::vector<NodeId> parents = {7};
  const std::vector<Attribute> attributes = {make_int64("comm_size", -1), make_string("s", "a,\"b\""),
                                             make_bool("s", true)};
  const IoInfo inputs{"v", "", ""};
  builder.add_node({.id = 7, .name = "a", .type = NodeType::comp});
  builder.add_node(
      {.id = 8, .type = NodeType::comp, .data_deps = parents, .attributes = attributes, .inputs = &inputs});
  const TracePtr trace = builder.build();
  const std::string first =
      R"({"id":7,"name":"a","type":"COMP_NODE","start_ns":0,"duration_ns":0,"data_deps":[],"ctrl_deps":[],"attrs":{}})";
  const std::string second =
      R"({"id":8,"name":"","type":"COMP_NODE","start_ns":0,"duration_ns":0,"data_deps":[7],"ctrl_deps":[],)"
      R"("inputs":{"values":"v","shapes":"","types":""},"attrs":{"comm_size":-1,"s":"a,\"b\""}})";
  EXPECT_EQ(whole({trace, {0, 1}, {}}), first + "\n" + second + "\n");
  EXPECT_EQ(whole({trace, {1, 0}, {.form = DumpForm::json_array}}), "[\n" + second + ",\n" + first + "\n]\n");
  EXPECT_EQ(whole({trace, {}, {.form = DumpForm::json_array}}), "[\n]\n");
  EXPECT_EQ(whole({trace, {0, 1}, {.form = DumpForm::csv, .columns = {"id", "data_deps", "comm_size", "s"}}}),
            "id,data_deps,comm_size,s\r\n7,,,\r\n8,7,-1,\"a,\"\"b\"\"\"\r\n");
  EXPECT_THROW(TraceDump(trace, {2}, {}), ChakraError);
}

TEST(Dump, TheNumberOfThreadsDoesNotShow) {
  std::vector<test::Plain> nodes(20'000);
  for (NodeId id = 0; id < nodes.size(); ++id) {
    nodes[id] = {id, id == 0 ? std::vector<NodeId>{} : std::vector<NodeId>{id - 1}};
  }
  const TracePtr trace = test::make_trace(nodes);
  std::vector<NodeIndex> rows(nodes.size());
  std::iota(rows.begin(), rows.end(), NodeIndex{0});
  EXPECT_EQ(whole({trace, rows, {.threads = 1}}), whole({trace, rows, {.threads = 3}}));
}

TEST(Dump, AMalformedAttributeIsAFormatError) {
  TraceBuilder builder;
  builder.add_record(test::number_field(1, 4) + test::attribute("x", test::bytes_field(29, "\xff")));
  const TracePtr trace = builder.build();
  TraceDump dump(trace, {0}, {});
  EXPECT_THROW((void)dump.next(), FormatError);
}

}  // namespace
}  // namespace chakra
