// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "sim/tie_watch.hpp"

namespace chakra::sim {
namespace {

using Origin = TieWatch::Origin;

/// Two events of rank 0 in tick 100 that touch the same lane, or different ones.
struct Pair {
  Origin first = Origin::action;
  std::uint64_t first_registered = 50;
  Origin second = Origin::action;
  std::uint64_t second_registered = 60;
  bool same_lane = true;
};

void happen(TieWatch& ties, const Pair& pair) {
  ties.begin(0, 100, pair.first, pair.first_registered);
  ties.touch(0, TieWatch::lane(1));
  ties.end(0);
  ties.begin(0, 100, pair.second, pair.second_registered);
  ties.touch(0, TieWatch::lane(pair.same_lane ? 1 : 2));
  ties.end(0);
}

bool order_matters(const Pair& pair, bool active = true) {
  TieWatch ties(1, true);
  if (active) ties.activate();
  try {
    happen(ties, pair);
  } catch (const OrderMatters&) {
    return true;
  }
  return false;
}

TEST(TieWatch, ActionsRegisteredInDifferentTicksHaveAnOrder) {
  EXPECT_FALSE(order_matters({}));
  EXPECT_FALSE(order_matters({.first = Origin::collective, .second = Origin::collective}));
}

TEST(TieWatch, ActionsThatARankItselfRegisteredInOneTickHaveAnOrder) {
  EXPECT_FALSE(order_matters({.second_registered = 50}));
}

TEST(TieWatch, TheEndOfACollectiveHasNoneWithWhatWasRegisteredInTheSameTick) {
  EXPECT_TRUE(order_matters({.second = Origin::collective, .second_registered = 50}));
  EXPECT_TRUE(order_matters({.first = Origin::collective, .second_registered = 50}));
}

TEST(TieWatch, MessagesHaveNoneWithAnything) {
  EXPECT_TRUE(order_matters({.first = Origin::message}));
  EXPECT_TRUE(order_matters({.second = Origin::message}));
  EXPECT_TRUE(order_matters({.first = Origin::message, .second = Origin::message}));
}

TEST(TieWatch, ItDoesNotMatterWhereNothingIsTouchedTwice) {
  EXPECT_FALSE(order_matters({.second = Origin::message, .same_lane = false}));
}

TEST(TieWatch, ItIsKnownAsLongAsAllMessagesAreSimulated) {
  EXPECT_FALSE(order_matters({.first = Origin::message, .second = Origin::message}, false));
}

TEST(TieWatch, WhatEventsWithoutOrderRegisteredHasNoneEither) {
  TieWatch ties(1, true);
  ties.activate();
  happen(ties, {.second = Origin::message, .same_lane = false});
  ties.begin(0, 200, Origin::action, 100);
  ties.touch(0, TieWatch::lane(1));
  ties.end(0);
  ties.begin(0, 200, Origin::action, 100);
  ties.touch(0, TieWatch::lane(1));
  EXPECT_THROW(ties.end(0), OrderMatters);
}

TEST(TieWatch, OtherTicksAndRanksAreApart) {
  TieWatch ties(2, true);
  ties.activate();
  for (const std::uint32_t rank : {0U, 1U}) {
    for (const std::uint64_t tick : {10U, 20U}) {
      ties.begin(rank, tick, Origin::message, 0);
      ties.touch(rank, TieWatch::everything);
      EXPECT_NO_THROW(ties.end(rank));
    }
  }
}

TEST(TieWatch, NothingIsToldWhereItIsNotAsked) {
  TieWatch ties(1, false);
  ties.activate();
  EXPECT_NO_THROW(happen(ties, {.first = Origin::message, .second = Origin::message}));
  EXPECT_NO_THROW(ties.cannot_tell("anything"));
}

}  // namespace
}  // namespace chakra::sim
