// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "chakra_core/timeline.hpp"
#include "io/output_file.hpp"

namespace chakra::timeline {

/// Arrows at a slice; each arrow has a number, from 1 on.
struct SliceFlows {
  struct Arrival {
    std::uint64_t flow;
    std::uint64_t from_start_ns;  ///< start of the slice that it comes from
  };
  std::vector<std::uint64_t> leaving = {};
  std::vector<Arrival> arriving = {};
};

/// Takes a timeline in drawing order and writes it in one file format.
class Sink {
 public:
  Sink() = default;
  virtual ~Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  virtual void begin_process(const TimelineProcess& process) = 0;
  /// A lane of the current process: the `number`-th (from 0) of this track.
  virtual void begin_lane(std::string_view track, std::size_t number) = 0;
  /// A slice of the current lane, by ascending start; those it holds come after it.
  virtual void slice(std::size_t index, const SliceFlows& flows) = 0;
  virtual void end_lane() = 0;
  /// After the last lane of the last process.
  virtual void counter(const TimelineCounter& counter) = 0;
  /// After everything.
  virtual void finish() = 0;
};

std::unique_ptr<Sink> make_chrome_json_sink(io::OutputFile& file);
std::unique_ptr<Sink> make_perfetto_sink(io::OutputFile& file);

}  // namespace chakra::timeline
