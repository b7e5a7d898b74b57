// SPDX-License-Identifier: MIT
#include "collective/exchange.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace chakra {

namespace {

bool reduces(PhaseKind kind) { return kind == PhaseKind::all_reduce || kind == PhaseKind::reduce_scatter; }

std::uint64_t plain_run(const Phase& phase, std::uint64_t window, std::uint64_t log, bool parity) {
  const std::uint64_t others = phase.members.size - 1;
  switch (phase.algorithm.kind) {
    case AlgorithmKind::ring:
      return others;
    case AlgorithmKind::halving_doubling:
      return log - 1;
    default:
      return phase.subgroup && parity ? window * others : window;
  }
}

std::uint64_t count_steps(const Phase& phase, std::uint64_t log) {
  const std::uint64_t n = phase.members.size;
  if (phase.algorithm.kind == AlgorithmKind::halving_doubling) {
    return phase.kind == PhaseKind::all_reduce ? 2 * log : log;
  }
  if (phase.algorithm.kind == AlgorithmKind::ring && phase.kind == PhaseKind::all_to_all) return n * (n - 1) / 2;
  return phase.kind == PhaseKind::all_reduce ? 2 * (n - 1) : n - 1;
}

}  // namespace

std::uint32_t floor_log2(std::uint32_t n) noexcept { return static_cast<std::uint32_t>(std::bit_width(n)) - 1; }

Exchange::Exchange(const Phase& phase, std::uint64_t endpoint_ns, bool parity)
    : members_(phase.members),
      endpoint_ns_(endpoint_ns),
      bytes_(phase.bytes),
      total_(phase.total),
      position_(phase.position),
      kind_(phase.kind),
      algorithm_(phase.algorithm.kind),
      anticlockwise_(phase.anticlockwise) {
  const std::uint64_t n = members_.size;
  log_ = floor_log2(members_.size);
  steps_ = count_steps(phase, log_);
  window_ = 1;
  if (algorithm_ == AlgorithmKind::direct) {
    window_ = phase.algorithm.window == 0 ? n - 1 : std::min<std::uint64_t>(phase.algorithm.window, n - 1);
    if (kind_ == PhaseKind::all_reduce) barrier_ = n - 1;
  }
  if (reduces(kind_)) cycle_ = window_ + plain_run(phase, window_, log_, parity);
  even_ = parity || total_ % n == 0;
  even_block_ = kind_ == PhaseKind::all_gather ? (parity ? bytes_ : total_ / n) : bytes_ / n;
}

/// Position of the member `distance` steps on in ring direction (or back).
std::uint32_t Exchange::shifted(std::uint64_t distance, bool forward) const noexcept {
  const std::uint64_t n = members_.size;
  const std::uint64_t d = distance < n ? distance : distance % n;
  const std::uint64_t up = position_ + (forward != anticlockwise_ ? d : n - d);
  return static_cast<std::uint32_t>(up < n ? up : up - n);
}

std::uint64_t Exchange::block(std::uint64_t position) const noexcept { return share(total_, members_.size, position); }

Step Exchange::step(std::uint64_t k) const noexcept {
  std::uint32_t to = 0;
  std::uint32_t from = 0;
  Sizes sizes{even_block_, even_block_};
  switch (algorithm_) {
    case AlgorithmKind::ring:
      to = shifted(1, true);
      from = shifted(1, false);
      if (!even_) sizes = ring_sizes(k);
      break;
    case AlgorithmKind::halving_doubling: {
      const std::uint64_t distance = halving_distance(k);
      to = from = static_cast<std::uint32_t>(position_ ^ distance);
      sizes = halving_sizes(k, distance, to);
      break;
    }
    default: {
      const std::uint64_t distance = 1 + k % (members_.size - 1);
      to = shifted(distance, true);
      from = shifted(distance, false);
      if (!even_) sizes = direct_sizes(k, to, from);
      break;
    }
  }
  return {members_[to], members_[from], sizes.send, sizes.receive};
}

std::uint32_t Exchange::from_position(std::uint64_t k) const noexcept {
  switch (algorithm_) {
    case AlgorithmKind::ring:
      return shifted(1, false);
    case AlgorithmKind::halving_doubling:
      return static_cast<std::uint32_t>(position_ ^ halving_distance(k));
    default:
      return shifted(1 + k % (members_.size - 1), false);
  }
}

