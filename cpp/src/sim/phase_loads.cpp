// SPDX-License-Identifier: MIT
#include "sim/phase_loads.hpp"

#include <algorithm>

#include "collective/custom_collective.hpp"
#include "collective/exchange.hpp"
#include "collective/tree.hpp"
#include "network/route.hpp"

namespace chakra::sim {

namespace {

constexpr std::uint64_t control_bytes = 8192;

Phase at(const Phase& phase, std::uint32_t position) {
  Phase moved = phase;
  moved.position = position;
  return moved;
}

/// Whether all links of each dimension have the dimension's bandwidth.
bool has_equal_links(const Network& network) {
  const auto dimensions = network.dimensions();
  return network.is_regular() && std::all_of(dimensions.begin(), dimensions.end(), [](const Dimension& dimension) {
           return dimension.oversubscription == 1;
         });
}

/// Bytes that a member of a ring passes on, where blocks differ by a byte.
std::uint64_t uneven_ring_bytes(const Phase& phase) {
  const std::uint64_t n = phase.members.size;
  const std::uint64_t own = phase.position;
  const auto block = [&](std::uint64_t position) { return share(phase.total, n, position % n); };
  const std::uint64_t all_but_own = phase.total - block(own);
  const std::uint64_t all_but_next = phase.total - block(own + (phase.anticlockwise ? n - 1 : 1));
  switch (phase.kind) {
    case PhaseKind::reduce_scatter:
      return all_but_own;
    case PhaseKind::all_gather:
      return all_but_next;
    case PhaseKind::all_reduce:
      return all_but_own + all_but_next;
    default:
      break;
  }
  // All-to-all: the block for the member `distance` on comes by from all that are behind.
  std::uint64_t bytes = 0;
  for (std::uint64_t distance = 1; distance < n; ++distance) {
    bytes += (n - distance) * block(own + (phase.anticlockwise ? n - distance : distance));
  }
  return bytes;
}

}  // namespace

PhaseLoads::PhaseLoads(const Network& network, bool parity, bool rendezvous)
    : network_(network), parity_(parity), rendezvous_(rendezvous) {
  if (!has_equal_links(network)) router_ = network.router();
}

std::size_t PhaseLoads::KeyHash::operator()(const Key& key) const noexcept {
  std::uint64_t h = key.total * 0x9e3779b97f4a7c15ULL ^ key.bytes * 0xd6e8feb86659fd93ULL;
  h ^= (std::uint64_t{key.base} << 32 | key.stride) * 0xff51afd7ed558ccdULL;
  h += reinterpret_cast<std::uintptr_t>(key.list) + key.size * std::uint64_t{31} + static_cast<std::uint64_t>(key.kind);
  return static_cast<std::size_t>((h ^ (h >> 32)) * 0x9fb21c651e98df25ULL >> 16);
}

std::span<const DimensionLoad> PhaseLoads::of(const Phase& phase) {
  const Key key = key_of(phase);
  if (last_ == nullptr || !(key == last_key_)) {
    auto place = known_.find(key);
    if (place == known_.end()) place = known_.emplace(key, count(phase)).first;
    last_key_ = key;
    last_ = &place->second;
  }
  return *last_;
}

PhaseLoads::Key PhaseLoads::key_of(const Phase& phase) const noexcept {
  const Members& members = phase.members;
  return {members.list,
          phase.custom,
          phase.bytes,
          phase.total,
          members.size,
          is_line(phase) ? 0 : members.base,
          members.stride,
          is_rooted(phase.kind) ? phase.root : 0,
          phase.algorithm.window,
          phase.kind,
          phase.algorithm.kind,
          phase.anticlockwise,
          phase.counter_tree};
}

/// The members are all NPUs of one line along a dimension, whose distances do not change if all are shifted.
bool PhaseLoads::is_line(const Phase& phase) const noexcept {
  const Members& members = phase.members;
  if (router_ != nullptr || network_.dimensions()[phase.dimension].topology == Topology::mesh) return false;
  return members.list == nullptr && phase.custom == nullptr &&
         members.size == network_.dimensions()[phase.dimension].npus &&
         members.stride == network_.stride(phase.dimension);
}

PhaseLoads::Loads PhaseLoads::count(const Phase& phase) const {
  Loads loads(network_.dimensions().size());
  const std::uint32_t n = phase.members.size;
  const bool even = parity_ || phase.total % n == 0;
  const bool shifts = phase.algorithm.kind == AlgorithmKind::ring || phase.algorithm.kind == AlgorithmKind::direct;
  if (!is_rooted(phase.kind) && even && shifts && is_line(phase)) {
    add_member(at(phase, 0), loads);
    for (DimensionLoad& load : loads) load = {load.messages * n, load.bytes * n, load.link_bytes * n, load.busy_ps * n};
    return loads;
  }
  for (std::uint32_t position = 0; position < n; ++position) add_member(at(phase, position), loads);
  return loads;
}

void PhaseLoads::add_member(const Phase& phase, Loads& loads) const {
  if (phase.custom != nullptr) return add_custom(phase, loads);
  if (is_rooted(phase.kind) || phase.algorithm.kind == AlgorithmKind::double_binary_tree) return add_tree(phase, loads);
  if (phase.algorithm.kind == AlgorithmKind::ring) return add_ring(phase, loads);
  add_exchange(phase, loads);
}

void PhaseLoads::add_ring(const Phase& phase, Loads& loads) const {
  const Exchange exchange(phase, 0, parity_);
  const Step step = exchange.step(0);
  const std::uint64_t n = phase.members.size;
  const bool even = parity_ || phase.total % n == 0;
  const std::uint64_t bytes = even ? exchange.steps() * step.send_bytes : uneven_ring_bytes(phase);
  // Fewer bytes than members: what is not empty is one byte.
  const bool has_empty = !even && phase.total < n;
  add(phase.members[phase.position], step.to, has_empty ? bytes : exchange.steps(), bytes, loads);
}

void PhaseLoads::add_exchange(const Phase& phase, Loads& loads) const {
  const Exchange exchange(phase, 0, parity_);
  for (std::uint64_t k = 0; k < exchange.steps(); ++k) {
    const Step step = exchange.step(k);
    if (step.send_bytes > 0) add(phase.members[phase.position], step.to, 1, step.send_bytes, loads);
  }
}

/// What goes between a member and its parent.
void PhaseLoads::add_tree(const Phase& phase, Loads& loads) const {
  const TreePlace place = tree_place(phase);
  if (!place.parent) return;
  const std::uint64_t bytes = tree_edge_bytes(phase, phase.position);
  if (bytes == 0) return;
  const std::uint32_t child = phase.members[phase.position];
  const std::uint32_t parent = phase.members[*place.parent];
  if (goes_up(phase.kind)) add(child, parent, 1, bytes, loads);
  if (goes_down(phase.kind)) add(parent, child, 1, bytes, loads);
}

void PhaseLoads::add_custom(const Phase& phase, Loads& loads) const {
  const std::uint32_t rank = phase.members[phase.position];
  for (const CustomStep& step : (*phase.custom)[phase.position].steps) {
    const bool sends = step.kind == CustomStep::Kind::send && step.amount > 0;
    if (sends) add(rank, phase.members[step.peer], 1, step.amount, loads);
  }
}

void PhaseLoads::add(std::uint32_t src, std::uint32_t dst, std::uint64_t count, std::uint64_t bytes,
                     std::span<DimensionLoad> loads) const {
  const std::uint64_t announced = rendezvous_ ? count * control_bytes : 0;
  if (router_ != nullptr) {
    walk(src, dst, bytes, loads);
    walk(dst, src, announced, loads);
  }
  if (rendezvous_) count *= 2;
  bytes += announced;
  for (std::size_t d = 0; d < loads.size(); ++d) {
    const std::uint32_t from = network_.coordinate(src, d);
    const std::uint32_t to = network_.coordinate(dst, d);
    if (from == to) continue;
    loads[d].messages += count;
    loads[d].bytes += bytes;
    if (router_ == nullptr) loads[d].link_bytes += bytes * network_.hops(d, from, to);
    // In ASTRA-sim all further dimensions are free.
    if (parity_) return;
  }
}

void PhaseLoads::walk(std::uint32_t src, std::uint32_t dst, std::uint64_t bytes, std::span<DimensionLoad> loads) const {
  for (std::uint32_t node = src; node != dst;) {
    const Hop hop = router_->next(node, dst);
    loads[hop.dimension].link_bytes += bytes;
    // Whole ps add up to the same in every order.
    loads[hop.dimension].busy_ps += static_cast<std::uint64_t>(1e3 * static_cast<double>(bytes) / hop.bytes_per_ns);
    node = hop.node;
  }
}

}  // namespace chakra::sim
