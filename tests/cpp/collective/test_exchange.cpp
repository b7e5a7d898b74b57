// SPDX-License-Identifier: MIT
#include <bit>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "collective/exchange.hpp"

namespace chakra {
namespace {

constexpr std::uint32_t base = 100;
constexpr std::uint32_t stride = 3;

Phase phase_of(PhaseKind kind, Algorithm algorithm, std::uint32_t members, std::uint32_t position,
               std::uint64_t total) {
  Phase phase;
  phase.kind = kind;
  phase.algorithm = algorithm;
  phase.members = {members, base, stride, nullptr};
  phase.position = position;
  phase.total = total;
  phase.bytes = kind == PhaseKind::all_gather ? share(total, members, position) : total;
  return phase;
}

std::vector<Exchange> exchanges(PhaseKind kind, Algorithm algorithm, std::uint32_t members, std::uint64_t total,
                                bool anticlockwise = false) {
  std::vector<Exchange> all;
  for (std::uint32_t position = 0; position < members; ++position) {
    Phase phase = phase_of(kind, algorithm, members, position, total);
    phase.anticlockwise = anticlockwise;
    all.emplace_back(phase, 10, false);
  }
  return all;
}

std::uint32_t position_of(std::uint32_t rank) { return (rank - base) / stride; }

/// Bytes each member sends in all. Checks that what a member expects from another is what that one
/// sends, in order.
std::vector<std::uint64_t> bytes_sent(const std::vector<Exchange>& members) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<std::deque<std::uint64_t>, std::deque<std::uint64_t>>>
      wires;
  std::vector<std::uint64_t> sent(members.size());
  for (std::uint32_t i = 0; i < members.size(); ++i) {
    for (std::uint64_t k = 0; k < members[i].steps(); ++k) {
      const Step step = members[i].step(k);
      EXPECT_NE(position_of(step.to), i);
      wires[{i, position_of(step.to)}].first.push_back(step.send_bytes);
      wires[{position_of(step.from), i}].second.push_back(step.receive_bytes);
      sent[i] += step.send_bytes;
    }
  }
  for (const auto& [ends, wire] : wires) {
    EXPECT_EQ(wire.first, wire.second) << "from " << ends.first << " to " << ends.second;
  }
  return sent;
}

struct Case {
  Algorithm algorithm;
  bool powers_only;
};
const Case cases[] = {{{AlgorithmKind::ring}, false},
                      {{AlgorithmKind::direct}, false},
                      {{AlgorithmKind::direct, 2}, false},
                      {{AlgorithmKind::halving_doubling}, true}};

TEST(Exchange, NoByteIsLostOrDoubled) {
  for (const Case& c : cases) {
    for (std::uint32_t n = 2; n <= 9; ++n) {
      if (c.powers_only && !std::has_single_bit(n)) continue;
      for (std::uint64_t total = 1; total <= 40; ++total) {
        for (const bool back : {false, true}) {
          const auto scattered = bytes_sent(exchanges(PhaseKind::reduce_scatter, c.algorithm, n, total, back));
          const auto gathered = bytes_sent(exchanges(PhaseKind::all_gather, c.algorithm, n, total, back));
          const auto reduced = bytes_sent(exchanges(PhaseKind::all_reduce, c.algorithm, n, total, back));
          std::uint64_t sum = 0;
          for (std::uint32_t i = 0; i < n; ++i) {
            // Everything but the member's own share leaves it, once.
            EXPECT_EQ(scattered[i], total - share(total, n, i));
            EXPECT_EQ(reduced[i], scattered[i] + gathered[i]);
            sum += gathered[i];
          }
          EXPECT_EQ(sum, (n - 1) * total) << "each share reaches the n-1 others";
        }
      }
    }
  }
}

TEST(Exchange, AllToAllMovesEveryBlockOverItsDistance) {
  for (std::uint32_t n = 2; n <= 9; ++n) {
    for (std::uint64_t total = 1; total <= 40; ++total) {
      const auto direct = bytes_sent(exchanges(PhaseKind::all_to_all, {AlgorithmKind::direct}, n, total));
      const auto ring = bytes_sent(exchanges(PhaseKind::all_to_all, {AlgorithmKind::ring}, n, total));
      std::uint64_t over_ring = 0;
      std::uint64_t expected = 0;
      for (std::uint32_t i = 0; i < n; ++i) {
        EXPECT_EQ(direct[i], total - share(total, n, i));
        over_ring += ring[i];
        for (std::uint32_t j = 0; j < n; ++j) expected += (j + n - i) % n * share(total, n, j);
      }
      EXPECT_EQ(over_ring, expected);
    }
  }
}

TEST(Exchange, EvenSizesAreThoseOfParity) {
  for (const PhaseKind kind : {PhaseKind::all_reduce, PhaseKind::reduce_scatter, PhaseKind::all_gather}) {
    for (const Case& c : cases) {
      for (const std::uint32_t n : {2U, 4U, 8U}) {
        for (std::uint32_t i = 0; i < n; ++i) {
          Phase phase = phase_of(kind, c.algorithm, n, i, 1024);
          const Exchange exact(phase, 10, false);
          phase.total = 0;
          const Exchange parity(phase, 10, true);
          ASSERT_EQ(exact.steps(), parity.steps());
          for (std::uint64_t k = 0; k < exact.steps(); ++k) {
            EXPECT_EQ(exact.step(k).send_bytes, parity.step(k).send_bytes);
            EXPECT_EQ(exact.step(k).receive_bytes, parity.step(k).receive_bytes);
            EXPECT_EQ(exact.step(k).to, parity.step(k).to);
          }
        }
      }
    }
  }
}

TEST(Exchange, HalvingDoublingLosesTheOddByteInParity) {
  Phase phase = phase_of(PhaseKind::all_reduce, {AlgorithmKind::halving_doubling}, 4, 0, 0);
  phase.bytes = 13;
  const Exchange exchange(phase, 10, true);
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t k = 0; k < exchange.steps(); ++k) sizes.push_back(exchange.step(k).send_bytes);
  EXPECT_EQ(sizes, (std::vector<std::uint64_t>{6, 3, 2, 4}));
}

