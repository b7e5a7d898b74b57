// SPDX-License-Identifier: MIT
// One collective in one dimension on ranks that start at random times, against the recurrences over
// the members' times: plain arithmetic, no events.
#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/workload.hpp"

namespace chakra {
namespace {

using testing::on;
using Times = std::vector<std::uint64_t>;

struct Model {
  const SimulationConfig& config;
  Times entry;
  std::uint64_t ep;

  std::size_t n() const { return entry.size(); }
  std::uint64_t reduction(std::uint64_t bytes) const {
    if (config.system.local_mem_bw == 0) return 0;
    return 3 * static_cast<std::uint64_t>(static_cast<double>(bytes) / (config.system.local_mem_bw * 1e9) * 1e9);
  }
  /// When a message is received that can be sent at `sent` and received from `posted` on.
  std::uint64_t land(std::size_t src, std::size_t dst, std::uint64_t sent, std::uint64_t posted,
                     std::uint64_t bytes) const {
    const auto from = static_cast<std::uint32_t>(src);
    const auto to = static_cast<std::uint32_t>(dst);
    const std::uint64_t net = config.network.delay(from, to, bytes);
    if (!config.rendezvous_protocol) return std::max(posted, sent + net);
    return std::max(sent, posted + config.network.delay(to, from, 8192)) + net;
  }
};

Times ring(const Model& model, CollectiveType type, std::uint64_t bytes) {
  const std::size_t n = model.n();
  const std::uint64_t block = type == CollectiveType::all_gather ? bytes : bytes / n;
  const std::size_t steps = type == CollectiveType::all_reduce   ? 2 * (n - 1)
                            : type == CollectiveType::all_to_all ? n * (n - 1) / 2
                                                                 : n - 1;
  const bool reduces = type == CollectiveType::all_reduce || type == CollectiveType::reduce_scatter;
  Times t = model.entry;
  for (std::uint64_t& time : t) time += model.ep;
  for (std::size_t k = 0; k < steps; ++k) {
    Times next(n);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t before = (i + n - 1) % n;
      next[i] = model.land(before, i, t[before], t[i], block) + model.ep;
      if (reduces && k < n - 1) next[i] += model.reduction(block);
    }
    t = next;
  }
  return t;
}

Times halving_doubling(const Model& model, CollectiveType type, std::uint64_t bytes) {
  const std::size_t n = model.n();
  std::vector<std::pair<std::size_t, std::uint64_t>> steps;  // distance, bytes
  std::uint64_t size = bytes;
  if (type != CollectiveType::all_gather) {
    for (std::size_t d = 1; d < n; d *= 2) steps.emplace_back(d, size /= 2);
  }
  const std::size_t halvings = steps.size();
  if (type != CollectiveType::reduce_scatter) {
    for (std::size_t d = n / 2; d > 0; d /= 2, size *= 2) steps.emplace_back(d, size);
  }
  Times t = model.entry;
  for (std::uint64_t& time : t) time += model.ep;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    Times next(n);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t partner = i ^ steps[k].first;
      next[i] = model.land(partner, i, t[partner], t[i], steps[k].second) + model.ep;
      if (k + 1 < halvings) next[i] += model.reduction(steps[k + 1].second);
    }
    t = next;
  }
  return t;
}

/// Direct reduce-scatter, all-gather, all-to-all with all messages at once.
Times direct(const Model& model, CollectiveType type, std::uint64_t bytes) {
  const std::size_t n = model.n();
  const std::uint64_t block = type == CollectiveType::all_gather ? bytes : bytes / n;
  Times end(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t p = 0; p < n; ++p) {
      if (p == i) continue;
      const std::uint64_t received = model.land(p, i, model.entry[p] + model.ep, model.entry[i] + model.ep, block);
      end[i] = std::max(end[i], received + model.ep);
    }
    if (type == CollectiveType::reduce_scatter) end[i] += model.reduction(block);
  }
  return end;
}

