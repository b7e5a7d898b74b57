// SPDX-License-Identifier: MIT
// Whatever the bytes: strict reads or throws FormatError; recover reads whatever has a list of events, without
// throwing, the same for every window.
#include <cstdint>
#include <optional>
#include <string>

#include "chakra_core/errors.hpp"
#include "io/byte_stream.hpp"
#include "pytorch/device_reader.hpp"
#include "require.hpp"

namespace {

using namespace chakra;

std::optional<pytorch::DeviceTrace> read(const std::string& text, OnError on_error, std::size_t window) {
  const auto stream = io::make_memory_stream(text);
  try {
    return pytorch::read_device_trace(*stream, "fuzz", {.on_error = on_error}, {.window_bytes = window});
  } catch (const FormatError&) {
    return std::nullopt;
  }
}

void check(const pytorch::DeviceTrace& trace) {
  for (const pytorch::DeviceEvent& event : trace.events) {
    test::require(event.duration_ns >= 0 && event.end_ns() >= event.start_ns, "no event ends before it starts");
    test::require(event.name < trace.strings.size() && event.thread < trace.threads.size(), "rows and strings exist");
    test::require(event.op == pytorch::no_row || event.op < trace.ops.size(), "arguments exist");
    test::require(event.comm == pytorch::no_row || event.comm < trace.communications.size(), "arguments exist");
    test::require(event.sync == pytorch::no_row || event.sync < trace.syncs.size(), "arguments exist");
  }
}

bool same(const pytorch::DeviceTrace& a, const pytorch::DeviceTrace& b) {
  bool equal = a.events.size() == b.events.size() && a.flows.size() == b.flows.size() &&
               a.report.entries.size() == b.report.entries.size();
  for (std::size_t i = 0; equal && i < a.report.entries.size(); ++i) {
    equal = a.report.entries[i].what == b.report.entries[i].what &&
            a.report.entries[i].count == b.report.entries[i].count &&
            a.report.entries[i].first == b.report.entries[i].first;
  }
  for (std::size_t i = 0; equal && i < a.events.size(); ++i) {
    equal = a.events[i].start_ns == b.events[i].start_ns &&
            a.strings.view(a.events[i].name) == b.strings.view(b.events[i].name);
  }
  return equal;
}

void check_all(const std::string& text, bool has_list) {
  const auto strict = read(text, OnError::strict, 64);
  const auto recovered = read(text, OnError::recover, 64);
  const auto wide = read(text, OnError::recover, 4096);
  test::require(recovered.has_value() == wide.has_value(), "recover does not depend on the window");
  if (has_list) {
    test::require(recovered.has_value(), "recover does not throw");
  }
  if (recovered) {
    check(*recovered);
    test::require(same(*recovered, *wide), "recover does not depend on the window");
  }
  if (strict) {
    check(*strict);
    test::require(recovered.has_value(), "recover reads what strict reads");
    if (recovered->report.entries.size() == strict->report.entries.size()) {
      test::require(same(*strict, *recovered), "recover leaves a sound trace as it is");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_all(text, false);
  check_all("{\"traceEvents\": [" + text, true);
  return 0;
}
