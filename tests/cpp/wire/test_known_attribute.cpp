// SPDX-License-Identifier: MIT
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "wire/known_attribute.hpp"

namespace chakra::wire {
namespace {

KnownAttribute by_search(std::string_view name) {
  for (std::size_t i = 0; i < detail::known_names.size(); ++i) {
    if (detail::known_names[i] == name) {
      return static_cast<KnownAttribute>(i);
    }
  }
  return KnownAttribute::other;
}

TEST(KnownAttribute, EveryNameIsFound) {
  for (std::size_t i = 0; i < detail::known_names.size(); ++i) {
    EXPECT_EQ(known(detail::known_names[i]), static_cast<KnownAttribute>(i));
  }
  for (std::size_t i = 0; i < integer_attribute_count; ++i) {
    EXPECT_EQ(static_cast<std::size_t>(known(to_string(static_cast<IntegerAttribute>(i)))), i)
        << "the numbers of both enums agree";
  }
}

TEST(KnownAttribute, NothingElseIs) {
  std::mt19937 random(3);
  for (const std::string_view name : detail::known_names) {
    for (std::size_t size = 0; size <= name.size(); ++size) {
      const std::string part(name.substr(0, size));
      EXPECT_EQ(known(part), by_search(part));
      EXPECT_EQ(known(part + "_"), by_search(part + "_"));
    }
    for (std::size_t at = 0; at < name.size(); ++at) {
      for (int round = 0; round < 300; ++round) {
        std::string changed(name);
        changed[at] = static_cast<char>(random());
        EXPECT_EQ(known(changed), by_search(changed)) << changed;
      }
    }
  }
}

}  // namespace
}  // namespace chakra::wire
