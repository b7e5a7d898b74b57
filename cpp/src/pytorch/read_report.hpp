// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace chakra::pytorch {

/// What a reader mended or lost, one entry a kind, in order of first appearance. Bounded: a kind keeps
/// its count and its first place only.
struct ReadReport {
  struct Entry {
    std::string what;  ///< stable text of the kind, e.g. "kernel with timestamp 0"
    std::uint64_t count = 0;
    std::string first;  ///< where it was met first, e.g. "byte 1234"; empty if unknown
  };
  std::vector<Entry> entries;

  void add(std::string_view what, std::string_view where = {}, std::uint64_t count = 1) {
    for (Entry& entry : entries) {
      if (entry.what == what) {
        entry.count += count;
        return;
      }
    }
    entries.push_back({std::string(what), count, std::string(where)});
  }
};

/// "byte 1234", as a ReadReport has it.
inline std::string place_text(std::uint64_t offset) { return "byte " + std::to_string(offset); }

/// Takes what reading of records finds into the report.
inline auto note_in(ReadReport& report) {
  return [&report](std::string_view what, std::optional<std::uint64_t> offset, std::uint64_t count) {
    report.add(what, offset ? place_text(*offset) : std::string(), count);
  };
}

}  // namespace chakra::pytorch
