// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "chakra_core/trace.hpp"

namespace chakra {

enum class ReplayDependencies : std::uint8_t { data, both };

/// A trace played with nothing but its own durations and dependencies, against the times it records.
struct ReplayReport {
  std::size_t nodes = 0;
  std::uint64_t recorded_ns = 0;  ///< latest recorded end
  std::uint64_t replayed_ns = 0;  ///< latest replayed end
  double total_error = 0;         ///< (replayed - recorded) / recorded; 0 for an empty record

  // Distance of replayed and recorded starts over all nodes.
  std::uint64_t start_error_max_ns = 0;
  std::uint64_t start_error_median_ns = 0;
  std::uint64_t start_error_p95_ns = 0;
  std::map<std::int64_t, std::uint64_t> start_error_by_stream;  ///< largest, by attribute `stream`

  /// Neighbours on a stream, by recorded start, whose replayed starts are the other way round.
  std::uint64_t inversions = 0;
  /// "lag" nodes of a stream that are longer than 20 us: device time that no dependency explains.
  std::uint64_t unexplained_device_waits = 0;
  std::uint64_t unexplained_device_wait_ns = 0;

  /// All of it for people, several lines.
  std::string text() const;
};

/// Every node starts when the last of its dependencies ends, and takes its duration; there are no other resources.
/// Linear. Throws DependencyError for a cycle.
ReplayReport replay(const Trace& trace, ReplayDependencies dependencies = ReplayDependencies::data);

}  // namespace chakra
