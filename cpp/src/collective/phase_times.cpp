// SPDX-License-Identifier: MIT
#include "collective/phase_times.hpp"

#include <algorithm>
#include <functional>
#include <queue>

#include "collective/tree.hpp"
#include "network/whole_ns.hpp"

namespace chakra {

namespace {

constexpr std::uint64_t control_bytes = 8192;

/// What ASTRA-sim takes in a sub-group, whatever endpoint-delay says.
constexpr std::uint64_t parity_subgroup_endpoint_ns = 10;

/// Sizes pass through a signed 32-bit integer behind ASTRA-sim's rendezvous.
constexpr std::uint64_t parity_largest_rendezvous = (std::uint64_t{1} << 31) - 1;

/// Sums of times stay below 2^63.
constexpr double longest = 4.6e18;

bool is_tree(const Phase& phase) { return phase.algorithm.kind == AlgorithmKind::double_binary_tree; }

Phase at(const Phase& phase, std::uint32_t position) {
  Phase moved = phase;
  moved.position = position;
  return moved;
}

std::vector<Exchange> exchanges(const Phase& phase, std::uint64_t endpoint_ns, bool parity) {
  std::vector<Exchange> result;
  result.reserve(phase.members.size);
  for (std::uint32_t i = 0; i < phase.members.size; ++i) result.emplace_back(at(phase, i), endpoint_ns, parity);
  return result;
}

std::uint64_t largest_block(const Phase& phase, bool parity) {
  const std::uint64_t n = phase.members.size;
  if (phase.algorithm.kind == AlgorithmKind::halving_doubling) {
    // An all-gather ends with half of the whole.
    return phase.kind == PhaseKind::all_gather && parity ? phase.bytes * (n / 2) : std::max(phase.bytes, phase.total);
  }
  if (is_tree(phase) || (parity && phase.kind == PhaseKind::all_gather)) return phase.bytes;
  return parity ? phase.bytes / n : phase.total / n + 1;
}

std::uint64_t smallest_block(const Phase& phase, bool parity) {
  const std::uint64_t n = phase.members.size;
  if (is_tree(phase)) return phase.bytes;
  if (!parity) return phase.total / n;
  if (phase.kind == PhaseKind::all_gather) return phase.bytes;
  if (phase.algorithm.kind == AlgorithmKind::halving_doubling && phase.kind == PhaseKind::all_reduce) {
    return phase.bytes / n / 2 * 2;
  }
  return phase.bytes / n;
}

/// Largest value of every window of `size` entries, of which there are `size`; values has 2 size - 1.
std::vector<std::int64_t> window_maxima(const std::vector<std::int64_t>& values, std::size_t size) {
  std::vector<std::int64_t> suffix(size);
  std::int64_t best = values[size - 1];
  for (std::size_t i = size; i-- > 0;) suffix[i] = best = std::max(best, values[i]);
  for (std::size_t i = 1; i < size; ++i) {
    best = i == 1 ? values[size] : std::max(best, values[size + i - 1]);
    suffix[i] = std::max(suffix[i], best);
  }
  return suffix;
}

}  // namespace

std::uint64_t EndpointCosts::endpoint_ns(const Phase& phase) const noexcept {
  return parity && phase.subgroup ? parity_subgroup_endpoint_ns : endpoint;
}

std::uint64_t EndpointCosts::reduction_ns(std::uint64_t bytes) const noexcept {
  if (memory_bytes_per_s == 0) return 0;
  const std::uint64_t once = whole_ns(static_cast<double>(bytes) / memory_bytes_per_s * 1e9);
  return once > ~std::uint64_t{0} / 3 ? ~std::uint64_t{0} : 3 * once;
}

bool PhaseTimes::knows(const Phase& phase) const noexcept {
  if (is_rooted(phase.kind) || phase.custom != nullptr || phase.members.size < 2) return false;
  const std::uint32_t window = phase.algorithm.window;
  if (phase.algorithm.kind == AlgorithmKind::direct && window != 0 && window < phase.members.size - 1) return false;
  if (costs_.parity && costs_.rendezvous && largest_block(phase, true) > parity_largest_rendezvous) return false;
  return smallest_block(phase, costs_.parity) > 0;
}

/// When a message is received that can be sent at `sent` and received from `posted` on.
std::uint64_t PhaseTimes::land(std::uint64_t sent, std::uint64_t posted, const Land& cost) const noexcept {
  if (!costs_.rendezvous) return std::max(posted, sent + cost.forth);
  return std::max(sent, posted + cost.back) + cost.forth;
}

PhaseTimes::Land PhaseTimes::cost(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) const {
  const DelayRule rule = costs_.parity ? DelayRule::first_dimension : DelayRule::cut_through;
  return {network_.delay(from, to, bytes, rule), costs_.rendezvous ? network_.delay(to, from, control_bytes, rule) : 0};
}

/// The same distance from every member to the one that comes d after it, beyond the last one the first ones.
bool PhaseTimes::is_circle(const Phase& phase) const noexcept {
  if (!phase.one_line || !network_.is_regular()) return false;
  const Members& members = phase.members;
  const Dimension& dimension = network_.dimensions()[phase.dimension];
  const bool any_pair = dimension.topology == Topology::fully_connected || dimension.topology == Topology::switch_;
  if (any_pair || members.size == 2) return true;
  if (dimension.topology == Topology::mesh) return false;
  return members.list == nullptr && std::uint64_t{members.size} * members.stride ==
                                        std::uint64_t{dimension.npus} * network_.stride(phase.dimension);
}

/// The same distance between any two members that are d places apart.
bool PhaseTimes::is_even_line(const Phase& phase) const noexcept {
  return is_circle(phase) || (phase.one_line && network_.is_regular() && phase.members.list == nullptr);
}

// ---- all members in step

/// Nobody waits longer than for all steps of the slowest pair, one after the other.
bool PhaseTimes::fits(const Phase& phase, std::uint64_t latest) const noexcept {
  const auto bytes = static_cast<double>(largest_block(phase, costs_.parity));
  double slowest = static_cast<double>(costs_.endpoint_ns(phase));
  if (costs_.memory_bytes_per_s != 0) slowest += 3e9 * bytes / costs_.memory_bytes_per_s;
  slowest += network_.longest_delay(largest_block(phase, costs_.parity)) + network_.longest_delay(control_bytes);
  const double n = phase.members.size;
  return static_cast<double>(latest) + slowest * n * (n + 2) < longest;
}

std::optional<PhaseEnd> PhaseTimes::in_step(const Phase& phase) const {
  if (!fits(phase, 0)) return std::nullopt;
  switch (phase.algorithm.kind) {
    case AlgorithmKind::ring:
      return ring_in_step(phase);
    case AlgorithmKind::halving_doubling:
      return halving_in_step(phase);
    case AlgorithmKind::direct:
      return direct_in_step(phase);
    default:
      return std::nullopt;
  }
}

std::vector<PhaseTimes::Land> PhaseTimes::ring_costs(const Phase& phase) const {
  const Members& members = phase.members;
  const std::uint64_t block = costs_.parity && phase.kind == PhaseKind::all_gather ? phase.bytes
                              : costs_.parity                                      ? phase.bytes / members.size
                                                                                   : phase.total / members.size;
  const bool even = costs_.parity || phase.total % members.size == 0;
  const auto towards = [&](std::uint32_t i, std::uint64_t bytes) {
    const std::uint32_t n = members.size;
    const std::uint32_t from = phase.anticlockwise ? (i + 1 == n ? 0 : i + 1) : (i == 0 ? n - 1 : i - 1);
    return cost(members[from], members[i], bytes);
  };
  std::vector<Land> costs;
  const std::uint32_t compared = is_circle(phase) ? 1 : members.size;
  for (std::uint32_t i = 0; i < compared; ++i) {
    costs.push_back(towards(i, block));
    if (!even && towards(i, block + 1) != costs.back()) return {};
  }
  if (std::all_of(costs.begin(), costs.end(), [&](const Land& one) { return one == costs.front(); })) costs.resize(1);
  return costs;
}

/// What every reduction takes; nullopt if a byte more makes a difference.
std::optional<std::uint64_t> PhaseTimes::common_reduction(const Phase& phase, const Exchange& exchange) const noexcept {
  const std::uint64_t n = phase.members.size;
  if (costs_.parity || phase.total % n == 0) return costs_.reduction_ns(exchange.slot_bytes(0));
  const std::uint64_t less = costs_.reduction_ns(phase.total / n);
  return less == costs_.reduction_ns(phase.total / n + 1) ? std::optional{less} : std::nullopt;
}

std::optional<PhaseEnd> PhaseTimes::ring_in_step(const Phase& phase) const {
  const std::uint64_t ep = costs_.endpoint_ns(phase);
  const Exchange exchange(at(phase, 0), ep, costs_.parity);
  const std::vector<Land> costs = ring_costs(phase);
  const auto reduction = common_reduction(phase, exchange);
  if (costs.size() != 1 || !reduction) return std::nullopt;
  const std::uint64_t steps = exchange.steps();
  const bool reduces = exchange.is_reduced(1);
  const std::uint64_t end =
      ep * (steps + 1) + steps * together(costs.front()) + (reduces ? phase.members.size - 1 : 0) * *reduction;
  return PhaseEnd{end, end - (exchange.is_reduced(steps) ? *reduction : ep)};
}

std::optional<PhaseEnd> PhaseTimes::halving_in_step(const Phase& phase) const {
  if (!is_even_line(phase) || (!costs_.parity && phase.total % phase.members.size != 0)) return std::nullopt;
  const std::uint64_t ep = costs_.endpoint_ns(phase);
  const Exchange exchange(at(phase, 0), ep, costs_.parity);
  PhaseEnd end{ep, 0};
  for (std::uint64_t k = 0; k < exchange.steps(); ++k) {
    const Step step = exchange.step(k);
    const Land way = cost(step.from, phase.members[0], step.receive_bytes);
    end.tick += together(way) + ep;
    end.registered = end.tick - ep;
    if (!exchange.is_reduced(k + 1)) continue;
    const std::uint64_t reduction = costs_.reduction_ns(exchange.slot_bytes(k + 1));
    end.registered = end.tick;
    end.tick += reduction;
  }
  return end;
}

std::optional<PhaseEnd> PhaseTimes::direct_in_step(const Phase& phase) const {
  const std::uint32_t n = phase.members.size;
  if (!is_circle(phase) || (!costs_.parity && phase.total % n != 0)) return std::nullopt;
  const std::vector<std::uint64_t> begins(n, 0);
  std::vector<PhaseEnd> ends(n);
  if (phase.kind == PhaseKind::all_reduce) {
    return direct_all_reduce(phase, begins, ends, true) ? std::optional{ends[0]} : std::nullopt;
  }
  const std::uint64_t ep = costs_.endpoint_ns(phase);
  const Exchange exchange(at(phase, 0), ep, costs_.parity);
  std::uint64_t farthest = 0;
  for (std::uint64_t k = 0; k < exchange.steps(); ++k) {
    const Step step = exchange.step(k);
    farthest = std::max(farthest, together(cost(step.from, phase.members[0], step.receive_bytes)));
  }
  const bool reduced = exchange.is_reduced(n - 1);
  const std::uint64_t reduction = reduced ? costs_.reduction_ns(exchange.slot_bytes(n - 1)) : 0;
  const std::uint64_t end = ep + farthest + ep + reduction;
  return PhaseEnd{end, end - (reduced ? reduction : ep)};
}

// ---- members that begin at different times

PhaseTimes::Outcome PhaseTimes::ends(const Phase& phase, std::span<const std::uint64_t> begins,
                                     std::span<PhaseEnd> ends) const {
  const std::uint64_t ep = costs_.endpoint_ns(phase);
  if (!fits(phase, *std::max_element(begins.begin(), begins.end()))) return Outcome::too_long;
  switch (phase.algorithm.kind) {
    case AlgorithmKind::ring: {
      const Exchange exchange(at(phase, 0), ep, costs_.parity);
      const std::vector<Land> costs = ring_costs(phase);
      const auto reduction = common_reduction(phase, exchange);
      if (costs.size() == 1 && reduction) {
        even_ring(phase, costs.front(), *reduction, begins, ends);
      } else if (!costs.empty() && reduction && !costs_.rendezvous) {
        uneven_ring(phase, costs, *reduction, begins, ends);
      } else {
        stepwise(phase, begins, ends);
      }
      return Outcome::exact;
    }
    case AlgorithmKind::halving_doubling:
      stepwise(phase, begins, ends);
      return Outcome::exact;
    case AlgorithmKind::direct:
      if (phase.kind == PhaseKind::all_reduce) {
        return direct_all_reduce(phase, begins, ends, false) ? Outcome::exact : Outcome::tie;
      }
      direct(phase, begins, ends);
      return Outcome::exact;
    case AlgorithmKind::double_binary_tree:
      break;
  }
  tree(phase, begins, ends);
  return Outcome::exact;
}

/// In each of T steps a member waits for its own last step or for that of the member behind. So the end is the
/// latest of all paths that go m times to the member behind and T - m times stay: begin + a m + b (T - m). Of all m
/// that lead to the same member only the costliest counts, which leaves a window of n successive m.
void PhaseTimes::even_ring(const Phase& phase, const Land& cost, std::uint64_t reduction,
                           std::span<const std::uint64_t> begins, std::span<PhaseEnd> ends) const {
  const std::uint64_t ep = costs_.endpoint_ns(phase);
  const Exchange exchange(at(phase, 0), ep, costs_.parity);
  const std::size_t n = begins.size();
  const auto steps = static_cast<std::int64_t>(exchange.steps());
  const auto size = static_cast<std::int64_t>(n);
  const auto behind = static_cast<std::int64_t>(cost.forth);
  const auto own = static_cast<std::int64_t>(costs_.rendezvous ? together(cost) : 0);
  const std::int64_t most_moves = behind >= own ? steps : size - 1;
  // Places from which the first window starts: i - most_moves for i = 0, on a ring unrolled.
  std::vector<std::int64_t> values(2 * n - 1);
  const auto place = [&](std::size_t i) { return phase.anticlockwise ? n - 1 - i : i; };
  std::size_t from = static_cast<std::size_t>((size - most_moves % size) % size);
  for (std::size_t v = 0; v < values.size(); ++v) {
    const std::int64_t y = static_cast<std::int64_t>(v) - most_moves;
    values[v] = static_cast<std::int64_t>(begins[place(from)]) - (behind - own) * y;
    if (++from == n) from = 0;
  }
  const std::vector<std::int64_t> best = window_maxima(values, n);
  const bool reduces = exchange.is_reduced(1);
  const std::uint64_t work = ep * (exchange.steps() + 1) + (reduces ? n - 1 : 0) * reduction;
  const std::uint64_t last = exchange.is_reduced(exchange.steps()) ? reduction : ep;
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t waited = best[i] + (behind - own) * static_cast<std::int64_t>(i) + own * steps;
    const std::uint64_t tick = static_cast<std::uint64_t>(waited) + work;
    ends[place(i)] = {tick, tick - last};
  }
}

