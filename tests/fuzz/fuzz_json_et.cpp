// SPDX-License-Identifier: MIT
// Arbitrary bytes as the JSON form of an ET: strict reading gives a trace or an error of ours, recovery always gives a
// trace, and what it kept reads strictly again, from text that comes out the same when it is written once more.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "chakra_core/errors.hpp"
#include "chakra_core/et_file.hpp"
#include "io/json_et.hpp"
#include "require.hpp"

namespace chakra {
namespace {

using test::require;

TracePtr read(std::string_view text, OnError on_error) {
  return io::read_json_et(*io::make_memory_stream(text), "<fuzz>", {.on_error = on_error, .threads = 1});
}

std::string write(const Trace& trace) {
  std::string text;
  io::write_json_et(trace, trace.metadata().version, nullptr, [&](std::string_view part) { text += part; });
  return text;
}

void require_same(const Trace& one, const Trace& other) {
  require(one.size() == other.size(), "as many nodes after writing and reading");
  require(one.metadata().version == other.metadata().version, "the same version after writing and reading");
  for (NodeIndex row = 0; row < one.size(); ++row) {
    require(one.ids()[row] == other.ids()[row] && one.types()[row] == other.types()[row] &&
                one.start_ns()[row] == other.start_ns()[row] && one.duration_ns()[row] == other.duration_ns()[row] &&
                one.name(row) == other.name(row),
            "the same node after writing and reading");
    for (std::size_t i = 0; i < integer_attribute_count; ++i) {
      const auto which = static_cast<IntegerAttribute>(i);
      require(one.column(which).get(row) == other.column(which).get(row), "the same column after writing and reading");
    }
  }
}

void check(std::string_view text) {
  try {
    require(read(text, OnError::strict)->load_report().ok(), "a strict load reports nothing");
  } catch (const FormatError&) {
  } catch (const DependencyError&) {
  }
  const TracePtr kept = read(text, OnError::recover);
  (void)validate(*kept);
  const std::string written = write(*kept);
  require(io::looks_like_json(written), "what is written is told for JSON");
  const TracePtr again = read(written, OnError::strict);
  require_same(*kept, *again);
  require(write(*again) == written, "writing what was written changes nothing");
}

}  // namespace
}  // namespace chakra

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  chakra::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
