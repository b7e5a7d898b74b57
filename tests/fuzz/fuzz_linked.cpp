// SPDX-License-Identifier: MIT
// Arbitrary bytes as a linked file: reading gives a linked trace or an error of ours. Whatever was read is converted to
// graphs that run to their end, and is the same after writing and reading.
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "chakra_core/errors.hpp"
#include "chakra_core/linked_trace.hpp"
#include "chakra_core/replay.hpp"
#include "require.hpp"
#include "scratch_directory.hpp"

namespace chakra {
namespace {

using namespace chakra::test;

constexpr std::array layouts = {TraceLayout::exact, TraceLayout::ops};

std::optional<LinkedTrace> read(const std::filesystem::path& file, OnError on_error) {
  try {
    return load_linked(file, {.on_error = on_error});
  } catch (const FormatError&) {
  } catch (const LinkError&) {
  }
  return std::nullopt;
}

void require_same(const Trace& one, const Trace& other) {
  require(one.size() == other.size(), "as many nodes after writing and reading");
  for (NodeIndex row = 0; row < one.size(); ++row) {
    require(one.record(row) == other.record(row), "the same node after writing and reading");
  }
}

void use(const LinkedTrace& linked, const std::filesystem::path& scratch) {
  require(!linked.report().text().empty(), "the report says something");
  save_linked(linked, scratch);
  const LinkedTrace again = load_linked(scratch);
  for (const TraceLayout layout : layouts) {
    const TracePtr trace = convert(linked, {.layout = layout});
    require(find_cycles(*trace).empty(), "nothing waits for itself");
    require(replay(*trace, ReplayDependencies::both).nodes == trace->size(), "a converted trace runs to its end");
    require_same(*trace, *convert(again, {.layout = layout}));
  }
}

void check(const std::string& text) {
  static const ScratchDirectory directory;
  const auto file = directory / "fuzz.json";
  write_file(file, text);
  for (const OnError on_error : {OnError::strict, OnError::recover}) {
    if (const auto linked = read(file, on_error)) {
      use(*linked, directory / "again.json");
    }
  }
}

}  // namespace
}  // namespace chakra

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  chakra::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