/// As above where to stay costs nothing: the more moves the later. Of all paths to a member from the same one only that
/// with the most rounds counts, and its cost is the difference of two sums along the unrolled ring.
void PhaseTimes::uneven_ring(const Phase& phase, std::span<const Land> costs, std::uint64_t reduction,
                             std::span<const std::uint64_t> begins, std::span<PhaseEnd> ends) const {
  const std::uint64_t ep = costs_.endpoint_ns(phase);
  const Exchange exchange(at(phase, 0), ep, costs_.parity);
  const std::size_t n = begins.size();
  const std::uint64_t steps = exchange.steps();
  const auto place = [&](std::size_t i) { return phase.anticlockwise ? n - 1 - i : i; };
  // Unrolled from `steps` places before the first member on; sums[v]: from there to the place v.
  std::vector<std::int64_t> sums(2 * n - 1);
  std::vector<std::int64_t> values(2 * n - 1);
  std::size_t from = static_cast<std::size_t>((n - steps % n) % n);
  for (std::size_t v = 0; v < values.size(); ++v) {
    if (v > 0) sums[v] = sums[v - 1] + static_cast<std::int64_t>(costs[place(from)].forth);
    values[v] = static_cast<std::int64_t>(begins[place(from)]) - sums[v];
    if (++from == n) from = 0;
  }
  std::int64_t round = 0;
  for (const Land& one : costs) round += static_cast<std::int64_t>(one.forth);
  const std::vector<std::int64_t> best = window_maxima(values, n);
  const std::uint64_t work = ep * (steps + 1) + (exchange.is_reduced(1) ? n - 1 : 0) * reduction;
  const std::uint64_t last = exchange.is_reduced(steps) ? reduction : ep;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t distance = steps + i;
    const std::int64_t way = sums[distance % n] + static_cast<std::int64_t>(distance / n) * round;
    const std::uint64_t tick = static_cast<std::uint64_t>(best[i] + way) + work;
    ends[place(i)] = {tick, tick - last};
  }
}

