// SPDX-License-Identifier: MIT
#include <cstdint>
#include <string>

#include "pytorch/host_reader.hpp"
#include "pytorch_reader.hpp"

namespace {

using namespace chakra;

struct HostReader {
  using Trace = pytorch::HostTrace;

  static Trace read(io::ByteStream& stream, OnError on_error, std::size_t window) {
    return pytorch::read_host_trace(stream, "fuzz", {.on_error = on_error}, {.window_bytes = window});
  }

  static void check(const Trace& trace) {
    for (const pytorch::HostNode& node : trace.nodes) {
      test::require(node.name < trace.strings.size(), "strings exist");
      test::require(node.first_attribute + node.attribute_count <= trace.attributes.size(), "attributes exist");
    }
    for (const pytorch::HostAttribute& attribute : trace.attributes) {
      test::require(attribute.name < trace.strings.size(), "strings exist");
    }
  }

  static bool same_records(const Trace& a, const Trace& b) {
    bool equal = a.nodes.size() == b.nodes.size() && a.attributes.size() == b.attributes.size();
    for (std::size_t i = 0; equal && i < a.nodes.size(); ++i) {
      equal = a.nodes[i].id == b.nodes[i].id && a.strings.view(a.nodes[i].name) == b.strings.view(b.nodes[i].name);
    }
    return equal;
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  test::PytorchReaderFuzz<HostReader>::run(text, false);
  test::PytorchReaderFuzz<HostReader>::run("{\"nodes\": [" + text, true);
  return 0;
}
