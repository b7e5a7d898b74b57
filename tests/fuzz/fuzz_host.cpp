// SPDX-License-Identifier: MIT
// Whatever the bytes: strict reads or throws FormatError; recover reads whatever has a list of nodes, without throwing,
// the same for every window.
#include <cstdint>
#include <optional>
#include <string>

#include "chakra_core/errors.hpp"
#include "io/byte_stream.hpp"
#include "pytorch/host_reader.hpp"
#include "require.hpp"

namespace {

using namespace chakra;

std::optional<pytorch::HostTrace> read(const std::string& text, OnError on_error, std::size_t window) {
  const auto stream = io::make_memory_stream(text);
  try {
    return pytorch::read_host_trace(*stream, "fuzz", {.on_error = on_error}, {.window_bytes = window});
  } catch (const FormatError&) {
    return std::nullopt;
  }
}

void check(const pytorch::HostTrace& trace) {
  for (const pytorch::HostNode& node : trace.nodes) {
    test::require(node.name < trace.strings.size(), "strings exist");
    test::require(node.first_attribute + node.attribute_count <= trace.attributes.size(), "attributes exist");
  }
  for (const pytorch::HostAttribute& attribute : trace.attributes) {
    test::require(attribute.name < trace.strings.size(), "strings exist");
  }
}

bool same(const pytorch::HostTrace& a, const pytorch::HostTrace& b) {
  bool equal = a.nodes.size() == b.nodes.size() && a.attributes.size() == b.attributes.size() &&
               a.report.entries.size() == b.report.entries.size();
  for (std::size_t i = 0; equal && i < a.report.entries.size(); ++i) {
    equal = a.report.entries[i].what == b.report.entries[i].what &&
            a.report.entries[i].count == b.report.entries[i].count &&
            a.report.entries[i].first == b.report.entries[i].first;
  }
  for (std::size_t i = 0; equal && i < a.nodes.size(); ++i) {
    equal = a.nodes[i].id == b.nodes[i].id && a.strings.view(a.nodes[i].name) == b.strings.view(b.nodes[i].name);
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
  check_all("{\"nodes\": [" + text, true);
  return 0;
}
