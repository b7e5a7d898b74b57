// SPDX-License-Identifier: MIT
#include "collective/plan.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "chakra_core/errors.hpp"

namespace chakra {

namespace {

void check_list(const char* key, const std::vector<Algorithm>& list, std::size_t dimensions, bool parity) {
  const auto whole = std::find_if(list.begin(), list.end(), [](const Algorithm& a) { return a.whole; });
  const bool has_whole = whole != list.end();
  const bool fits = list.size() == dimensions || (list.size() < dimensions && (parity || has_whole));
  if (!fits) {
    throw ConfigError(std::string(key) + " has " + std::to_string(list.size()) + " entries, the network " +
                      std::to_string(dimensions) + " dimensions; give one entry for each dimension");
  }
  if (!parity && has_whole && whole != list.begin()) {
    throw ConfigError(std::string(key) + ": " + to_string(*whole) +
                      " runs over all NPUs and replaces all dimensions; it must come first");
  }
  if (parity && list.size() < dimensions && !has_whole && list.back().kind == AlgorithmKind::double_binary_tree) {
    throw ConfigError(std::string(key) + " has fewer entries than the network has dimensions and ends with " +
                      "doubleBinaryTree; ASTRA-sim crashes there");
  }
}

std::optional<PhaseKind> rooted_kind(CollectiveType type) {
  switch (type) {
    case CollectiveType::reduce:
      return PhaseKind::reduce;
    case CollectiveType::broadcast:
      return PhaseKind::broadcast;
    case CollectiveType::gather:
      return PhaseKind::gather;
    case CollectiveType::scatter:
      return PhaseKind::scatter;
    case CollectiveType::barrier:
      return PhaseKind::barrier;
    default:
      return std::nullopt;
  }
}

/// Halving and doubling pair all members only if there are 2^k of them.
bool needs_ring(const Phase& phase) {
  return phase.algorithm.kind == AlgorithmKind::halving_doubling && !is_rooted(phase.kind) &&
         phase.kind != PhaseKind::all_to_all && !std::has_single_bit(phase.members.size);
}

bool descends(PhaseKind kind) { return kind == PhaseKind::broadcast || kind == PhaseKind::scatter; }

}  // namespace

Planner::Planner(const Network& network, const SystemConfig& system, bool parity)
    : network_(network), system_(system), parity_(parity) {
  const std::size_t dimensions = network.dimensions().size();
  check_list("all-reduce-implementation", system.all_reduce, dimensions, parity);
  check_list("all-gather-implementation", system.all_gather, dimensions, parity);
  check_list("reduce-scatter-implementation", system.reduce_scatter, dimensions, parity);
  check_list("all-to-all-implementation", system.all_to_all, dimensions, parity);
  const std::array traces{&system.all_reduce_custom, &system.all_gather_custom, &system.reduce_scatter_custom,
                          &system.all_to_all_custom};
  const std::array names{"all-reduce", "all-gather", "reduce-scatter", "all-to-all"};
  for (std::size_t list = 0; list < traces.size(); ++list) {
    if (traces[list]->empty()) continue;
    custom_[list].emplace(std::string(names[list]) + "-implementation-custom", *traces[list]);
  }
}

const std::vector<Algorithm>& Planner::algorithms(CollectiveType type) const {
  switch (list_index(type)) {
    case 1:
      return system_.all_gather;
    case 2:
      return system_.reduce_scatter;
    case 3:
      return system_.all_to_all;
    default:
      return system_.all_reduce;
  }
}

std::size_t Planner::list_index(CollectiveType type) {
  switch (type) {
    case CollectiveType::all_gather:
    case CollectiveType::gather:
      return 1;
    case CollectiveType::reduce_scatter:
    case CollectiveType::reduce_scatter_block:
    case CollectiveType::scatter:
      return 2;
    case CollectiveType::all_to_all:
      return 3;
    default:
      return 0;
  }
}

const CustomCollective* Planner::custom(CollectiveType type) const {
  switch (type) {
    case CollectiveType::all_reduce:
    case CollectiveType::all_gather:
    case CollectiveType::reduce_scatter:
    case CollectiveType::reduce_scatter_block:
    case CollectiveType::all_to_all: {
      const auto& custom = custom_[list_index(type)];
      return custom ? &*custom : nullptr;
    }
    default:
      return nullptr;
  }
}

std::vector<std::uint64_t> Planner::chunk_sizes(const CollectiveRequest& request) const {
  if (custom(request.type) != nullptr) return {request.size};
  const std::uint64_t splits = system_.preferred_dataset_splits;
  if (!parity_) {
    if (request.type == CollectiveType::barrier) return {1};
    // A chunk gives every member at least a byte where the size allows it.
    const std::uint64_t members = request.subgroup ? request.members.size : network_.npus();
    const std::uint64_t parts = request.type == CollectiveType::all_gather || request.type == CollectiveType::gather
                                    ? request.size
                                    : request.size / members;
    const std::uint64_t chunks = std::clamp<std::uint64_t>(parts, 1, splits);
    std::vector<std::uint64_t> sizes(chunks);
    for (std::uint64_t c = 0; c < chunks; ++c) sizes[c] = share(request.size, chunks, c);
    return sizes;
  }
  std::uint64_t size = request.size;
  std::uint64_t chunk = size / splits;
  if (request.type != CollectiveType::all_gather && chunk < network_.npus()) {
    chunk = network_.npus();
    size = splits * chunk;
  }
  if (chunk == 0) {
    throw SimulationError("an all-gather of " + std::to_string(size) + " bytes in " + std::to_string(splits) +
                          " splits never ends in ASTRA-sim; run without parity");
  }
  return std::vector<std::uint64_t>(size / chunk + (size % chunk != 0 ? 1 : 0), chunk);
}

/// One exchange over all members of a group: it is no grid, or the list asks for one over everybody.
bool Planner::is_flat(const CollectiveRequest& request) const {
  return request.subgroup && (request.grid == nullptr || algorithms(request.type).front().whole);
}

std::vector<std::size_t> Planner::active_dimensions(const CollectiveRequest& request) const {
  if (is_flat(request)) return {0};
  const std::vector<Algorithm>& list = algorithms(request.type);
  std::vector<std::size_t> active;
  for (std::size_t d = 0; d < list.size() && d < network_.dimensions().size(); ++d) {
    std::size_t npus = list[d].whole ? network_.npus() : network_.dimensions()[d].npus;
    if (request.grid != nullptr) npus = request.grid->coordinates(d).size();
    const bool listed = d < request.involved_dims.size() && request.involved_dims[d] == '1';
    if (npus > 1 && (request.all_dims || listed)) active.push_back(d);
    if (list[d].whole) break;
  }
  return active;
}

Phase Planner::phase(const CollectiveRequest& request, PhaseKind kind, std::size_t dimension) const {
  if (is_flat(request)) return flat_phase(request, kind);
  Phase phase;
  phase.kind = kind;
  phase.algorithm = algorithms(request.type)[dimension];
  phase.subgroup = request.subgroup;
  phase.dimension = static_cast<std::uint16_t>(dimension);
  if (phase.algorithm.whole) {
    phase.members = {network_.npus(), 0, 1, nullptr};
    phase.position = request.rank;
    phase.root = request.root;
  } else {
    place_in_line(phase, request);
  }
  return phase;
}

Phase Planner::flat_phase(const CollectiveRequest& request, PhaseKind kind) const {
  const std::vector<Algorithm>& list = algorithms(request.type);
  Phase phase;
  phase.kind = kind;
  phase.algorithm = list.size() == 1 ? list.front() : Algorithm{};
  phase.subgroup = true;
  phase.members = request.members;
  phase.position = request.position;
  phase.root = request.root_position;
  return phase;
}

/// All members at once, in the order of the group.
Phase Planner::custom_phase(const CollectiveRequest& request, const CustomCollective& custom,
                            std::uint64_t bytes) const {
  Phase phase;
  phase.members = request.subgroup ? request.members : Members{network_.npus(), 0, 1, nullptr};
  phase.position = request.subgroup ? request.position : request.rank;
  phase.subgroup = request.subgroup;
  phase.bytes = bytes;
  phase.custom = &custom;
  if (custom.size() != phase.members.size) {
    throw ConfigError(custom.name() + " is for " + std::to_string(custom.size()) + " members, but the group has " +
                      std::to_string(phase.members.size));
  }
  return phase;
}

/// Those members that differ from the rank in the phase's dimension only.
void Planner::place_in_line(Phase& phase, const CollectiveRequest& request) const {
  const std::size_t dimension = phase.dimension;
  const std::uint32_t stride = network_.stride(dimension);
  const std::uint32_t coordinate = network_.coordinate(request.rank, dimension);
  const std::uint32_t base = request.rank - coordinate * stride;
  phase.one_line = true;
  phase.position = coordinate;
  phase.root = network_.coordinate(request.root, dimension);
  phase.members = {network_.dimensions()[dimension].npus, base, stride, nullptr};
  if (request.grid == nullptr) return;
  const SubGrid& grid = *request.grid;
  const auto coordinates = grid.coordinates(dimension);
  const std::uint32_t step = grid.step(dimension);
  const auto size = static_cast<std::uint32_t>(coordinates.size());
  phase.position = grid.position(dimension, phase.position);
  phase.root = grid.position(dimension, phase.root);
  phase.members = step != 0 ? Members{size, base + coordinates.front() * stride, step * stride, nullptr}
                            : Members{size, base, stride, coordinates.data()};
}

void Planner::check(const Phase& phase) const {
  if (is_rooted(phase.kind)) return;
  const std::uint32_t n = phase.members.size;
  const std::string members = std::to_string(n) + " members";
  if (phase.algorithm.kind == AlgorithmKind::halving_doubling) {
    if (phase.kind == PhaseKind::all_to_all) {
      throw ConfigError("halvingDoubling cannot do an all-to-all; use ring or direct");
    }
    if (needs_ring(phase)) throw ConfigError("halvingDoubling over " + members + " never ends in ASTRA-sim");
  }
  if (phase.algorithm.kind != AlgorithmKind::double_binary_tree) return;
  if (parity_) {
    if (phase.subgroup) throw ConfigError("doubleBinaryTree in a group of " + members + " crashes ASTRA-sim");
    if (!std::has_single_bit(n)) throw ConfigError("doubleBinaryTree over " + members + " crashes ASTRA-sim");
  } else if (phase.kind != PhaseKind::all_reduce) {
    throw ConfigError("doubleBinaryTree can do an all-reduce only; use ring, direct or halvingDoubling");
  }
}

/// Adds a phase whose input is `bytes`, and makes `bytes` the input of what comes after it.
void Planner::append(std::vector<Phase>& phases, Phase phase, std::uint64_t& bytes) const {
  if (needs_ring(phase) && !parity_) {
    phase.algorithm.kind = AlgorithmKind::ring;
    phase.substituted = true;
  }
  check(phase);
  const std::uint64_t n = phase.members.size;
  const bool gathers = phase.kind == PhaseKind::all_gather || phase.kind == PhaseKind::gather;
  const bool divides = phase.kind == PhaseKind::reduce_scatter || phase.kind == PhaseKind::scatter;
  const bool whole_output = phase.algorithm.kind == AlgorithmKind::double_binary_tree && !is_rooted(phase.kind);
  phase.bytes = bytes;
  if (!parity_) phase.total = gathers ? bytes * n : bytes;
  if (!whole_output && gathers) bytes *= n;
  if (!whole_output && divides) bytes = parity_ ? bytes / n : share(bytes, n, phase.position);
  if (parity_ || phase.total != 0) phases.push_back(phase);
}

void Planner::plan(const CollectiveRequest& request, std::uint64_t bytes, std::vector<Phase>& phases) const {
  if (!parity_ && (request.subgroup ? request.members.size : network_.npus()) == 1) return;
  if (const CustomCollective* given = custom(request.type)) {
    phases.push_back(custom_phase(request, *given, bytes));
    return;
  }
  if (const auto kind = rooted_kind(request.type)) return plan_rooted(request, *kind, bytes, phases);
  switch (request.type) {
    case CollectiveType::all_reduce:
      if (system_.collective_optimization == CollectiveOptimization::local_bw_aware) {
        return plan_bandwidth_aware(request, bytes, phases);
      }
      return plan_ascending(request, PhaseKind::all_reduce, bytes, phases);
    case CollectiveType::all_gather:
      return plan_all_gather(request, bytes, phases);
    case CollectiveType::reduce_scatter:
    case CollectiveType::reduce_scatter_block:
      return plan_ascending(request, PhaseKind::reduce_scatter, bytes, phases);
    case CollectiveType::all_to_all:
      return plan_ascending(request, PhaseKind::all_to_all, bytes, phases);
    default:
      throw SimulationError("unknown collective type " + to_string(request.type));
  }
}

void Planner::plan_ascending(const CollectiveRequest& request, PhaseKind kind, std::uint64_t bytes,
                             std::vector<Phase>& phases) const {
  for (const std::size_t d : active_dimensions(request)) append(phases, phase(request, kind, d), bytes);
}

void Planner::plan_all_gather(const CollectiveRequest& request, std::uint64_t bytes, std::vector<Phase>& phases) const {
  const std::vector<std::size_t> active = active_dimensions(request);
  for (auto d = active.rbegin(); d != active.rend(); ++d) {
    append(phases, phase(request, PhaseKind::all_gather, *d), bytes);
  }
}

void Planner::plan_bandwidth_aware(const CollectiveRequest& request, std::uint64_t bytes,
                                   std::vector<Phase>& phases) const {
  const std::vector<std::size_t> active = active_dimensions(request);
  std::vector<Phase> returning;
  for (std::size_t i = 0; i < active.size(); ++i) {
    const bool last = i + 1 == active.size();
    Phase up = phase(request, last ? PhaseKind::all_reduce : PhaseKind::reduce_scatter, active[i]);
    up.half = QueueHalf::first;
    // The double tree leaves every member with the whole: nothing has to come back.
    const bool whole_output = up.algorithm.kind == AlgorithmKind::double_binary_tree;
    if (whole_output && !parity_) up.kind = PhaseKind::all_reduce;
    Phase back = up;
    back.kind = PhaseKind::all_gather;
    back.half = QueueHalf::second;
    if (!parity_) back.total = bytes;
    append(phases, up, bytes);
    if (needs_ring(back) && !parity_) back.algorithm.kind = AlgorithmKind::ring;
    if (!last && (parity_ || !whole_output)) returning.push_back(back);
  }
  for (auto back = returning.rbegin(); back != returning.rend(); ++back) {
    if (parity_) {
      append(phases, *back, bytes);
    } else if (back->total != 0) {
      back->bytes = share(back->total, back->members.size, back->position);
      phases.push_back(*back);
    }
  }
}

void Planner::plan_rooted(const CollectiveRequest& request, PhaseKind kind, std::uint64_t bytes,
                          std::vector<Phase>& phases) const {
  std::vector<std::size_t> order = active_dimensions(request);
  if (descends(kind)) std::reverse(order.begin(), order.end());
  for (const std::size_t d : order) {
    // Only lines through the root's coordinates of the lower dimensions hold anything; a barrier needs all.
    bool takes_part = true;
    for (const std::size_t lower : order) {
      if (lower >= d || kind == PhaseKind::barrier) continue;
      takes_part = takes_part && network_.coordinate(request.rank, lower) == network_.coordinate(request.root, lower);
    }
    std::vector<Phase> unused;
    append(takes_part ? phases : unused, phase(request, kind, d), bytes);
  }
}

}  // namespace chakra
