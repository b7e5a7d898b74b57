// SPDX-License-Identifier: MIT
#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "sim/ready_lanes.hpp"

namespace chakra::sim {
namespace {

using Rows = std::vector<NodeIndex>;

TEST(ReadyLanes, SmallestIdOfTheLanesWithAFreeSlot) {
  ReadyLanes ready({1, 2});
  ready.add(5, 50, 0);
  ready.add(3, 30, 0);
  ready.add(4, 40, 1);
  EXPECT_EQ(ready.rows(), (Rows{30, 40, 50}));
  EXPECT_EQ(ready.pop(), 30U);
  ready.occupy(0);
  EXPECT_EQ(ready.pop(), 40U);
  ready.occupy(1);
  EXPECT_EQ(ready.pop(), std::nullopt);
  EXPECT_EQ(ready.rows(), Rows{50});
  EXPECT_FALSE(ready.empty());
  ready.release(0);
  EXPECT_EQ(ready.pop(), 50U);
  EXPECT_TRUE(ready.empty());
}

TEST(ReadyLanes, WhoLeavesTheSlotFreeLetsTheNextOneIn) {
  ReadyLanes ready({1});
  for (const NodeId id : {NodeId{1}, NodeId{2}, NodeId{3}}) ready.add(id, static_cast<NodeIndex>(id), 0);
  ASSERT_EQ(ready.pop(), 1U);
  ready.occupy(0);
  ASSERT_EQ(ready.pop(), std::nullopt);
  ready.release(0);
  EXPECT_EQ(ready.pop(), 2U);
  EXPECT_EQ(ready.pop(), 3U);
}

/// The obvious way: look at all ready nodes.
class Oracle {
 public:
  explicit Oracle(std::vector<std::uint32_t> slots) : free_(std::move(slots)) {}
  void add(NodeId id, std::uint32_t lane) { ready_.emplace(id, lane); }
  std::optional<std::pair<NodeId, std::uint32_t>> pop() {
    for (const auto& entry : ready_) {
      if (free_[entry.second] == 0) continue;
      const auto found = entry;
      ready_.erase(entry);
      return found;
    }
    return std::nullopt;
  }
  std::vector<std::uint32_t> free_;

 private:
  std::set<std::pair<NodeId, std::uint32_t>> ready_;
};

TEST(ReadyLanes, LikeLookingAtAllNodes) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::uint32_t bound) { return static_cast<std::uint32_t>(random() % bound); };
    std::vector<std::uint32_t> slots(1 + below(5));
    for (std::uint32_t& count : slots) count = 1 + below(3);
    ReadyLanes ready(slots);
    Oracle oracle(slots);
    std::vector<std::uint32_t> lane_of_id(400);
    std::vector<NodeId> ids(400);
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = i;
    std::shuffle(ids.begin(), ids.end(), random);
    std::vector<std::uint32_t> running;
    for (std::size_t next = 0; next < ids.size();) {
      for (std::uint32_t added = below(4); added > 0 && next < ids.size(); --added, ++next) {
        const auto lane = below(static_cast<std::uint32_t>(slots.size()));
        ready.add(ids[next], static_cast<NodeIndex>(ids[next]), lane);
        oracle.add(ids[next], lane);
      }
      for (auto expected = oracle.pop(); expected; expected = oracle.pop()) {
        ASSERT_EQ(ready.pop(), static_cast<NodeIndex>(expected->first)) << "seed " << seed;
        if (below(4) == 0) continue;
        ready.occupy(expected->second);
        --oracle.free_[expected->second];
        running.push_back(expected->second);
      }
      ASSERT_EQ(ready.pop(), std::nullopt) << "seed " << seed;
      std::shuffle(running.begin(), running.end(), random);
      for (std::uint32_t ended = below(3); ended > 0 && !running.empty(); --ended) {
        ready.release(running.back());
        ++oracle.free_[running.back()];
        running.pop_back();
      }
    }
  }
}

}  // namespace
}  // namespace chakra::sim
