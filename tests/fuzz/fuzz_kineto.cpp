// SPDX-License-Identifier: MIT
#include <cstdint>
#include <string>

#include "pytorch/device_reader.hpp"
#include "pytorch_reader.hpp"

namespace {

using namespace chakra;

struct DeviceReader {
  using Trace = pytorch::DeviceTrace;

  static Trace read(io::ByteStream& stream, OnError on_error, std::size_t window) {
    return pytorch::read_device_trace(stream, "fuzz", {.on_error = on_error}, {.window_bytes = window});
  }

  static void check(const Trace& trace) {
    for (const pytorch::DeviceEvent& event : trace.events) {
      test::require(event.duration_ns >= 0 && event.end_ns() >= event.start_ns, "no event ends before it starts");
      test::require(event.name < trace.strings.size() && event.thread < trace.threads.size(), "rows and strings exist");
      test::require(event.op == pytorch::no_row || event.op < trace.ops.size(), "arguments exist");
      test::require(event.comm == pytorch::no_row || event.comm < trace.communications.size(), "arguments exist");
      test::require(event.sync == pytorch::no_row || event.sync < trace.syncs.size(), "arguments exist");
    }
  }

  static bool same_records(const Trace& a, const Trace& b) {
    bool equal = a.events.size() == b.events.size() && a.flows.size() == b.flows.size();
    for (std::size_t i = 0; equal && i < a.events.size(); ++i) {
      equal = a.events[i].start_ns == b.events[i].start_ns &&
              a.strings.view(a.events[i].name) == b.strings.view(b.events[i].name);
    }
    return equal;
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  test::PytorchReaderFuzz<DeviceReader>::run(text, false);
  test::PytorchReaderFuzz<DeviceReader>::run("{\"traceEvents\": [" + text, true);
  return 0;
}