/// One message at a time: step by step for all members.
void PhaseTimes::stepwise(const Phase& phase, std::span<const std::uint64_t> begins, std::span<PhaseEnd> ends) const {
  const std::uint64_t ep = costs_.endpoint_ns(phase);
  const std::size_t n = begins.size();
  const std::vector<Exchange> members = exchanges(phase, ep, costs_.parity);
  const bool ring = phase.algorithm.kind == AlgorithmKind::ring;
  std::vector<std::uint64_t> now(begins.begin(), begins.end());
  for (std::uint64_t& tick : now) tick += ep;
  // Costs by member of the last two sizes: a ring has no more.
  struct Known {
    std::uint64_t bytes = 0;
    Land cost = {};
  };
  std::vector<Known> known(2 * n);
  std::vector<std::uint64_t> next(n);
  for (std::uint64_t k = 0; k < members[0].steps(); ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      const Step step = members[i].step(k);
      const std::size_t from = members[i].from_position(k);
      Known& memo = known[2 * i + step.receive_bytes % 2];
      if (memo.bytes != step.receive_bytes || !ring) {
        memo = {step.receive_bytes, cost(step.from, phase.members[static_cast<std::uint32_t>(i)], step.receive_bytes)};
      }
      next[i] = land(now[from], now[i], memo.cost) + ep;
      ends[i].registered = next[i] - ep;
      if (!members[i].is_reduced(k + 1)) continue;
      ends[i].registered = next[i];
      next[i] += costs_.reduction_ns(members[i].slot_bytes(k + 1));
    }
    now.swap(next);
  }
  for (std::size_t i = 0; i < n; ++i) ends[i].tick = now[i];
}

