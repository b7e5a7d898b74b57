// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "pytorch/host_trace.hpp"

// A linked trace as JSON: the host trace's form with the device work among its nodes, which is what older converters
// read; beside it, under names that those do not look at, where the nodes stood in the host trace, the cut points, and
// the device trace that all of it follows from.
namespace chakra::pytorch {

/// Member of the outermost object that tells our linked files from others'.
inline constexpr std::string_view linked_key = "chakra_core_linked";
inline constexpr std::int64_t linked_version = 1;

/// What a linked file says of a node beyond what a host trace does.
struct LinkedNode {
  bool has_time = false;
  bool from_host = false;  ///< it stood in the host trace, at `row`
  std::uint64_t row = 0;
  std::uint64_t host_id = 0;
  std::uint64_t host_parent = no_host_id;
  std::int64_t start_ns = 0;           ///< "ts"
  std::int64_t duration_ns = 0;        ///< "inclusive_dur"
  std::int64_t stream = 0;             ///< "stream"
  std::uint32_t category = no_string;  ///< "cat": only device work has one
  std::uint32_t group = no_string;     ///< "pg_name"
};

/// What a linked file says beyond its host trace.
struct LinkedExtras {
  std::int64_t version = 0;  ///< 0: not one of ours
  std::optional<std::int64_t> rank;
  bool host = false;
  bool device = false;
  std::vector<LinkedNode> nodes;  ///< as HostTrace::nodes
  struct Wait {
    std::uint64_t source = 0;  ///< what is waited for: a node's id
    std::uint64_t target = 0;  ///< what waits
  };
  std::vector<Wait> waits;  ///< "sync_dep" and "inter_thread_dep"
  /// Absent: the device trace has the calls that all waits follow from. Otherwise another linker's waits, of rows of
  /// the device trace's events.
  std::optional<std::vector<Wait>> event_waits;
};

}  // namespace chakra::pytorch
