// SPDX-License-Identifier: MIT
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "trace/id_index.hpp"

namespace chakra {
namespace {

constexpr NodeId largest = std::numeric_limits<NodeId>::max();

/// Compares with a std::map: the first row of every id, the later rows as duplicates, neighbours absent.
void check(const std::vector<NodeId>& ids) {
  IdIndex index;
  const auto duplicates = index.build(ids);
  std::map<NodeId, NodeIndex> first;
  std::size_t next = 0;
  for (NodeIndex row = 0; row < ids.size(); ++row) {
    const auto [entry, is_new] = first.try_emplace(ids[row], row);
    if (!is_new) {
      ASSERT_LT(next, duplicates.size());
      EXPECT_EQ(duplicates[next].first, entry->second);
      EXPECT_EQ(duplicates[next].second, row);
      ++next;
    }
  }
  EXPECT_EQ(next, duplicates.size());
  for (const auto& [id, row] : first) {
    ASSERT_EQ(index.find(id), row) << id;
    for (const NodeId near : {id - 1, id + 1, id ^ (NodeId{1} << 63), ~id}) {
      const auto expected = first.find(near);
      ASSERT_EQ(index.find(near), expected == first.end() ? std::nullopt : std::optional(expected->second)) << near;
    }
  }
}

TEST(IdIndex, NoIdsFindNothing) {
  IdIndex index;
  EXPECT_EQ(index.find(0), std::nullopt);
  EXPECT_TRUE(index.build({}).empty());
  EXPECT_EQ(index.find(0), std::nullopt);
  EXPECT_EQ(index.find(largest), std::nullopt);
}

TEST(IdIndex, IdsThatCountUpNeedNoMemory) {
  check({0});
  check({largest});
  check({0, 1, 2, 3});
  check({41, 42, 43});
  check({largest - 2, largest - 1, largest});
  const std::vector<NodeId> ids = {7, 8, 9};
  IdIndex index;
  index.build(ids);
  EXPECT_EQ(index.memory_bytes(), 0U);
}

TEST(IdIndex, IdsThatWrapAroundAreNotConsecutive) { check({largest - 1, largest, 0, 1}); }

TEST(IdIndex, DenseIdsInAnyOrder) {
  check({3, 1, 2});
  check({5, 5});
  check({10, 12, 11, 10, 12, 13});
  check({largest, largest - 1, largest - 3});
  check({0, 0, 0});
}

TEST(IdIndex, SparseIdsWithDuplicates) {
  check({0, largest});
  check({largest, 0, largest, 1, 0});
  check({1, 1000, std::uint64_t{1} << 63, 1000, 7, std::uint64_t{1} << 63});
  std::mt19937_64 random(1);
  std::vector<NodeId> ids;
  for (int i = 0; i < 5000; ++i) {
    ids.push_back(random());
    ids.push_back(random() % 3000);
  }
  check(ids);
}

TEST(IdIndex, BuildingAgainForgetsTheFirst) {
  IdIndex index;
  const std::vector<NodeId> sparse = {1, 1'000'000};
  const std::vector<NodeId> dense = {2, 4, 3};
  index.build(sparse);
  index.build(dense);
  EXPECT_EQ(index.find(1), std::nullopt);
  EXPECT_EQ(index.find(1'000'000), std::nullopt);
  EXPECT_EQ(index.find(3), 2U);
}

/// Inverse of the index's mixing function, which whoever crafts a file may know.
NodeId unmix(std::uint64_t value) {
  const auto unshift = [](std::uint64_t x, int by) {
    std::uint64_t result = x;
    for (int done = by; done < 64; done += by) {
      result = x ^ (result >> by);
    }
    return result;
  };
  value = unshift(value, 31) * 0x319642b2d24d8ec3ULL;
  value = unshift(value, 27) * 0x96de1b173f119089ULL;
  return unshift(value, 30);
}

TEST(IdIndex, IdsMadeToCollideAreFoundWithoutQuadraticSearch) {
  // All these ids would go to the first slot; with plain linear probing this takes minutes.
  std::vector<NodeId> ids;
  for (std::uint64_t i = 0; i < 300'000; ++i) {
    ids.push_back(unmix(i << 32));
  }
  ids.push_back(ids[299'999]);
  ids.push_back(ids[0]);
  IdIndex index;
  const auto duplicates = index.build(ids);
  ASSERT_EQ(duplicates.size(), 2U);
  EXPECT_EQ(duplicates[0].first, 299'999U);
  EXPECT_EQ(duplicates[1].first, 0U);
  for (NodeIndex row = 0; row < 300'000; ++row) {
    ASSERT_EQ(index.find(ids[row]), row);
  }
  for (std::uint64_t i = 300'000; i < 600'000; ++i) {
    ASSERT_EQ(index.find(unmix(i << 32)), std::nullopt);
  }
}

}  // namespace
}  // namespace chakra