/// All messages leave at the beginning.
void PhaseTimes::direct(const Phase& phase, std::span<const std::uint64_t> begins, std::span<PhaseEnd> ends) const {
  const std::uint64_t ep = costs_.endpoint_ns(phase);
  const std::uint32_t n = phase.members.size;
  for (std::uint32_t i = 0; i < n; ++i) {
    const Exchange exchange(at(phase, i), ep, costs_.parity);
    std::uint64_t last = 0;
    for (std::uint64_t k = 0; k < exchange.steps(); ++k) {
      const Step step = exchange.step(k);
      const std::uint64_t sent = begins[exchange.from_position(k)] + ep;
      last = std::max(last, land(sent, begins[i] + ep, cost(step.from, phase.members[i], step.receive_bytes)));
    }
    ends[i] = {last + ep, last};
    if (!exchange.is_reduced(exchange.steps())) continue;
    ends[i].registered = ends[i].tick;
    ends[i].tick += costs_.reduction_ns(exchange.slot_bytes(exchange.steps()));
  }
}

/// The first half as above; the second goes message by message with the tokens that received messages give, and
/// not before the first token after the last message of the first half. `alike`: all members do the same at the same
/// time, and only the first is worked out. False: a token falls on the tick of that message.
bool PhaseTimes::direct_all_reduce(const Phase& phase, std::span<const std::uint64_t> begins, std::span<PhaseEnd> ends,
                                   bool alike) const {
  using Heap = std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>>;
  const std::uint64_t ep = costs_.endpoint_ns(phase);
  const std::size_t n = begins.size();
  const std::size_t computed = alike ? 1 : n;
  const std::vector<Exchange> members = exchanges(phase, ep, costs_.parity);
  std::vector<Heap> tokens(computed);
  std::vector<std::uint64_t> turns(computed);
  std::vector<std::uint64_t> second_cost(computed);
  bool exact = true;
  for (std::size_t i = 0; i < computed; ++i) {
    const Exchange& exchange = members[i];
    const auto slot_cost = [&](std::uint64_t slot) {
      return ep + (exchange.is_reduced(slot) ? costs_.reduction_ns(exchange.slot_bytes(slot)) : 0);
    };
    const std::uint64_t first_cost = slot_cost(n - 1);
    second_cost[i] = slot_cost(2 * (n - 1));
    std::vector<std::uint64_t> received(n - 1);
    for (std::uint64_t k = 0; k < n - 1; ++k) {
      const Step step = exchange.step(k);
      const std::uint64_t sent = begins[exchange.from_position(k)] + ep;
      received[k] =
          land(sent, begins[i] + ep, cost(step.from, phase.members[static_cast<std::uint32_t>(i)], step.receive_bytes));
    }
    const std::uint64_t turned = *std::max_element(received.begin(), received.end());
    turns[i] = ~std::uint64_t{0};
    for (const std::uint64_t tick : received) {
      const std::uint64_t token = tick + first_cost;
      tokens[i].push(token);
      exact = exact && token != turned;
      if (token >= turned) turns[i] = std::min(turns[i], token);
    }
    ends[i] = {turned + first_cost, exchange.is_reduced(n - 1) ? turned + ep : turned};
  }
  std::vector<std::uint64_t> sent(computed);
  for (std::uint64_t k = n - 1; k < 2 * (n - 1); ++k) {
    for (std::size_t i = 0; i < computed; ++i) {
      sent[i] = std::max(turns[i], tokens[i].top());
      tokens[i].pop();
    }
    for (std::size_t i = 0; i < computed; ++i) {
      const Step step = members[i].step(k);
      const std::size_t from = alike ? 0 : members[i].from_position(k);
      const std::uint64_t received =
          land(sent[from], sent[i], cost(step.from, phase.members[static_cast<std::uint32_t>(i)], step.receive_bytes));
      const std::uint64_t token = received + second_cost[i];
      tokens[i].push(token);
      const bool reduced = members[i].is_reduced(2 * (n - 1));
      const std::uint64_t registered = reduced ? received + ep : received;
      if (token > ends[i].tick) {
        ends[i] = {token, registered};
      } else if (token == ends[i].tick) {
        ends[i].registered = std::max(ends[i].registered, registered);
      }
    }
  }
  return exact;
}

