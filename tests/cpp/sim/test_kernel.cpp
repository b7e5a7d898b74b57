// SPDX-License-Identifier: MIT
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "sim/kernel.hpp"

namespace chakra::sim {
namespace {

Action named(std::uint32_t name) { return {0, name, ActionKind::node_end}; }

/// Runs everything; events of other kinds are listed as negative numbers.
std::vector<std::int64_t> drain(
    Kernel& kernel, const std::function<void(std::uint32_t)>& run = [](std::uint32_t) {}) {
  std::vector<std::int64_t> order;
  while (!kernel.idle()) {
    const Event event = kernel.next();
    if (event.kind == EventKind::batch) {
      kernel.run_batch(event.subject, [&](const Action& action) {
        order.push_back(action.a);
        run(action.a);
      });
    } else {
      order.push_back(-static_cast<std::int64_t>(event.subject));
    }
  }
  return order;
}

TEST(Kernel, ActionsOfARankAndTickRunWhereTheFirstWasRegistered) {
  Kernel kernel(2);
  kernel.act_after(0, 10, named(1));
  kernel.schedule(EventKind::landing, 10, 9);
  kernel.act_after(1, 10, named(2));
  kernel.act_after(0, 10, named(3));
  EXPECT_EQ(drain(kernel), (std::vector<std::int64_t>{1, 3, -9, 2}));
}

TEST(Kernel, ActionsRegisteredForNowJoinTheRunningBatch) {
  Kernel kernel(2);
  kernel.act_after(0, 10, named(1));
  kernel.act_after(0, 10, named(2));
  kernel.act_after(1, 10, named(3));
  EXPECT_EQ(drain(kernel,
                  [&](std::uint32_t name) {
                    if (name == 1) kernel.act_after(0, 0, named(4));
                    if (name == 3) kernel.act_after(0, 0, named(5));
                  }),
            (std::vector<std::int64_t>{1, 2, 4, 3, 5}));
}

TEST(Kernel, ActionsOfATickRunInTheOrderOfTheTicksInWhichTheyCountAsRegistered) {
  Kernel kernel(1);
  kernel.act_at(0, 20, 15, named(4));
  kernel.act_at(0, 20, 12, named(3));
  kernel.act_at(0, 20, 15, named(5));
  kernel.act_after(0, 20, named(1));
  kernel.act_after(0, 10, named(0));
  std::uint64_t registered = 99;
  EXPECT_EQ(drain(kernel,
                  [&](std::uint32_t name) {
                    if (name == 0) kernel.act_after(0, 10, named(2));
                    if (name == 1) registered = kernel.registered();
                    if (name == 3) kernel.act_after(0, 0, named(6));
                    if (name == 5) registered += kernel.registered();
                  }),
            (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(registered, 0U + 15U);
}

TEST(Kernel, TimeCannotPassTheEnd) {
  Kernel kernel(1);
  kernel.act_after(0, ~std::uint64_t{0}, named(1));
  EXPECT_THROW(drain(kernel, [&](std::uint32_t) { kernel.act_after(0, 1, named(2)); }), SimulationError);
}

/// Oracle: batches in a map by (tick, rank), in a plain list of registrations.
TEST(Kernel, SameOrderAsAPlainModel) {
  std::mt19937 engine(11);
  const auto random = [&engine] { return static_cast<std::uint32_t>(engine()); };
  for (int round = 0; round < 30; ++round) {
    constexpr std::uint32_t ranks = 4;
    Kernel kernel(ranks);
    std::map<std::uint64_t, std::vector<std::pair<std::uint32_t, std::vector<std::uint32_t>>>> model;
    std::uint32_t next = 0;
    const auto schedule = [&] {
      const std::uint32_t rank = random() % ranks;
      const std::uint64_t delay = random() % 50;
      kernel.act_after(rank, delay, named(next));
      auto& batches = model[kernel.now() + delay];
      auto place = batches.begin();
      while (place != batches.end() && (place->first != rank || place->second.empty())) ++place;
      if (place == batches.end()) place = batches.insert(place, {rank, {}});
      place->second.push_back(next++);
    };
    for (int i = 0; i < 20; ++i) schedule();
    while (!kernel.idle()) {
      const Event event = kernel.next();
      ASSERT_EQ(event.tick, model.begin()->first);
      auto& batches = model.begin()->second;
      ASSERT_EQ(batches.front().first, event.subject);
      std::vector<std::uint32_t> expected = batches.front().second;
      std::vector<std::uint32_t> ran;
      kernel.run_batch(event.subject, [&](const Action& action) {
        ran.push_back(action.a);
        if (next < 2000) schedule();
        expected = model.begin()->second.front().second;
      });
      ASSERT_EQ(ran, expected);
      batches.erase(batches.begin());
      if (batches.empty()) model.erase(model.begin());
    }
    EXPECT_TRUE(model.empty());
  }
}

}  // namespace
}  // namespace chakra::sim
