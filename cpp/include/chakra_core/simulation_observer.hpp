// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

#include "chakra_core/node_type.hpp"

namespace chakra {

/// A collective that an observer is told of. `group` is valid during the call.
struct ObservedCollective {
  std::string_view group;    ///< "all ranks" for the world
  std::uint64_t number = 0;  ///< how many the group ran before
  CollectiveType type = CollectiveType::all_reduce;
  std::uint64_t size = 0;  ///< comm_size
};

/// Told by `simulate` what happens, in the order in which it happens: times never go back.
///
/// Override what is of interest. Calls come on the thread that called `simulate`; an exception ends the run and leaves
/// `simulate`. Nodes that take no time begin and end in one ns.
class SimulationObserver {
 public:
  SimulationObserver() = default;
  SimulationObserver(const SimulationObserver&) = delete;
  SimulationObserver& operator=(const SimulationObserver&) = delete;
  virtual ~SimulationObserver() = default;

  virtual void node_started(std::uint32_t /*rank*/, NodeIndex /*row*/, std::uint64_t /*now_ns*/) {}
  virtual void node_ended(std::uint32_t /*rank*/, NodeIndex /*row*/, std::uint64_t /*now_ns*/) {}
  /// The first member of the group begins it.
  virtual void collective_started(const ObservedCollective& /*collective*/, std::uint64_t /*now_ns*/) {}
  /// The last member is through.
  virtual void collective_ended(const ObservedCollective& /*collective*/, std::uint64_t /*now_ns*/) {}
  /// The run begins again at 0, with all messages (fidelity automatic): what was told so far does not count.
  virtual void restarted() {}
};

}  // namespace chakra