std::uint64_t Exchange::slot_bytes(std::uint64_t slot) const noexcept {
  if (even_ && algorithm_ != AlgorithmKind::halving_doubling) return even_block_;
  return step(std::min(slot, steps_ - 1)).send_bytes;
}

/// Which block travels: a reduce-scatter starts with the block of the member behind and ends with
/// one's own; an all-gather starts with one's own.
Exchange::Sizes Exchange::ring_sizes(std::uint64_t k) const noexcept {
  if (kind_ == PhaseKind::all_to_all) return ring_all_to_all_sizes(k);
  const std::uint64_t turn = members_.size - 1;
  const bool scatters = kind_ == PhaseKind::reduce_scatter || (kind_ == PhaseKind::all_reduce && k < turn);
  const std::uint64_t behind = scatters ? k + 1 : (kind_ == PhaseKind::all_reduce ? k - turn : k);
  return {block(shifted(behind, false)), block(shifted(behind + 1, false))};
}

/// In round r = 1 .. n-1 a member passes on the n-r blocks that came r-1 links and have further to go.
Exchange::Sizes Exchange::ring_all_to_all_sizes(std::uint64_t k) const noexcept {
  const std::uint64_t n = members_.size;
  const auto begin = [n](std::uint64_t round) { return (round - 1) * n - round * (round - 1) / 2; };
  const double a = static_cast<double>(n) - 0.5;
  auto round = static_cast<std::uint64_t>(a - std::sqrt(std::max(0.0, a * a - 2 * static_cast<double>(k)))) + 1;
  round = std::clamp<std::uint64_t>(round, 1, n - 1);
  while (round > 1 && begin(round) > k) --round;
  while (round < n - 1 && begin(round + 1) <= k) ++round;
  const std::uint64_t ahead = k - begin(round);
  return {block(shifted(ahead + 1, true)), block(shifted(ahead, true))};
}

Exchange::Sizes Exchange::direct_sizes(std::uint64_t k, std::uint32_t to, std::uint32_t from) const noexcept {
  const std::uint64_t own = block(position_);
  if (kind_ == PhaseKind::all_gather || (kind_ == PhaseKind::all_reduce && k >= barrier_)) return {own, block(from)};
  return {block(to), own};
}

std::uint64_t Exchange::halving_distance(std::uint64_t k) const noexcept {
  if (kind_ == PhaseKind::all_gather) return std::uint64_t{1} << (log_ - 1 - k);
  return std::uint64_t{1} << (k < log_ ? k : 2 * log_ - 1 - k);
}

/// With distance d the blocks of all positions equal to one's own modulo 2d are still, or already, held.
Exchange::Sizes Exchange::halving_sizes(std::uint64_t k, std::uint64_t distance, std::uint64_t partner) const noexcept {
  if (total_ == 0) {
    const std::uint64_t bytes = halving_parity_bytes(k);
    return {bytes, bytes};
  }
  const std::uint64_t mine = interleaved_bytes(position_, 2 * distance);
  const std::uint64_t theirs = interleaved_bytes(partner, 2 * distance);
  const bool gathers = kind_ == PhaseKind::all_gather || k >= log_;
  return gathers ? Sizes{mine, theirs} : Sizes{theirs, mine};
}

/// ASTRA-sim's sizes: halved with truncation, then doubled from what was left.
std::uint64_t Exchange::halving_parity_bytes(std::uint64_t k) const noexcept {
  if (kind_ == PhaseKind::all_gather) return bytes_ << k;
  if (k < log_) return bytes_ >> (k + 1);
  return ((bytes_ >> log_) / 2 * 2) << (k - log_);
}

/// Sum of the blocks of all positions that equal `offset` modulo `period`; the period divides n.
std::uint64_t Exchange::interleaved_bytes(std::uint64_t offset, std::uint64_t period) const noexcept {
  const std::uint64_t n = members_.size;
  const std::uint64_t first = offset % period;
  const std::uint64_t longer = total_ % n;
  const std::uint64_t extra = longer > first ? (longer - first - 1) / period + 1 : 0;
  return n / period * (total_ / n) + extra;
}

}  // namespace chakra
