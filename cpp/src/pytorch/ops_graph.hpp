// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "pytorch/linked_model.hpp"

namespace chakra::pytorch {

enum class OpsKind : std::uint8_t {
  host,  ///< a node of the host trace
  op,    ///< an op that only the device trace has
  work,  ///< a device work
  comm,  ///< a backend communication that only the device trace has
};

struct OpsNode {
  OpsKind kind = OpsKind::host;
  std::uint32_t index = no_row;   ///< host row, frame, work, or communication
  std::uint32_t frame = no_row;   ///< of a CPU node that the device trace timed
  std::uint32_t comm = no_row;    ///< backend communication that this node is
  std::uint32_t parent = no_row;  ///< node of the caller
  std::int64_t order_ns = 0;  ///< start of the op or of the call that launched the work: dependencies go forward in it
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;  ///< exclusive, without waiting
};

/// Something that a CPU node waits for.
struct OpsWait {
  std::uint32_t source = no_row;
  std::uint32_t target = no_row;
  PieceWaitKind kind = PieceWaitKind::device;
};

/// One node a host node and a device event, in the order of their ids: host nodes by id, each followed by its device
/// work; then what no host node has.
struct OpsGraph {
  std::vector<OpsNode> nodes;
  std::vector<std::vector<std::uint32_t>> deps;  ///< by node: what it depends on, without repetition
  std::vector<OpsWait> waits;                    ///< those of `deps` that are waits of CPU nodes

  /// The name of a node; lives as long as the model.
  static std::string_view name_of(const LinkedModel& model, const OpsNode& node);
  /// What the node communicates, or null.
  static const Communication* communication_of(const LinkedModel& model, const OpsNode& node);
  /// Frame of the op that a node is, or that launched it; or no_row.
  static std::uint32_t owner_of(const LinkedModel& model, const OpsNode& node);
};

OpsGraph build_ops_graph(const LinkedModel& model);

}  // namespace chakra::pytorch