void PhaseTimes::tree(const Phase& phase, std::span<const std::uint64_t> begins, std::span<PhaseEnd> ends) const {
  const std::uint64_t ep = costs_.endpoint_ns(phase);
  const std::uint64_t reduction = costs_.reduction_ns(phase.bytes);
  const std::uint32_t n = phase.members.size;
  std::vector<TreePlace> places;
  places.reserve(n);
  std::vector<std::uint32_t> downwards;
  for (std::uint32_t i = 0; i < n; ++i) {
    places.push_back(tree_place(at(phase, i)));
    if (!places.back().parent) downwards.push_back(i);
  }
  for (std::size_t next = 0; next < downwards.size(); ++next) {
    const TreePlace& place = places[downwards[next]];
    downwards.insert(downwards.end(), place.children.begin(), place.children.end());
  }
  const auto between = [&](std::uint32_t from, std::uint32_t to) {
    return cost(phase.members[from], phase.members[to], phase.bytes);
  };
  std::vector<std::uint64_t> up(n);
  for (auto place = downwards.rbegin(); place != downwards.rend(); ++place) {
    const std::uint32_t v = *place;
    up[v] = places[v].children.empty() ? begins[v] + ep : 0;
    for (const std::uint32_t child : places[v].children) {
      up[v] = std::max(up[v], land(up[child], begins[v], between(child, v)) + ep + reduction);
    }
  }
  for (const std::uint32_t v : downwards) {
    if (!places[v].parent) {
      ends[v] = {up[v], up[v] - reduction};
      continue;
    }
    const std::uint32_t parent = *places[v].parent;
    const std::uint64_t received = land(ends[parent].tick, up[v], between(parent, v));
    const bool leaf = places[v].children.empty();
    ends[v] = leaf ? PhaseEnd{received + ep, received} : PhaseEnd{received + ep + reduction, received + ep};
  }
}

}  // namespace chakra