/// Direct with a window, or as all-reduce: send k goes with the k-th smallest token. `tie`: a token
/// falls on the tick of the last receive of the first half, where the order of events decides.
Times direct_with_window(const Model& model, CollectiveType type, std::uint64_t bytes, std::size_t wanted, bool& tie) {
  const std::size_t n = model.n();
  const std::size_t window = wanted == 0 ? n - 1 : std::min(wanted, n - 1);
  const bool all_reduce = type == CollectiveType::all_reduce;
  const std::size_t steps = all_reduce ? 2 * (n - 1) : n - 1;
  const std::uint64_t block = type == CollectiveType::all_gather ? bytes : bytes / n;
  const auto cost = [&](std::size_t slot) {
    const bool reduces = all_reduce || type == CollectiveType::reduce_scatter;
    const bool reduced = reduces && slot % (2 * window) >= window && (!all_reduce || slot / (2 * window) % 2 == 0);
    return model.ep + (reduced ? model.reduction(block) : 0);
  };
  std::vector<Times> receives(n);
  const auto tokens_of = [&](std::size_t i) {
    Times tokens(window, model.entry[i] + model.ep);
    Times sorted = receives[i];
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t q = 0; q < sorted.size(); ++q) tokens.push_back(sorted[q] + cost(window + q));
    std::sort(tokens.begin(), tokens.end());
    return tokens;
  };
  for (std::size_t k = 0; k < steps; ++k) {
    Times send(n);
    for (std::size_t i = 0; i < n; ++i) {
      const Times tokens = tokens_of(i);
      send[i] = tokens[k];
      if (!all_reduce || k < n - 1) continue;
      Times first(receives[i].begin(), receives[i].begin() + static_cast<std::ptrdiff_t>(n - 1));
      const std::uint64_t turned = *std::max_element(first.begin(), first.end());
      std::size_t star = n - 1;
      while (star < tokens.size() && tokens[star] < turned) ++star;
      tie = tie || tokens.at(star) == turned;
      send[i] = std::max(send[i], tokens.at(star));
    }
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t src = (i + n - 1 - k % (n - 1)) % n;
      receives[i].push_back(model.land(src, i, send[src], send[i], block));
    }
  }
  Times end(n);
  for (std::size_t i = 0; i < n; ++i) end[i] = tokens_of(i).back();
  return end;
}

/// The first of the two trees (one chunk): position n-1 over the in-order tree of 0 .. n-2.
Times double_tree(const Model& model, CollectiveType, std::uint64_t bytes) {
  const std::size_t n = model.n();
  Times up(n);
  Times end(n);
  const std::uint64_t red = model.reduction(bytes);
  const auto middle = [](std::size_t low, std::size_t high) { return low + (high - low) / 2; };
  const std::function<void(std::size_t, std::size_t)> climb = [&](std::size_t low, std::size_t high) {
    const std::size_t root = middle(low, high);
    up[root] = model.entry[root] + model.ep;
    if (high - low == 1) return;
    up[root] = 0;
    for (const auto& [from, to] : {std::pair{low, root}, std::pair{root + 1, high}}) {
      climb(from, to);
      const std::size_t child = middle(from, to);
      up[root] = std::max(up[root], model.land(child, root, up[child], model.entry[root], bytes) + model.ep + red);
    }
  };
  climb(0, n - 1);
  const std::size_t top = n - 1;
  const std::size_t first = middle(0, n - 1);
  end[top] = model.land(first, top, up[first], model.entry[top], bytes) + model.ep + red;
  const std::function<void(std::size_t, std::size_t, std::size_t, std::uint64_t)> descend =
      [&](std::size_t low, std::size_t high, std::size_t parent, std::uint64_t down) {
        const std::size_t root = middle(low, high);
        const std::uint64_t received = model.land(parent, root, down, up[root], bytes) + model.ep;
        end[root] = received + (high - low > 1 ? red : 0);
        if (high - low == 1) return;
        descend(low, root, root, end[root]);
        descend(root + 1, high, root, end[root]);
      };
  descend(0, n - 1, top, end[top]);
  return end;
}

using Recurrence = std::function<Times(const Model&, CollectiveType, std::uint64_t)>;

struct Subject {
  std::string algorithm;
  std::vector<CollectiveType> types;
  std::vector<std::uint32_t> sizes;
  Recurrence recurrence;
};

constexpr Fidelity fidelities[] = {Fidelity::message, Fidelity::phase, Fidelity::closed, Fidelity::automatic};

const CollectiveType ar = CollectiveType::all_reduce;
const CollectiveType rs = CollectiveType::reduce_scatter;
const CollectiveType ag = CollectiveType::all_gather;
const CollectiveType a2a = CollectiveType::all_to_all;

