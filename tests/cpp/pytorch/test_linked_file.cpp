// SPDX-License-Identifier: MIT
#include <fstream>

#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "io/json_scanner.hpp"
#include "io/python_repr.hpp"
#include "pytorch/repr_to_json.hpp"
#include "pytorch/trace_maker.hpp"
#include "scratch_directory.hpp"

namespace chakra::pytorch {
namespace {

using chakra::test::ScratchDirectory;
using test::TraceMaker;

std::string converted(const LinkedTrace& linked, TraceLayout layout, const ScratchDirectory& folder) {
  ConvertOptions options;
  options.layout = layout;
  save(*convert(linked, options), folder / "out.et");
  return chakra::test::read_file(folder / "out.et");
}

LinkedTrace small_trace() {
  TraceMaker make;
  make.op("aten::mm", 10, 9, "1", 3);
  make.call("cudaLaunchKernel", 12, 5, 1);
  make.kernel("sgemm", 20, 20, 1);
  const std::uint32_t comm = make.op("record_param_comms", 22, 8, "1", 4);
  make.comm(comm, "allreduce", 256);
  make.call("cudaLaunchKernel", 24, 5, 2);
  make.kernel("ncclDevKernel_AllReduce_Sum_f32", 40, 5, 2, 20);
  make.op("aten::item", 32, 40, "2", 5);
  make.call("cudaEventSynchronize", 33, 30, 9, "2");
  make.sync("Event Sync", 33, 30, 9, -1, 7, 8);
  make.call("cudaEventRecord", 8, 1, 8);
  make.node(1, "[pytorch|profiler|execution_trace|process]", 1, 0, 0);
  make.node(2, "[pytorch|profiler|execution_trace|thread]", 1, 0);
  make.node(5, "aten::item", 2, 5);
  make.node(4, "record_param_comms", 2, 4);
  make.node(3, "aten::mm", 2, 3);
  return make.link_both();
}

TEST(LinkedFile, ConvertsToTheSameBytes) {
  const ScratchDirectory folder;
  const LinkedTrace linked = small_trace();
  save_linked(linked, folder / "linked.json");
  const LinkedTrace again = load_linked(folder / "linked.json");
  for (const TraceLayout layout : {TraceLayout::exact, TraceLayout::ops}) {
    EXPECT_EQ(converted(linked, layout, folder), converted(again, layout, folder));
  }
}

TEST(LinkedFile, EveryTruncationIsReadOrRefused) {
  const ScratchDirectory folder;
  save_linked(small_trace(), folder / "linked.json");
  const std::string whole = chakra::test::read_file(folder / "linked.json");
  LinkOptions recovering;
  recovering.on_error = OnError::recover;
  std::size_t read = 0;
  for (std::size_t length = 0; length + 2 < whole.size(); length += 31) {
    std::ofstream(folder / "cut.json", std::ios::binary) << whole.substr(0, length);
    EXPECT_THROW(load_linked(folder / "cut.json"), ChakraError) << length;
    try {
      const LinkedTrace linked = load_linked(folder / "cut.json", recovering);
      EXPECT_GT(converted(linked, TraceLayout::exact, folder).size(), 0U);
      ++read;
    } catch (const ChakraError&) {
      // Not enough is left.
    }
  }
  EXPECT_GT(read, whole.size() / 31 / 4);
}

TEST(LinkedFile, ChangedBytesDoNoHarm) {
  const ScratchDirectory folder;
  save_linked(small_trace(), folder / "linked.json");
  const std::string whole = chakra::test::read_file(folder / "linked.json");
  LinkOptions recovering;
  recovering.on_error = OnError::recover;
  for (std::size_t at = 0; at < whole.size(); at += 23) {
    std::string changed = whole;
    changed[at] = "9-\"[]{},:x0"[at % 11];
    std::ofstream(folder / "changed.json", std::ios::binary) << changed;
    try {
      convert(load_linked(folder / "changed.json", recovering));
    } catch (const ChakraError&) {
      // Refused is fine.
    }
  }
}

std::string again_as_repr(std::string_view json) {
  const auto stream = io::make_memory_stream(json);
  io::JsonScanner scanner(*stream, "list", {.on_error = OnError::recover});
  std::string repr;
  io::append_python_repr(repr, scanner);
  return repr;
}

TEST(ReprToJson, ReadsBackAsTheSameRepr) {
  for (const std::string repr :
       {"[]", "[[1, -2, 0.5, 1e-07, 1e+22], [], [[]]]", "['a', \"it's\", 'say \"x\"', 'tab\\t', 'back\\\\slash']",
        "[True, False, None, nan, inf, -inf]", "['\\x01', '\\u2028', 'na\xC3\xAFve', '\xF0\x9F\x98\x80']",
        "[{'a': [1, 2], 'b': {}}]", "'text'", "7"}) {
    std::string json;
    append_repr_as_json(json, repr);
    EXPECT_EQ(again_as_repr(json), repr) << json;
  }
}

TEST(ReprToJson, AnythingElseBecomesAString) {
  for (const std::string text : {"", "[", "[1", "[1,", "[1 2]", "['a", "['a\\", "['\\xZZ']", "[a]", "[1]]", "{'a' 1",
                                 "['\\U99999999']", "[--]"}) {
    std::string json;
    append_repr_as_json(json, text);
    EXPECT_EQ(json.front(), '"') << text;
    EXPECT_EQ(json.back(), '"') << text;
  }
}

TEST(ReprToJson, DepthIsNoProblem) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  std::string json;
  append_repr_as_json(json, deep);
  EXPECT_EQ(json, deep);
}

}  // namespace
}  // namespace chakra::pytorch
