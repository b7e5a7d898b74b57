// SPDX-License-Identifier: MIT
#include "sim/tie_watch.hpp"

namespace chakra::sim {

void TieWatch::begin(Rank& rank, std::uint64_t now, Origin origin, std::uint64_t registered) {
  const bool own = origin == Origin::action && !rank.shaky;
  rank.touching = 0;
  if (rank.tick != now) {
    rank.tick = now;
    rank.touched = 0;
    rank.own = own;
    rank.unordered = false;
  } else {
    const bool later = origin != Origin::message && registered > rank.registered;
    const bool in_order = registered == rank.registered && own && rank.own;
    if (active_ && !later && !in_order) rank.unordered = true;
    rank.own = rank.own && own;
  }
  // Nothing is registered later than the tick itself: what comes after a message has no certain order.
  rank.registered = origin == Origin::message ? ~std::uint64_t{0} : registered;
}

void TieWatch::end(Rank& rank) const {
  if (rank.unordered) {
    if ((rank.touched & rank.touching) != 0) cannot_tell("nodes of a rank that end in one ns");
    rank.shaky = true;
  }
  rank.touched |= rank.touching;
}

}  // namespace chakra::sim
