// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "chakra_core/progress.hpp"
#include "chakra_core/trace.hpp"

namespace chakra {

enum class TimelineFormat : std::uint8_t {
  chrome_json,  ///< Trace Event Format, for chrome://tracing, Perfetto and scripts
  perfetto,     ///< Perfetto's own protobuf: smaller, and faster to open
};

/// ".json" and ".json.gz" are Chrome JSON, every other name is Perfetto protobuf.
TimelineFormat timeline_format(const std::filesystem::path& path);

/// One group of tracks in the picture, such as a rank, and the slices on them: nodes of one trace with
/// a begin and an end. All columns have one entry a slice, in any order.
struct TimelineProcess {
  std::string name;                      ///< e.g. "rank 0"
  std::vector<std::string> tracks;       ///< names of the tracks, in the order shown
  TracePtr trace;                        ///< gives name, type, id and sizes of a slice's node
  std::span<const NodeIndex> rows;       ///< row of the slice's node in the trace
  std::span<const std::uint32_t> track;  ///< index into `tracks`
  std::span<const std::uint64_t> start_ns;
  std::span<const std::uint64_t> end_ns;
};

/// An arrow from the begin of a slice to the end of another, such as from a send to its receive.
struct TimelineFlow {
  std::uint32_t from_process;  ///< index into Timeline::processes
  std::uint32_t from_slice;    ///< index into that process's columns
  std::uint32_t to_process;
  std::uint32_t to_slice;
};

/// A curve of values, each of which holds from its time on.
struct TimelineCounter {
  std::string process;  ///< drawn under this name; counters of one process follow each other
  std::string name;
  std::string unit;                        ///< "%"; may be empty
  std::span<const std::uint64_t> time_ns;  ///< ascending
  std::span<const double> value;
};

/// All of a picture.
struct Timeline {
  std::span<const TimelineProcess> processes;
  std::span<const TimelineFlow> flows = {};
  std::span<const TimelineCounter> counters = {};
};

struct TimelineOptions {
  std::optional<TimelineFormat> format = {};  ///< absent: by the name, see timeline_format()
  Progress* progress = nullptr;               ///< optional; counts slices
};

/// Writes a timeline file, gzip-compressed if the name ends in ".gz". Slices of one track that overlap
/// without one holding the other are drawn on lanes of their own, so that each lane nests properly.
/// Goes to a temporary file that is renamed when complete. Equal input gives equal bytes.
/// Throws ChakraError for columns of unequal length, an end before its start, times of a counter that do not ascend,
/// and rows, tracks or slices that do not exist; IoError where the file cannot be written.
void write_timeline(const Timeline& timeline, const std::filesystem::path& path, const TimelineOptions& options = {});

}  // namespace chakra