TEST(Exchange, StepsWindowsAndReductions) {
  const auto reduced = [](const Exchange& exchange) {
    std::vector<std::uint64_t> slots;
    for (std::uint64_t s = 0; s < exchange.steps() + exchange.window(); ++s) {
      if (exchange.is_reduced(s)) slots.push_back(s);
    }
    return slots;
  };
  const auto make = [](PhaseKind kind, Algorithm algorithm, std::uint32_t n, bool subgroup = false) {
    Phase phase = phase_of(kind, algorithm, n, 0, 0);
    phase.bytes = 4096;
    phase.subgroup = subgroup;
    return Exchange(phase, 10, true);
  };
  using Slots = std::vector<std::uint64_t>;
  const Algorithm ring{AlgorithmKind::ring};
  const Algorithm direct{AlgorithmKind::direct};
  const Algorithm direct2{AlgorithmKind::direct, 2};
  EXPECT_EQ(reduced(make(PhaseKind::all_reduce, ring, 4)), (Slots{1, 2, 3}));
  EXPECT_EQ(reduced(make(PhaseKind::reduce_scatter, ring, 4)), (Slots{1, 2, 3}));
  EXPECT_EQ(reduced(make(PhaseKind::all_gather, ring, 4)), Slots{});
  EXPECT_EQ(make(PhaseKind::all_to_all, ring, 5).steps(), 10U);
  EXPECT_EQ(reduced(make(PhaseKind::all_reduce, direct, 4)), (Slots{3, 4, 5}));
  EXPECT_EQ(make(PhaseKind::all_reduce, direct, 4).barrier(), 3U);
  EXPECT_EQ(reduced(make(PhaseKind::all_reduce, direct2, 6)), (Slots{2, 3, 10, 11}));
  EXPECT_EQ(reduced(make(PhaseKind::reduce_scatter, direct2, 6)), (Slots{2, 3, 6}));
  EXPECT_EQ(reduced(make(PhaseKind::reduce_scatter, direct2, 6, true)), (Slots{2, 3, 4, 5, 6}));
  EXPECT_EQ(reduced(make(PhaseKind::all_reduce, {AlgorithmKind::halving_doubling}, 8)), (Slots{1, 2}));
  EXPECT_EQ(reduced(make(PhaseKind::all_reduce, {AlgorithmKind::halving_doubling}, 2)), Slots{});
}

}  // namespace
}  // namespace chakra
