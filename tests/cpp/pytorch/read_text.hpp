// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "io/byte_stream.hpp"
#include "pytorch/device_reader.hpp"
#include "pytorch/host_reader.hpp"

namespace chakra::test {

inline pytorch::DeviceTrace read_device(std::string_view json, OnError on_error = OnError::strict,
                                        std::size_t window = 4096) {
  const auto stream = io::make_memory_stream(json);
  return pytorch::read_device_trace(*stream, "device.json", {.on_error = on_error}, {.window_bytes = window});
}

inline pytorch::HostTrace read_host(std::string_view json, OnError on_error = OnError::strict,
                                    std::size_t window = 4096) {
  const auto stream = io::make_memory_stream(json);
  return pytorch::read_host_trace(*stream, "host.json", {.on_error = on_error}, {.window_bytes = window});
}

/// Count of a kind in a report; 0 if it is not there.
inline std::uint64_t count_of(const pytorch::ReadReport& report, std::string_view what) {
  const auto entry = std::find_if(report.entries.begin(), report.entries.end(),
                                  [&](const pytorch::ReadReport::Entry& each) { return each.what == what; });
  return entry == report.entries.end() ? 0 : entry->count;
}

/// Text behind an interned id; "<absent>" for no_string.
template <class TraceType>
std::string text_of(const TraceType& trace, std::uint32_t id) {
  return id == pytorch::no_string ? "<absent>" : std::string(trace.strings.view(id));
}

}  // namespace chakra::test
