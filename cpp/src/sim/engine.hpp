// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

#include "chakra_core/simulator.hpp"
#include "sim/chunk.hpp"
#include "sim/collective_runner.hpp"
#include "sim/communication_log.hpp"
#include "sim/group_table.hpp"
#include "sim/kernel.hpp"
#include "sim/message_phases.hpp"
#include "sim/node_runner.hpp"
#include "sim/tie_watch.hpp"
#include "sim/transport.hpp"
#include "sim/whole_phases.hpp"

namespace chakra::sim {

/// Wires the parts of one simulation together and hands each event to the part that it concerns.
class Engine final : public CompletionListener {
 public:
  /// `copies`: 1; or the ranks that the only trace given stands for. Then `run` throws NotAlike where a phase is not
  /// the same for all of its members, and gives the result of that one rank.
  Engine(std::span<const TracePtr> traces, const SimulationConfig& config, const GroupTable& groups,
         const LanePlans& plans, std::uint32_t copies, Progress* progress);

  /// Runs to the end. Throws SimulationError where nothing can go on, and OrderMatters if it is for
  /// messages to decide what happens (fidelity automatic).
  SimulationResult run();

  void completed(const Continuation& continuation) override;

 private:
  [[noreturn]] void stalled();
  void drain();
  void dispatch(const Event& event);
  void act(std::uint32_t rank, const Action& action);
  void add_warnings();

  const SimulationConfig& config_;
  Progress* progress_;
  SimulationResult result_;
  EndpointCosts costs_;
  TieWatch ties_;
  Kernel kernel_;
  const GroupTable& groups_;
  std::uint32_t copies_;
  Transport transport_;
  CommunicationLog log_;
  ChunkPool chunks_;
  NodeRunner nodes_;
  CollectiveRunner collectives_;
  MessagePhases messages_;
  WholePhases phases_;
};

}  // namespace chakra::sim
