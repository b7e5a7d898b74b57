// SPDX-License-Identifier: MIT
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "trace/string_pool.hpp"

namespace chakra {
namespace {

TEST(StringPool, EqualTextHasOneIdInOrderOfFirstAppearance) {
  StringPool pool;
  EXPECT_EQ(pool.intern("a"), 0U);
  EXPECT_EQ(pool.intern(""), 1U);
  EXPECT_EQ(pool.intern(std::string_view("a\0b", 3)), 2U);
  EXPECT_EQ(pool.intern("a"), 0U);
  EXPECT_EQ(pool.intern(""), 1U);
  EXPECT_EQ(pool.size(), 3U);
  EXPECT_EQ(pool.view(2), std::string_view("a\0b", 3));
}

TEST(StringPool, FindSeesOnlyWhatWasInterned) {
  StringPool pool;
  EXPECT_EQ(pool.find("a"), std::nullopt);
  pool.intern("a");
  EXPECT_EQ(pool.find("a"), 0U);
  EXPECT_EQ(pool.find("b"), std::nullopt);
}

TEST(StringPool, ViewsStayWhileItGrows) {
  StringPool pool;
  std::vector<std::string_view> views;
  for (int i = 0; i < 10'000; ++i) {
    views.push_back(pool.view(pool.intern("name " + std::to_string(i))));
  }
  const std::string longer_than_a_block(1 << 20, 'x');
  EXPECT_EQ(pool.view(pool.intern(longer_than_a_block)), longer_than_a_block);
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_EQ(views[static_cast<std::size_t>(i)], "name " + std::to_string(i));
    ASSERT_EQ(pool.find("name " + std::to_string(i)), static_cast<std::uint32_t>(i));
  }
}

}  // namespace
}  // namespace chakra
