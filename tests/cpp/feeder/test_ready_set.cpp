// SPDX-License-Identifier: MIT
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "feeder/ready_set.hpp"

namespace chakra::detail {
namespace {

TEST(ReadySet, EmptyHasNoSmallest) {
  ReadySet set(0);
  EXPECT_EQ(set.smallest(), std::nullopt);
  EXPECT_EQ(set.size(), 0U);
  EXPECT_TRUE(set.members().empty());
}

TEST(ReadySet, EdgesOfWordsAndLevels) {
  for (const std::uint32_t size : {1U, 63U, 64U, 65U, 4095U, 4096U, 4097U, 262'144U, 300'000U}) {
    ReadySet set(size);
    set.insert(size - 1);
    EXPECT_EQ(set.smallest(), size - 1) << size;
    if (size > 1) {
      set.insert(0);
    }
    EXPECT_EQ(set.smallest(), 0U) << size;
    EXPECT_EQ(set.take_smallest(), 0U) << size;
    EXPECT_EQ(set.size(), size == 1 ? 0U : 1U) << size;
    if (size > 1) {
      set.erase(size - 1);
    }
    EXPECT_EQ(set.smallest(), std::nullopt) << size;
  }
}

TEST(ReadySet, AgreesWithAnOrderedSet) {
  constexpr std::uint32_t size = 70'000;
  ReadySet set(size);
  std::set<std::uint32_t> expected;
  std::mt19937 random(11);
  for (int step = 0; step < 200'000; ++step) {
    // Phases in which the set grows and shrinks, so that it is empty now and then, and full.
    const bool grows = (step / 300) % 2 == 0;
    const auto rank = static_cast<std::uint32_t>(random() % size);
    const auto action = random() % 8;
    if (action < (grows ? 5U : 3U)) {
      if (expected.insert(rank).second) {
        set.insert(rank);
      }
    } else if (action < 6 && !expected.empty()) {
      ASSERT_EQ(set.take_smallest(), *expected.begin());
      expected.erase(expected.begin());
    } else if (const auto some = expected.lower_bound(rank); some != expected.end()) {
      set.erase(*some);
      expected.erase(some);
    }
    ASSERT_EQ(set.size(), expected.size());
    ASSERT_EQ(set.smallest(), expected.empty() ? std::nullopt : std::optional(*expected.begin()));
    ASSERT_EQ(set.contains(rank), expected.contains(rank));
  }
  EXPECT_EQ(set.members(), std::vector<std::uint32_t>(expected.begin(), expected.end()));
  set.clear();
  EXPECT_EQ(set.smallest(), std::nullopt);
}

}  // namespace
}  // namespace chakra::detail
