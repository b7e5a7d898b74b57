// SPDX-License-Identifier: MIT
#include "sim/whole_phases.hpp"

#include <algorithm>
#include <utility>

#include "chakra_core/errors.hpp"
#include "sim/folding.hpp"

namespace chakra::sim {

WholePhases::WholePhases(const SimulationConfig& config, const EndpointCosts& costs, std::uint32_t copies,
                         Kernel& kernel, ChunkPool& chunks, TieWatch& ties, PhaseExecutor& messages)
    : fidelity_(config.congestion ? Fidelity::message : config.fidelity),
      times_(config.network, costs),
      has_endpoint_delay_(costs.endpoint > 0),
      is_parity_(config.parity),
      copies_(copies),
      kernel_(kernel),
      chunks_(chunks),
      ties_(ties),
      messages_(messages) {}

std::size_t WholePhases::KeyHash::operator()(const Key& key) const noexcept {
  std::uint64_t h = key.tag * 0x9e3779b97f4a7c15ULL;
  h ^= (std::uint64_t{key.base} << 16 | key.dimension) * 0xff51afd7ed558ccdULL;
  h += reinterpret_cast<std::uintptr_t>(key.list) + static_cast<std::uint64_t>(key.kind) * 4 +
       static_cast<std::uint64_t>(key.half);
  return static_cast<std::size_t>((h ^ (h >> 32)) * 0x9fb21c651e98df25ULL >> 16);
}

void WholePhases::begin(std::uint32_t index) {
  Chunk& chunk = chunks_[index];
  const Phase& phase = chunk.phase();
  chunk.family = 0;
  chunk.meeting = none;
  if (copies_ > 1) return begin_folded(index);
  if (fidelity_ == Fidelity::message || !times_.knows(phase)) {
    ++counts_.message;
    return messages_.begin(index);
  }
  ties_.activate();
  const Key key = key_of(chunk);
  chunk.meeting = meeting_of(key, phase.members.size);
  Meeting& meeting = meetings_[chunk.meeting];
  meeting.queue = phase.queue;
  join(meeting, phase.position, index);
  if (meeting.begun < phase.members.size) return;
  open_.erase(key);
  conclude(meeting);
}

WholePhases::Key WholePhases::key_of(const Chunk& chunk) {
  const Phase& phase = chunk.phase();
  return {chunk.phase_tag,    phase.total != 0 ? phase.total : phase.bytes,
          phase.members.list, phase.members.base,
          phase.dimension,    phase.kind,
          phase.half,         phase.anticlockwise,
          phase.counter_tree};
}

/// All members begin now. A chunk that has been divided unevenly goes on differently on different ranks.
void WholePhases::begin_folded(std::uint32_t index) {
  Chunk& chunk = chunks_[index];
  const Phase& phase = chunk.phase();
  const bool even = is_parity_ || phase.total % phase.members.size == 0 || chunk.phases.size() == 1;
  const auto end = even && times_.knows(phase) ? times_.in_step(phase) : std::nullopt;
  if (!end) throw NotAlike();
  ties_.activate();
  counts_.closed += copies_;
  if (ties_.is_enabled() && chunk.phases.size() > 1) find_folded_family(index, key_of(chunk));
  end_at(index, {kernel_.now() + end->tick, kernel_.now() + end->registered});
}

void WholePhases::find_folded_family(std::uint32_t index, const Key& key) {
  Chunk& chunk = chunks_[index];
  Key line = key;
  line.tag = 0;
  const Begun now{kernel_.now(), chunk.cause, ++families_, chunk.phase().queue};
  const auto [place, is_new] = latest_folded_.try_emplace(line, now);
  if (!is_new) {
    const Begun before = std::exchange(place->second, now);
    const bool together = has_endpoint_delay_ || (before.cause == now.cause && now.cause != 0);
    if (before.tick == now.tick && before.queue == now.queue && together) place->second.family = before.family;
  }
  chunk.family = place->second.family;
}

std::uint32_t WholePhases::meeting_of(const Key& key, std::uint32_t members) {
  const auto [place, is_new] = open_.try_emplace(key, none);
  if (!is_new) return place->second;
  if (free_.empty()) {
    place->second = static_cast<std::uint32_t>(meetings_.size());
    meetings_.emplace_back();
  } else {
    place->second = free_.back();
    free_.pop_back();
  }
  Meeting& meeting = meetings_[place->second];
  meeting.key = key;
  meeting.begun = 0;
  meeting.in_step = true;
  meeting.first = kernel_.now();
  meeting.chunks.assign(members, none);
  meeting.begins.clear();
  meeting.order.clear();
  meeting.causes.clear();
  return place->second;
}

void WholePhases::join(Meeting& meeting, std::uint32_t position, std::uint32_t chunk) {
  const std::size_t members = meeting.chunks.size();
  if (meeting.chunks[position] != none) {
    // Another chunk of the rank has the same tag, which happens in parity only.
    ties_.cannot_tell("two chunks of a rank with one tag");
    throw SimulationError("rank " + std::to_string(chunks_[chunk].rank) +
                          ": two chunks with one tag meet in one phase; run with fidelity message");
  }
  if (meeting.in_step && kernel_.now() != meeting.first) {
    meeting.in_step = false;
    meeting.begins.assign(members, meeting.first);
  }
  if (!meeting.in_step) meeting.begins[position] = kernel_.now();
  if (ties_.is_enabled() && chunks_[chunk].phases.size() > 1) {
    meeting.order.resize(members);
    meeting.order[position] = begun_++;
    meeting.causes.resize(members);
    meeting.causes[position] = chunks_[chunk].cause;
  }
  meeting.chunks[position] = chunk;
  ++meeting.begun;
}

void WholePhases::conclude(Meeting& meeting) {
  const std::uint32_t index = static_cast<std::uint32_t>(&meeting - meetings_.data());
  const Phase& phase = chunks_[meeting.chunks.front()].phase();
  const std::size_t members = meeting.chunks.size();
  const bool keeps = !meeting.order.empty();
  if (keeps) find_family(meeting);
  std::optional<PhaseEnd> common;
  if (meeting.in_step && fidelity_ != Fidelity::phase) common = times_.in_step(phase);
  if (common) {
    counts_.closed += members;
    const PhaseEnd end{meeting.first + common->tick, meeting.first + common->registered};
    for (const std::uint32_t chunk : meeting.chunks) end_at(chunk, end);
  } else {
    counts_.phase += members;
    if (meeting.begins.empty()) meeting.begins.assign(members, meeting.first);
    ends_.resize(members);
    const PhaseTimes::Outcome outcome = times_.ends(phase, meeting.begins, ends_);
    if (outcome == PhaseTimes::Outcome::tie) ties_.cannot_tell("a direct all-reduce that turns round");
    if (outcome == PhaseTimes::Outcome::too_long) {
      ties_.cannot_tell("a phase of more than 2^62 ns");
      throw SimulationError("simulated time exceeds 2^62 ns; look for an absurd size, bandwidth or latency");
    }
    for (std::size_t i = 0; i < members; ++i) end_at(meeting.chunks[i], ends_[i]);
  }
  if (!keeps) free_.push_back(index);
}

/// Chunks that go through a line in step with each other keep their order through all of its messages.
void WholePhases::find_family(Meeting& meeting) {
  const std::uint32_t index = static_cast<std::uint32_t>(&meeting - meetings_.data());
  Key line = meeting.key;
  line.tag = 0;
  const auto [place, is_new] = latest_.try_emplace(line, index);
  meeting.family = ++families_;
  if (!is_new) {
    const Meeting& before = meetings_[place->second];
    if (is_lockstep(before, meeting)) meeting.family = before.family;
    free_.push_back(place->second);
    place->second = index;
  }
  for (const std::uint32_t chunk : meeting.chunks) chunks_[chunk].family = meeting.family;
}

/// Every member begins both phases in one tick and in one order. Then both always do the same in the same run of the
/// member's actions, one after the other. Without an endpoint delay that holds only if the first of these actions
/// is registered in one go.
bool WholePhases::is_lockstep(const Meeting& before, const Meeting& meeting) const {
  if (before.queue != meeting.queue || before.order.size() != meeting.order.size()) return false;
  if (before.first != meeting.first || before.in_step != meeting.in_step) return false;
  if (!meeting.in_step && before.begins != meeting.begins) return false;
  if (!has_endpoint_delay_) {
    const auto same = [](std::uint64_t a, std::uint64_t b) { return a == b && a != 0; };
    if (!std::equal(before.causes.begin(), before.causes.end(), meeting.causes.begin(), same)) return false;
  }
  return std::equal(before.order.begin(), before.order.end(), meeting.order.begin(), std::less<>());
}

void WholePhases::end_at(std::uint32_t chunk, const PhaseEnd& end) {
  kernel_.act_at(chunks_[chunk].rank, end.tick, end.registered, {0, chunk, ActionKind::phase_end});
}

std::vector<std::uint32_t> WholePhases::missing(std::uint32_t chunk) const {
  std::vector<std::uint32_t> ranks;
  if (!chunks_[chunk].running || chunks_[chunk].meeting == none) return ranks;
  const Meeting& meeting = meetings_[chunks_[chunk].meeting];
  for (std::uint32_t i = 0; i < meeting.chunks.size(); ++i) {
    if (meeting.chunks[i] == none) ranks.push_back(chunks_[chunk].phase().members[i]);
  }
  return ranks;
}

}  // namespace chakra::sim
