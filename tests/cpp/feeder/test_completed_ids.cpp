// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "feeder/completed_ids.hpp"
#include "feeder/id_map.hpp"

namespace chakra::detail {
namespace {

void expect_like_a_set(std::size_t count, const std::function<NodeId(std::size_t)>& id_at) {
  CompletedIds completed;
  std::set<NodeId> expected;
  for (std::size_t i = 0; i < count; ++i) {
    const NodeId id = id_at(i);
    if (expected.insert(id).second) {
      ASSERT_FALSE(completed.contains(id)) << id;
      completed.insert(id);
      ASSERT_TRUE(completed.contains(id)) << id;
    }
  }
  for (const NodeId id : expected) {
    ASSERT_TRUE(completed.contains(id)) << id;
    ASSERT_EQ(completed.contains(id + 1), expected.contains(id + 1)) << id;
    ASSERT_EQ(completed.contains(id - 1), expected.contains(id - 1)) << id;
  }
  completed.clear();
  EXPECT_FALSE(completed.contains(*expected.begin()));
}

TEST(CompletedIds, DenseAscending) {
  expect_like_a_set(200'000, [](std::size_t i) { return i; });
}

TEST(CompletedIds, DenseInAnyOrder) {
  std::mt19937_64 random(3);
  expect_like_a_set(150'000, [&](std::size_t) { return random() % 200'000; });
}

TEST(CompletedIds, Descending) {
  expect_like_a_set(100'000, [](std::size_t i) { return ~NodeId{0} - i; });
}

TEST(CompletedIds, SparseOverTheWholeRange) {
  std::mt19937_64 random(4);
  expect_like_a_set(150'000, [&](std::size_t i) { return i == 0 ? 0 : i == 1 ? ~NodeId{0} : random(); });
}

TEST(CompletedIds, TakesLittleMemory) {
  CompletedIds dense;
  CompletedIds strided;
  for (NodeId id = 0; id < 1'000'000; ++id) {
    dense.insert(id);
    strided.insert(id * 1000);
  }
  constexpr std::size_t newest = std::size_t{3} << 20;  // the table of the newest is as large whatever they are
  EXPECT_LT(dense.memory_bytes(), newest);
  EXPECT_LT(strided.memory_bytes(), newest + 4'000'000);
}

TEST(IdMap, AgreesWithAnOrderedMap) {
  std::mt19937_64 random(5);
  IdMap map;
  std::map<NodeId, std::uint32_t> expected;
  for (std::uint32_t step = 0; step < 200'000; ++step) {
    // Few ids, so that they come and go; some far apart.
    const NodeId id = random() % 2 == 0 ? random() % 500 : (random() % 500) << 50;
    const auto found = expected.find(id);
    ASSERT_EQ(map.find(id), found == expected.end() ? std::nullopt : std::optional(found->second));
    if (found == expected.end()) {
      map.insert(id, step);
      expected[id] = step;
    } else if (random() % 3 == 0) {
      map.replace(id, step);
      found->second = step;
    } else {
      map.erase(id);
      expected.erase(found);
    }
    ASSERT_EQ(map.size(), expected.size());
  }
  std::vector<NodeId> ids = map.ids();
  std::sort(ids.begin(), ids.end());
  std::vector<NodeId> expected_ids;
  for (const auto& [id, number] : expected) {
    expected_ids.push_back(id);
  }
  EXPECT_EQ(ids, expected_ids);
  map.clear();
  EXPECT_EQ(map.size(), 0U);
  EXPECT_EQ(map.find(expected_ids.front()), std::nullopt);
}

}  // namespace
}  // namespace chakra::detail
