// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "collective/phase_times.hpp"
#include "sim/chunk.hpp"
#include "sim/kernel.hpp"
#include "sim/transport.hpp"

namespace chakra::sim {

/// Carries out phases message by message.
class MessagePhases final : public PhaseExecutor {
 public:
  MessagePhases(const EndpointCosts& costs, Kernel& kernel, Transport& transport, ChunkPool& chunks,
                PhaseListener& listener);

  void begin(std::uint32_t chunk) override;
  void act(const Action& action);
  void completed(const Continuation& continuation);

 private:
  void open_slots(std::uint32_t index, std::uint64_t count);
  void close_slots(const Action& action);
  void take_token(std::uint32_t index);
  void send_next(std::uint32_t index);
  void receive_one(std::uint32_t index);

  void begin_tree(std::uint32_t index);
  void start_tree(std::uint32_t index);
  void child_received(std::uint32_t index);
  void child_done(std::uint32_t index);
  void parent_received(std::uint32_t index);
  void parent_done(std::uint32_t index);
  void send_up(std::uint32_t index);
  void send_down(std::uint32_t index);
  void await_parent(std::uint32_t index);
  void await_children(std::uint32_t index);

  void begin_custom(std::uint32_t index);
  void start_step(std::uint32_t index, std::uint32_t step);
  void end_step(std::uint32_t index, std::uint32_t step);

  void send(const Chunk& chunk, std::uint32_t to, std::uint64_t bytes);
  bool receive(const Chunk& chunk, std::uint32_t index, std::uint32_t from, std::uint64_t bytes, Then then);
  void later(std::uint32_t index, std::uint64_t delay, ActionKind kind);

  const EndpointCosts& costs_;
  Kernel& kernel_;
  Transport& transport_;
  ChunkPool& chunks_;
  PhaseListener& listener_;
};

}  // namespace chakra::sim
