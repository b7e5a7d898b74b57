// SPDX-License-Identifier: MIT
// Arbitrary bytes as an ET: strict reading gives a trace or an error of ours, recovery always gives a trace, and what
// it kept can be written and read strictly again.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "chakra_core/errors.hpp"
#include "chakra_core/et_file.hpp"
#include "chakra_core/feeder.hpp"
#include "io/codec.hpp"
#include "io/json_et.hpp"
#include "require.hpp"
#include "wire/encode.hpp"

namespace chakra {
namespace {

using test::require;

TracePtr read(std::string_view bytes, OnError on_error) {
  return load_bytes(std::as_bytes(std::span(bytes)), "<fuzz>",
                    {.on_error = on_error, .threads = 1, .max_inflated_bytes = 1 << 24});
}

/// Everything that can be asked of a trace; decoding on demand may find bytes that loading did not look at.
void use(const Trace& trace) {
  for (NodeIndex row = 0; row < trace.size(); ++row) {
    require(trace.find(trace.ids()[row]) == row, "a node is found by its id");
    (void)trace.record(row);
    try {
      (void)trace.attributes(row);
      (void)trace.attribute(row, "comm_size");
      (void)trace.inputs(row);
      (void)trace.outputs(row);
    } catch (const FormatError&) {
      // Allowed: see Trace.
    }
  }
  (void)validate(trace);
}

/// Feeds to the end, or to an error that names a cycle.
void feed(const TracePtr& trace) {
  Feeder feeder(trace);
  std::size_t fed = 0;
  try {
    while (const auto row = feeder.pop()) {
      feeder.complete(*row);
      ++fed;
    }
    require(fed == trace->size(), "without an error every node was fed");
  } catch (const DependencyError& error) {
    require(!error.nodes().empty() && !find_cycles(*trace).empty(), "a feeder is stuck only on a cycle");
  }
}

std::string write(const Trace& trace) {
  std::string bytes;
  const auto append = [&](std::string_view message) {
    std::array<char, wire::longest_frame> length{};
    bytes.append(length.data(), wire::write_frame(length.data(), message.size())).append(message);
  };
  append(trace.metadata_record());
  for (NodeIndex row = 0; row < trace.size(); ++row) {
    append(trace.record(row));
  }
  return bytes;
}

bool same_list(std::span<const NodeIndex> one, std::span<const NodeIndex> other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end());
}

void require_same(const Trace& one, const Trace& other) {
  require(one.size() == other.size(), "as many nodes after writing and reading");
  for (NodeIndex row = 0; row < one.size(); ++row) {
    require(one.ids()[row] == other.ids()[row] && one.types()[row] == other.types()[row] &&
                one.start_ns()[row] == other.start_ns()[row] && one.duration_ns()[row] == other.duration_ns()[row] &&
                one.name(row) == other.name(row) && one.record(row) == other.record(row),
            "the same node after writing and reading");
    require(same_list(one.data_deps()[row], other.data_deps()[row]) &&
                same_list(one.ctrl_deps()[row], other.ctrl_deps()[row]),
            "the same parents after writing and reading");
    for (std::size_t i = 0; i < integer_attribute_count; ++i) {
      const auto which = static_cast<IntegerAttribute>(i);
      require(one.column(which).get(row) == other.column(which).get(row), "the same column after writing and reading");
    }
  }
}

void check(std::string_view bytes) {
  try {
    const TracePtr trace = read(bytes, OnError::strict);
    require(trace->load_report().ok(), "a strict load reports nothing");
    const bool as_it_is = io::detect_compression(bytes) == Compression::none && !io::looks_like_json(bytes);
    require(!as_it_is || write(*trace).size() <= bytes.size(), "writing adds nothing");
    use(*trace);
    feed(trace);
  } catch (const FormatError&) {
  } catch (const DependencyError&) {
  }
  const TracePtr kept = read(bytes, OnError::recover);
  use(*kept);
  feed(kept);
  require_same(*kept, *read(write(*kept), OnError::strict));
}

}  // namespace
}  // namespace chakra

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  chakra::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
