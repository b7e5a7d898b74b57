// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "timeline/lanes.hpp"

namespace chakra::timeline {
namespace {

std::vector<Lane> split(const std::vector<std::uint64_t>& start, const std::vector<std::uint64_t>& end) {
  Lane slices(start.size());
  std::iota(slices.begin(), slices.end(), 0U);
  return split_into_lanes(slices, start, end);
}

bool nest_or_apart(std::uint64_t start, std::uint64_t end, std::uint64_t other_start, std::uint64_t other_end) {
  const bool apart = end <= other_start || other_end <= start;
  const bool inside = other_start <= start && end <= other_end;
  const bool outside = start <= other_start && other_end <= end;
  return apart || inside || outside;
}

TEST(Lanes, NestedAndSequentialSlicesShareOneLane) {
  const auto lanes = split({0, 2, 2, 10, 3}, {10, 6, 4, 12, 4});
  ASSERT_EQ(lanes.size(), 1U);
  EXPECT_EQ(lanes[0], (Lane{0, 1, 2, 4, 3}));
}

TEST(Lanes, PartialOverlapOpensALane) {
  const auto lanes = split({0, 5, 12}, {10, 15, 14});
  ASSERT_EQ(lanes.size(), 2U);
  EXPECT_EQ(lanes[0], (Lane{0, 2}));
  EXPECT_EQ(lanes[1], (Lane{1}));
}

TEST(Lanes, OverflowLanesAreUsedAgain) {
  const auto lanes = split({0, 5, 20, 25}, {10, 15, 30, 35});
  ASSERT_EQ(lanes.size(), 2U);
  EXPECT_EQ(lanes[1], (Lane{1, 3}));
}

TEST(Lanes, NoSlicesGiveOneEmptyLane) {
  const auto lanes = split({}, {});
  ASSERT_EQ(lanes.size(), 1U);
  EXPECT_TRUE(lanes[0].empty());
}

TEST(Lanes, EveryPairOfALaneNestsOrIsApart) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const std::size_t count = random() % 40;
    std::vector<std::uint64_t> start(count);
    std::vector<std::uint64_t> end(count);
    for (std::size_t index = 0; index < count; ++index) {
      start[index] = random() % 30;
      end[index] = start[index] + random() % 10;
    }
    std::vector<std::uint32_t> seen;
    for (const Lane& lane : split(start, end)) {
      for (std::size_t left = 0; left < lane.size(); ++left) {
        seen.push_back(lane[left]);
        for (std::size_t right = left + 1; right < lane.size(); ++right) {
          EXPECT_LE(start[lane[left]], start[lane[right]]);
          EXPECT_TRUE(nest_or_apart(start[lane[left]], end[lane[left]], start[lane[right]], end[lane[right]]));
        }
      }
    }
    std::sort(seen.begin(), seen.end());
    std::vector<std::uint32_t> all(count);
    std::iota(all.begin(), all.end(), 0U);
    EXPECT_EQ(seen, all);
  }
}

}  // namespace
}  // namespace chakra::timeline
