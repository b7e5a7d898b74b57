// SPDX-License-Identifier: MIT
#include <cstdint>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "chakra_core/trace.hpp"

namespace chakra {
namespace {

TEST(AttributeColumn, EmptyHasNothingAnywhere) {
  const AttributeColumn<std::int64_t> column;
  EXPECT_FALSE(column.has(0));
  EXPECT_EQ(column.get(4'000'000'000), std::nullopt);
  EXPECT_EQ(column.value_or(5, -1), -1);
  EXPECT_EQ(column.count(), 0U);
}

TEST(AttributeColumn, AbsentIsNotZero) {
  AttributeColumn<std::int64_t> column;
  column.append(1, 0);
  EXPECT_EQ(column.get(0), std::nullopt);
  EXPECT_EQ(column.get(1), 0);
  EXPECT_EQ(column.get(2), std::nullopt);
}

TEST(AttributeColumn, AgreesWithAMapAcrossWords) {
  AttributeColumn<std::uint32_t> column;
  std::map<NodeIndex, std::uint32_t> expected;
  std::mt19937 random(7);
  for (NodeIndex row = 0; row < 5000; ++row) {
    const bool in_a_gap = row > 1000 && row < 1500;
    if (!in_a_gap && random() % 3 == 0) {
      const auto value = static_cast<std::uint32_t>(random());
      column.append(row, value);
      expected[row] = value;
    }
  }
  column.shrink_to_fit();
  ASSERT_EQ(column.count(), expected.size());
  for (NodeIndex row = 0; row < 5100; ++row) {
    const auto found = expected.find(row);
    ASSERT_EQ(column.get(row), found == expected.end() ? std::nullopt : std::optional(found->second)) << row;
  }
}

}  // namespace
}  // namespace chakra
