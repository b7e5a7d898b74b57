// SPDX-License-Identifier: MIT
#include "sim/message_phases.hpp"

#include <algorithm>
#include <string>

#include "chakra_core/errors.hpp"
#include "collective/custom_collective.hpp"

namespace chakra::sim {

namespace {

/// Above the tags of chunks, of which there are not so many, and below the bits that tell kinds of messages apart.
constexpr int custom_tag_shift = 40;

bool is_tree(const Phase& phase) {
  return is_rooted(phase.kind) || phase.algorithm.kind == AlgorithmKind::double_binary_tree;
}

}  // namespace

MessagePhases::MessagePhases(const EndpointCosts& costs, Kernel& kernel, Transport& transport, ChunkPool& chunks,
                             PhaseListener& listener)
    : costs_(costs), kernel_(kernel), transport_(transport), chunks_(chunks), listener_(listener) {}

void MessagePhases::begin(std::uint32_t index) {
  Chunk& chunk = chunks_[index];
  if (chunk.phase().custom != nullptr) return begin_custom(index);
  if (is_tree(chunk.phase())) return begin_tree(index);
  chunk.exchange = Exchange(chunk.phase(), costs_.endpoint_ns(chunk.phase()), costs_.parity);
  chunk.opened = chunk.tokens = chunk.sent = chunk.received = 0;
  open_slots(index, chunk.exchange.window());
}

void MessagePhases::act(const Action& action) {
  switch (action.kind) {
    case ActionKind::slots_open:
      return close_slots(action);
    case ActionKind::slot_reduced:
      return take_token(action.a);
    case ActionKind::tree_start:
      return start_tree(action.a);
    case ActionKind::child_received:
      return child_received(action.a);
    case ActionKind::child_reduced:
      return child_done(action.a);
    case ActionKind::parent_received:
      return parent_received(action.a);
    case ActionKind::parent_reduced:
      return parent_done(action.a);
    case ActionKind::custom_step:
      return end_step(action.a, static_cast<std::uint32_t>(action.b));
    case ActionKind::custom_end:
      return listener_.phase_ended(action.a);
    default:
      return;
  }
}

void MessagePhases::completed(const Continuation& continuation) {
  const std::uint32_t index = continuation.a;
  switch (continuation.then) {
    case Then::chunk_received:
      return receive_one(index);
    case Then::child_received:
      return later(index, costs_.endpoint_ns(chunks_[index].phase()), ActionKind::child_received);
    case Then::parent_received:
      return later(index, costs_.endpoint_ns(chunks_[index].phase()), ActionKind::parent_received);
    case Then::custom_step:
      return end_step(index, continuation.b);
    default:
      return;
  }
}

// ---- exchanges: slots, tokens, messages

void MessagePhases::open_slots(std::uint32_t index, std::uint64_t count) {
  Chunk& chunk = chunks_[index];
  kernel_.act_after(chunk.rank, chunk.exchange.endpoint_ns(), {chunk.opened, index, ActionKind::slots_open});
  chunk.opened += count;
}

/// The endpoint delay of some slots is over: each gives its token, or is reduced first. Only the last
/// slot of all can end the phase.
void MessagePhases::close_slots(const Action& action) {
  const Exchange& exchange = chunks_[action.a].exchange;
  const std::uint64_t count = action.b == 0 ? exchange.window() : 1;
  for (std::uint64_t slot = action.b; slot < action.b + count; ++slot) {
    if (exchange.is_reduced(slot)) {
      later(action.a, costs_.reduction_ns(exchange.slot_bytes(slot)), ActionKind::slot_reduced);
    } else {
      take_token(action.a);
    }
  }
}

void MessagePhases::take_token(std::uint32_t index) {
  Chunk& chunk = chunks_[index];
  const Exchange& exchange = chunk.exchange;
  const std::uint64_t steps = exchange.steps();
  ++chunk.tokens;
  const std::uint64_t barrier = exchange.barrier();
  if (barrier != 0 && chunk.sent >= barrier && chunk.received < barrier) return;
  std::uint64_t budget = std::min({chunk.tokens - chunk.sent, exchange.window(), steps - chunk.sent});
  for (; budget > 0; --budget) send_next(index);
  if (chunk.tokens == steps + exchange.window()) listener_.phase_ended(index);
}

void MessagePhases::send_next(std::uint32_t index) {
  Chunk& chunk = chunks_[index];
  const Step step = chunk.exchange.step(chunk.sent);
  ++chunk.sent;
  send(chunk, step.to, step.send_bytes);
  if (!receive(chunk, index, step.from, step.receive_bytes, Then::chunk_received)) receive_one(index);
}

void MessagePhases::receive_one(std::uint32_t index) {
  ++chunks_[index].received;
  open_slots(index, 1);
}

// ---- trees

void MessagePhases::begin_tree(std::uint32_t index) {
  Chunk& chunk = chunks_[index];
  chunk.place = tree_place(chunk.phase());
  const bool up = goes_up(chunk.phase().kind);
  const bool first = up ? chunk.place.children.empty() : !chunk.place.parent;
  if (first) return later(index, costs_.endpoint_ns(chunk.phase()), ActionKind::tree_start);
  up ? await_children(index) : await_parent(index);
}

void MessagePhases::start_tree(std::uint32_t index) {
  if (goes_up(chunks_[index].phase().kind)) return send_up(index);
  send_down(index);
}

void MessagePhases::await_children(std::uint32_t index) {
  Chunk& chunk = chunks_[index];
  chunk.awaited = static_cast<std::uint32_t>(chunk.place.children.size());
  for (const std::uint32_t child : chunk.place.children) {
    const std::uint64_t bytes = tree_edge_bytes(chunk.phase(), child);
    receive(chunk, index, chunk.phase().members[child], bytes, Then::child_received);
  }
}

void MessagePhases::child_received(std::uint32_t index) {
  const Phase& phase = chunks_[index].phase();
  const bool reduces = !is_rooted(phase.kind) || phase.kind == PhaseKind::reduce;
  if (reduces) return later(index, costs_.reduction_ns(phase.bytes), ActionKind::child_reduced);
  child_done(index);
}

void MessagePhases::child_done(std::uint32_t index) {
  Chunk& chunk = chunks_[index];
  if (--chunk.awaited > 0) return;
  if (chunk.place.parent) return send_up(index);
  if (goes_down(chunk.phase().kind)) return send_down(index);
  listener_.phase_ended(index);
}

void MessagePhases::send_up(std::uint32_t index) {
  Chunk& chunk = chunks_[index];
  const Phase& phase = chunk.phase();
  send(chunk, phase.members[*chunk.place.parent], tree_edge_bytes(phase, phase.position));
  if (goes_down(phase.kind)) return await_parent(index);
  listener_.phase_ended(index);
}

void MessagePhases::await_parent(std::uint32_t index) {
  const Chunk& chunk = chunks_[index];
  const Phase& phase = chunk.phase();
  const std::uint32_t parent = phase.members[*chunk.place.parent];
  const std::uint64_t bytes = tree_edge_bytes(phase, phase.position);
  if (!receive(chunk, index, parent, bytes, Then::parent_received)) {
    later(index, costs_.endpoint_ns(phase), ActionKind::parent_received);
  }
}

/// ASTRA-sim charges the reduction on the way down as well, but to inner members only.
void MessagePhases::parent_received(std::uint32_t index) {
  const Chunk& chunk = chunks_[index];
  const bool reduces = !is_rooted(chunk.phase().kind) && !chunk.place.children.empty();
  if (reduces) return later(index, costs_.reduction_ns(chunk.phase().bytes), ActionKind::parent_reduced);
  parent_done(index);
}

void MessagePhases::parent_done(std::uint32_t index) { send_down(index); }

void MessagePhases::send_down(std::uint32_t index) {
  const Chunk& chunk = chunks_[index];
  for (const std::uint32_t child : chunk.place.children) {
    send(chunk, chunk.phase().members[child], tree_edge_bytes(chunk.phase(), child));
  }
  listener_.phase_ended(index);
}

// ---- custom collectives

void MessagePhases::begin_custom(std::uint32_t index) {
  Chunk& chunk = chunks_[index];
  const CustomCollective::Member& member = (*chunk.phase().custom)[chunk.phase().position];
  chunk.missing = member.parents;
  chunk.open = member.steps.size();
  if (chunk.open == 0) return later(index, 0, ActionKind::custom_end);
  for (std::uint32_t step = 0; step < member.steps.size(); ++step) {
    if (member.parents[step] == 0) start_step(index, step);
  }
}

void MessagePhases::start_step(std::uint32_t index, std::uint32_t number) {
  const Chunk& chunk = chunks_[index];
  const Phase& phase = chunk.phase();
  const CustomStep& step = (*phase.custom)[phase.position].steps[number];
  const bool waits = step.kind == CustomStep::Kind::wait;
  if (waits || step.amount == 0) {
    return kernel_.act_after(chunk.rank, step.amount, {number, index, ActionKind::custom_step});
  }
  const std::uint64_t tag = chunk.phase_tag | std::uint64_t{step.tag} << custom_tag_shift;
  const std::uint32_t peer = phase.members[step.peer];
  const Continuation end{Then::custom_step, index, number};
  if (step.kind == CustomStep::Kind::send) {
    transport_.send({tag, step.amount, chunk.rank, peer}, end);
  } else {
    transport_.receive({tag, step.amount, peer, chunk.rank}, end);
  }
}

void MessagePhases::end_step(std::uint32_t index, std::uint32_t number) {
  Chunk& chunk = chunks_[index];
  const CustomCollective::Member& member = (*chunk.phase().custom)[chunk.phase().position];
  for (const NodeIndex child : member.trace->children()[number]) {
    if (--chunk.missing[child] == 0) start_step(index, child);
  }
  if (--chunk.open == 0) later(index, 0, ActionKind::custom_end);
}

// ---- both

void MessagePhases::send(const Chunk& chunk, std::uint32_t to, std::uint64_t bytes) {
  if (bytes == 0) {
    if (!costs_.parity) return;
    throw SimulationError("rank " + std::to_string(chunk.rank) + ": a collective comes down to a message of 0 bytes " +
                          "to rank " + std::to_string(to) + ", where ASTRA-sim aborts; run without parity");
  }
  transport_.send({chunk.phase_tag, bytes, chunk.rank, to}, {});
}

/// False: there is nothing to be received.
bool MessagePhases::receive(const Chunk& chunk, std::uint32_t index, std::uint32_t from, std::uint64_t bytes,
                            Then then) {
  if (bytes == 0) return false;
  transport_.receive({chunk.phase_tag, bytes, from, chunk.rank}, {then, index, 0});
  return true;
}

void MessagePhases::later(std::uint32_t index, std::uint64_t delay, ActionKind kind) {
  kernel_.act_after(chunks_[index].rank, delay, {0, index, kind});
}

}  // namespace chakra::sim
