// SPDX-License-Identifier: MIT
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "sim/event_queue.hpp"

namespace chakra::sim {
namespace {

TEST(EventQueue, FirstInFirstOutWithinATick) {
  EventQueue queue;
  queue.push({5, 0, EventKind::landing});
  queue.push({3, 1, EventKind::landing});
  queue.push({5, 2, EventKind::landing});
  EXPECT_EQ(queue.pop().subject, 1U);
  queue.push({5, 3, EventKind::landing});
  queue.push({3, 4, EventKind::landing});
  for (const std::uint32_t expected : {4U, 0U, 2U, 3U}) EXPECT_EQ(queue.pop().subject, expected);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.now(), 5U);
}

TEST(EventQueue, FarTicks) {
  EventQueue queue;
  const std::uint64_t far = ~std::uint64_t{0};
  queue.push({far, 0, EventKind::batch});
  queue.push({far - 1, 1, EventKind::batch});
  queue.push({0, 2, EventKind::batch});
  for (const std::uint32_t expected : {2U, 1U, 0U}) EXPECT_EQ(queue.pop().subject, expected);
  queue.push({far, 3, EventKind::batch});
  EXPECT_EQ(queue.pop().subject, 3U);
}

/// Oracle: a multimap, which keeps equal keys in order of insertion.
TEST(EventQueue, SameOrderAsAMultimap) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 50; ++round) {
    EventQueue queue;
    std::multimap<std::uint64_t, std::uint32_t> oracle;
    std::uint32_t next = 0;
    std::uint64_t now = 0;
    for (int step = 0; step < 2000; ++step) {
      if (oracle.empty() || random() % 5 < 3) {
        const std::uint64_t tick = now + (random() % 4 == 0 ? 0 : random() % (std::uint64_t{1} << (random() % 40)));
        oracle.emplace(tick, next);
        queue.push({tick, next++, EventKind::landing});
      } else {
        const Event event = queue.pop();
        ASSERT_EQ(event.tick, oracle.begin()->first);
        ASSERT_EQ(event.subject, oracle.begin()->second);
        now = event.tick;
        oracle.erase(oracle.begin());
      }
      ASSERT_EQ(queue.size(), oracle.size());
    }
  }
}

}  // namespace
}  // namespace chakra::sim
