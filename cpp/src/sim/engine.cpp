// SPDX-License-Identifier: MIT
#include "sim/engine.hpp"

#include <string>
#include <utility>

#include "chakra_core/errors.hpp"
#include "sim/stall_report.hpp"

namespace chakra::sim {

namespace {

/// Events between two looks at Progress::cancel.
constexpr std::uint64_t cancel_period = 8192;

}  // namespace

Engine::Engine(std::span<const TracePtr> traces, const SimulationConfig& config, Progress* progress)
    : config_(config),
      progress_(progress),
      kernel_(config.network.npus()),
      groups_(config),
      transport_(config.network, {config.parity, config.congestion, config.rendezvous_protocol}, kernel_, *this),
      nodes_(traces, config, groups_, kernel_, transport_, collectives_, result_, progress),
      collectives_(config, groups_, kernel_, chunks_, nodes_),
      phases_(config, kernel_, transport_, chunks_, collectives_) {
  collectives_.set_executor(phases_);
}

SimulationResult Engine::run() {
  nodes_.start();
  drain();
  // Where two members of a dimension have taken their chunks in different orders, neither can go on.
  while (!config_.parity && !nodes_.finished() && collectives_.admit_blocked()) drain();
  if (!nodes_.finished()) throw SimulationError(stall_report(nodes_, collectives_, transport_, chunks_, groups_));
  nodes_.collect();
  add_warnings();
  result_.messages = transport_.messages();
  result_.events = kernel_.events();
  return std::move(result_);
}

void Engine::drain() {
  while (!kernel_.idle()) {
    dispatch(kernel_.next());
    if (progress_ != nullptr && kernel_.events() % cancel_period == 0 && progress_->cancel) throw Cancelled();
  }
}

void Engine::dispatch(const Event& event) {
  switch (event.kind) {
    case EventKind::batch:
      return kernel_.run_batch(event.subject, [&](const Action& action) { act(event.subject, action); });
    case EventKind::landing:
      return transport_.landing(event.subject);
    case EventKind::late_receive:
      return transport_.late_receive(event.subject);
    case EventKind::hop_arrival:
      return transport_.hop_arrival(event.subject);
    case EventKind::link_free:
      return transport_.link_free(event.subject);
  }
}

void Engine::act(std::uint32_t rank, const Action& action) {
  const bool of_node = action.kind == ActionKind::node_end || action.kind == ActionKind::collective_end;
  of_node ? nodes_.act(rank, action) : phases_.act(action);
}

void Engine::completed(const Continuation& continuation) {
  const bool of_node = continuation.then == Then::send_done || continuation.then == Then::receive_done;
  of_node ? nodes_.complete(continuation.a, continuation.b) : phases_.completed(continuation);
}

void Engine::add_warnings() {
  const auto add = [this](std::uint64_t count, const std::string& text) {
    if (count > 0) result_.warnings.push_back(std::to_string(count) + " " + text);
  };
  add(collectives_.empty_collectives(), "collectives of 0 bytes took no time");
  add(collectives_.tiny_collectives(), "collectives have fewer bytes than their group has ranks");
  add(collectives_.substituted_phases(),
      "phases of chunks ran as ring, because halvingDoubling needs a power of two of members");
  add(nodes_.untimed_communication(), "communication nodes have no recorded time and took none");
  std::uint64_t unreceived = 0;
  for (const Mailbox::Waiting& waiting : transport_.mailbox().unmatched()) unreceived += waiting.entries.size();
  add(unreceived, "messages were sent and never received");
}

}  // namespace chakra::sim