void expect_equal(const Subject& setup, bool parity, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::uint64_t spreads[] = {1, 200, 5'000, 1'000'000};
  for (int round = 0; round < 120; ++round) {
    const std::uint32_t n = setup.sizes[random() % setup.sizes.size()];
    const auto topology = static_cast<Topology>(random() % 3);
    SimulationConfig config =
        on({{topology, n, 1.0 + static_cast<double>(random() % 100), static_cast<double>(random() % 700)}});
    testing::use(config, setup.algorithm);
    config.parity = parity;
    config.system.endpoint_delay_ns = static_cast<double>(random() % 40);
    config.system.local_mem_bw = random() % 3 == 0 ? 0 : static_cast<double>(1 + random() % 2000);
    config.rendezvous_protocol = random() % 3 == 0;
    // A multiple of every member count, so that both modes have the same sizes.
    const std::uint64_t bytes = 1'441'440 * (1 + random() % 4);
    const std::uint64_t spread = spreads[random() % 4];
    Times entry(n);
    for (std::uint64_t& time : entry) time = 1 + random() % spread;
    const CollectiveType type = setup.types[random() % setup.types.size()];
    const Model model{config, entry, static_cast<std::uint64_t>(*config.system.endpoint_delay_ns)};
    const auto traces = testing::skewed_collective(type, static_cast<std::int64_t>(bytes), entry);
    const Times expected = setup.recurrence(model, type, bytes);
    for (const Fidelity fidelity : fidelities) {
      config.fidelity = fidelity;
      ASSERT_EQ(simulate(traces, config).finish_ns, expected)
          << setup.algorithm << " " << to_string(type) << " on " << n << " " << to_string(topology) << ", round "
          << round << ", fidelity " << to_string(fidelity);
    }
  }
}

const std::vector<std::uint32_t> any{2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16};
const std::vector<std::uint32_t> powers{2, 4, 8, 16};

TEST(PhaseRecurrence, Ring) {
  const Subject setup{"ring", {ar, rs, ag, a2a}, any, ring};
  expect_equal(setup, false, 1);
  expect_equal(setup, true, 2);
}

TEST(PhaseRecurrence, HalvingDoubling) {
  const Subject setup{"halvingDoubling", {ar, rs, ag}, powers, halving_doubling};
  expect_equal(setup, false, 3);
  expect_equal(setup, true, 4);
}

TEST(PhaseRecurrence, Direct) {
  const Subject setup{"direct", {rs, ag, a2a}, any, direct};
  expect_equal(setup, false, 5);
  expect_equal(setup, true, 6);
}

TEST(PhaseRecurrence, DirectWithWindow) {
  for (const std::size_t window : {1U, 2U, 3U, 5U}) {
    const Subject setup{"direct" + std::to_string(window),
                        {rs, ag, a2a},
                        any,
                        [window](const Model& model, CollectiveType type, std::uint64_t bytes) {
                          bool tie = false;
                          return direct_with_window(model, type, bytes, window, tie);
                        }};
    expect_equal(setup, false, 7 + window);
    expect_equal(setup, true, 20 + window);
  }
}

TEST(PhaseRecurrence, DoubleBinaryTree) {
  const Subject setup{"doubleBinaryTree", {ar}, powers, double_tree};
  expect_equal(setup, false, 30);
  expect_equal(setup, true, 31);
}

TEST(PhaseRecurrence, DirectAllReduceWithoutTies) {
  std::mt19937_64 random(40);
  int without_tie = 0;
  for (int round = 0; round < 400; ++round) {
    const std::uint32_t n = any[random() % any.size()];
    const std::size_t window = random() % 4;
    SimulationConfig config = on({{Topology::ring, n, 3.7, 501}});
    testing::use(config, window == 0 ? "direct" : "direct" + std::to_string(window));
    config.system.endpoint_delay_ns = 13;
    config.system.local_mem_bw = 77;
    config.rendezvous_protocol = random() % 2 == 0;
    Times entry(n);
    for (std::size_t i = 0; i < n; ++i) entry[i] = 1 + random() % 100'000'000;
    const Model model{config, entry, 13};
    bool tie = false;
    const Times expected = direct_with_window(model, ar, 1'441'440, window, tie);
    if (tie) continue;
    ++without_tie;
    const auto traces = testing::skewed_collective(ar, 1'441'440, entry);
    for (const Fidelity fidelity : fidelities) {
      config.fidelity = fidelity;
      ASSERT_EQ(simulate(traces, config).finish_ns, expected)
          << n << " members, window " << window << ", round " << round << ", fidelity " << to_string(fidelity);
    }
  }
  EXPECT_GT(without_tie, 200);
}

}  // namespace
}  // namespace chakra
