// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "chakra_core/linked_trace.hpp"
#include "chakra_core/replay.hpp"
#include "pytorch/communication.hpp"
#include "pytorch/exact_graph.hpp"
#include "pytorch/host_match.hpp"
#include "pytorch/pieces.hpp"

namespace chakra::pytorch {

/// A wait that another linker found, between events of the device trace.
struct NodeWait {
  std::uint32_t source = no_row;  ///< device work or op
  std::uint32_t target = no_row;  ///< op
};

/// What a linked trace of another linker has: times and waits of nodes, and no calls between them.
struct NodeTimes {
  bool only = false;
  std::vector<NodeWait> waits;
};

/// Everything that linking knows. The converter reads it and nothing else.
struct LinkedModel {
  std::optional<HostTrace> host;
  std::optional<DeviceTrace> device;
  std::optional<std::int64_t> rank;

  CallTree tree;
  HostMatch match;
  Launches launches;
  CpuWaits cpu_waits;
  StreamWaits stream_waits;
  std::vector<HandOver> hand_overs;
  std::vector<BackendComm> backend_comms;
  Pieces pieces;
  std::vector<ProcessGroup> groups;
  Communications communications;
  NodeTimes node_times;

  /// What follows from the rest; made on first use.
  struct Findings {
    std::once_flag report_once;
    LinkReport report;
    std::once_flag replay_once;
    ReplayReport replay;
  };
  mutable Findings findings;
};

/// Links traces that are in memory. At least one must be there.
LinkedTrace link_traces(std::optional<HostTrace> host, std::optional<DeviceTrace> device,
                        const LinkOptions& options = {}, NodeTimes node_times = {});

/// What linking found. Linear.
LinkReport report_on(const LinkedModel& model);

}  // namespace chakra::pytorch
