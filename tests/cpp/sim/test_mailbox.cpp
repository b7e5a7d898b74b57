// SPDX-License-Identifier: MIT
#include <deque>
#include <map>
#include <random>
#include <tuple>

#include <gtest/gtest.h>

#include "sim/mailbox.hpp"

namespace chakra::sim {
namespace {

/// Oracle: two lists a key. Few keys, so that lists and erased places of the table are exercised.
TEST(Mailbox, MatchesLikeAMapOfLists) {
  std::mt19937 random(3);
  for (const std::uint32_t keys : {3U, 500U, 5000U}) {
    Mailbox mailbox;
    std::map<std::tuple<std::uint64_t, std::uint64_t>, std::deque<std::uint32_t>> arrived;
    std::map<std::tuple<std::uint64_t, std::uint64_t>, std::deque<std::uint32_t>> posted;
    for (std::uint32_t step = 0; step < 50'000; ++step) {
      const MatchKey key{random() % keys, 64 * (random() % 2), 1, 2};
      const std::tuple name{key.tag, key.bytes};
      const Continuation continuation{Then::receive_done, step, 0};
      if (random() % 2 == 0) {
        const auto receiver = mailbox.arrive(key, continuation);
        ASSERT_EQ(receiver.has_value(), !posted[name].empty());
        if (receiver) {
          ASSERT_EQ(receiver->a, posted[name].front());
          posted[name].pop_front();
        } else {
          arrived[name].push_back(step);
        }
      } else {
        const bool was_there = mailbox.post(key, continuation);
        ASSERT_EQ(was_there, !arrived[name].empty());
        if (was_there) {
          arrived[name].pop_front();
        } else {
          posted[name].push_back(step);
        }
      }
    }
    std::size_t left = 0;
    for (const auto& [name, list] : arrived) left += list.size();
    for (const auto& [name, list] : posted) left += list.size();
    std::size_t unmatched = 0;
    for (const Mailbox::Waiting& waiting : mailbox.unmatched()) {
      unmatched += waiting.entries.size();
      const auto& list = (waiting.arrived ? arrived : posted)[{waiting.key.tag, waiting.key.bytes}];
      ASSERT_EQ(waiting.entries.size(), list.size());
      for (std::size_t i = 0; i < list.size(); ++i) EXPECT_EQ(waiting.entries[i].a, list[i]);
    }
    EXPECT_EQ(unmatched, left);
  }
}

TEST(Mailbox, EveryPartOfTheKeyCounts) {
  Mailbox mailbox;
  const MatchKey key{1, 2, 3, 4};
  mailbox.post(key, {Then::receive_done, 0, 0});
  for (const MatchKey& other :
       {MatchKey{9, 2, 3, 4}, MatchKey{1, 9, 3, 4}, MatchKey{1, 2, 9, 4}, MatchKey{1, 2, 3, 9}}) {
    EXPECT_FALSE(mailbox.arrive(other, {}));
  }
  EXPECT_TRUE(mailbox.arrive(key, {}));
}

}  // namespace
}  // namespace chakra::sim
