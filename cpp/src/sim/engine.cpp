// SPDX-License-Identifier: MIT
#include "sim/engine.hpp"

#include <cmath>
#include <string>
#include <utility>

#include "chakra_core/errors.hpp"
#include "sim/folding.hpp"
#include "sim/stall_report.hpp"

namespace chakra::sim {

namespace {

/// Events between two looks at Progress::cancel.
constexpr std::uint64_t cancel_period = 8192;

constexpr std::uint64_t default_endpoint_ns = 10;

/// The scale does not touch the default.
std::uint64_t scaled_endpoint_ns(const SimulationConfig& config) {
  if (!config.system.endpoint_delay_ns) return default_endpoint_ns;
  return static_cast<std::uint64_t>(std::trunc(*config.system.endpoint_delay_ns) * config.injection_scale);
}

}  // namespace

Engine::Engine(std::span<const TracePtr> traces, const SimulationConfig& config, const GroupTable& groups,
               const LanePlans& plans, std::uint32_t copies, Progress* progress)
    : config_(config),
      progress_(progress),
      costs_{config.parity, config.rendezvous_protocol, scaled_endpoint_ns(config), config.system.local_mem_bw * 1e9},
      ties_(static_cast<std::uint32_t>(traces.size()), config.fidelity == Fidelity::automatic && !config.congestion),
      kernel_(static_cast<std::uint32_t>(traces.size())),
      groups_(groups),
      copies_(copies),
      transport_(config.network, {config.parity, config.congestion, config.rendezvous_protocol}, kernel_, *this),
      log_(config, groups, copies),
      nodes_(traces, config, groups_, plans, copies, kernel_, transport_, collectives_, ties_, log_, result_, progress),
      collectives_(config, groups_, copies, kernel_, chunks_, ties_, log_, nodes_),
      messages_(costs_, kernel_, transport_, chunks_, collectives_),
      phases_(config, costs_, copies, kernel_, chunks_, ties_, messages_) {
  collectives_.set_executor(phases_);
}

SimulationResult Engine::run() {
  nodes_.start();
  drain();
  // Where two members of a dimension have taken their chunks in different orders, neither can go on.
  while (!config_.parity && !nodes_.finished() && collectives_.admit_blocked()) drain();
  if (!nodes_.finished()) stalled();
  nodes_.collect();
  log_.collect(result_);
  transport_.collect_links(result_.links);
  add_warnings();
  result_.messages = transport_.messages();
  result_.events = kernel_.events();
  result_.phases = phases_.counts();
  return std::move(result_);
}

/// The report is to name all ranks. And ASTRA-sim may pair messages that do not belong together and go on.
void Engine::stalled() {
  if (copies_ > 1) throw NotAlike();
  if (config_.parity) ties_.cannot_tell("collectives that do not fit together");
  throw SimulationError(stall_report(nodes_, collectives_, phases_, transport_, chunks_, groups_));
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
  const bool of_node = action.kind <= ActionKind::collective_end;
  if (of_node) return nodes_.act(rank, action);
  if (action.kind == ActionKind::phase_end) return collectives_.phase_ended(action.a);
  messages_.act(action);
}

void Engine::completed(const Continuation& continuation) {
  const bool of_node = continuation.then == Then::send_done || continuation.then == Then::receive_done;
  of_node ? nodes_.message_ended(continuation.a, continuation.b) : messages_.completed(continuation);
}

void Engine::add_warnings() {
  const auto add = [this](std::uint64_t count, const std::string& text) {
    if (count > 0) result_.warnings.push_back(std::to_string(count * copies_) + " " + text);
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
