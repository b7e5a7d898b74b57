// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

#include "chakra_core/simulator.hpp"
#include "sim/chunk.hpp"
#include "sim/collective_runner.hpp"
#include "sim/group_table.hpp"
#include "sim/kernel.hpp"
#include "sim/message_phases.hpp"
#include "sim/node_runner.hpp"
#include "sim/transport.hpp"

namespace chakra::sim {

/// Wires the parts of one simulation together and hands each event to the part that it concerns.
class Engine final : public CompletionListener {
 public:
  Engine(std::span<const TracePtr> traces, const SimulationConfig& config, Progress* progress);

  /// Runs to the end. Throws SimulationError where nothing can go on.
  SimulationResult run();

  void completed(const Continuation& continuation) override;

 private:
  void drain();
  void dispatch(const Event& event);
  void act(std::uint32_t rank, const Action& action);
  void add_warnings();

  const SimulationConfig& config_;
  Progress* progress_;
  SimulationResult result_;
  Kernel kernel_;
  GroupTable groups_;
  Transport transport_;
  ChunkPool chunks_;
  NodeRunner nodes_;
  CollectiveRunner collectives_;
  MessagePhases phases_;
};

}  // namespace chakra::sim
