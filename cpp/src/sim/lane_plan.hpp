// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "chakra_core/simulator.hpp"
#include "sim/group_table.hpp"
#include "sim/launch_order.hpp"

namespace chakra::sim {

/// In the order in which lanes are listed and drawn.
enum class LaneKind : std::uint8_t { idle, cpu, thread, compute, stream, comm, receive, memory };

/// What a node occupies a slot of while it runs.
struct Lane {
  LaneKind kind = LaneKind::idle;
  std::int64_t device = -1;  ///< of a stream, where the trace has several devices
  std::int64_t number = 0;   ///< of a thread or stream
  std::string group = {};    ///< of communication; empty: all ranks

  auto operator<=>(const Lane&) const = default;
  /// "thread 1", "stream 7", "comm tp"
  std::string name() const;
};

/// As many slots as there are nodes.
inline constexpr std::uint32_t unlimited = ~std::uint32_t{0};

/// Neither computation, memory access nor communication.
bool is_empty(NodeType type) noexcept;
bool is_memory(NodeType type) noexcept;
bool is_on_cpu(const Trace& trace, NodeIndex row) noexcept;
/// A METADATA node that a thread spent recorded time on.
bool is_timed_metadata(const Trace& trace, NodeIndex row) noexcept;

/// Lane and resource of every node of a trace.
struct LanePlan {
  std::vector<Lane> lanes;
  std::vector<std::uint32_t> slots;        ///< of each lane
  std::vector<std::uint32_t> numbers;      ///< of each lane among those of all traces
  std::vector<std::uint32_t> lane_of_row;  ///< indices into `lanes`
  std::vector<Resource> resource_of_row;
  LaunchOrder launch_order;  ///< empty in parity mode
};

/// The plans of all ranks; ranks that share a trace share its plan.
class LanePlans {
 public:
  LanePlans(std::span<const TracePtr> traces, const SimulationConfig& config, const GroupTable& groups);

  const LanePlan& of(const TracePtr& trace) const { return plans_.at(trace.get()); }
  /// Lane and resource of all nodes, by rank. Leaves the plans empty.
  std::vector<std::shared_ptr<const NodePlaces>> places(std::span<const TracePtr> traces) &&;
  /// Names of the lanes of all traces, by their numbers.
  const std::vector<std::string>& names() const noexcept { return names_; }

 private:
  void number_lanes();

  std::map<const Trace*, LanePlan> plans_;
  std::vector<std::string> names_;
};

}  // namespace chakra::sim
