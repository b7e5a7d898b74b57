// SPDX-License-Identifier: MIT
#include "chakra_core/stragglers.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "chakra_core/errors.hpp"

namespace chakra {

namespace {

/// splitmix64: every bit of the result depends on every bit of the input.
std::uint64_t mixed(std::uint64_t value) noexcept {
  value += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

void check_length(const char* name, std::size_t found, std::uint32_t ranks) {
  if (found == 0 || found == ranks) return;
  throw ConfigError("stragglers: " + std::string(name) + " has " + std::to_string(found) + " entries; there are " +
                    std::to_string(ranks) + " ranks");
}

template <class Value>
bool all_equal(const std::vector<Value>& values) {
  return std::all_of(values.begin(), values.end(), [&](const Value& value) { return value == values.front(); });
}

}  // namespace

double Stragglers::jitter_factor(std::uint32_t rank, NodeId node) const noexcept {
  const std::uint64_t random = mixed(mixed(mixed(seed) ^ rank) ^ node);
  const double uniform = static_cast<double>(random >> 11) * 0x1p-53;
  return 1 + jitter * (2 * uniform - 1);
}

void Stragglers::validate(std::uint32_t ranks) const {
  check_length("compute_speed", compute_speed.size(), ranks);
  check_length("start_delay_ns", start_delay_ns.size(), ranks);
  for (std::size_t rank = 0; rank < compute_speed.size(); ++rank) {
    if (compute_speed[rank] > 0 && std::isfinite(compute_speed[rank])) continue;
    throw ConfigError("stragglers: the compute speed of rank " + std::to_string(rank) + " is " +
                      std::to_string(compute_speed[rank]) + "; it must be positive and finite");
  }
  if (!(jitter >= 0) || !(jitter <= 1)) {
    throw ConfigError("stragglers: jitter is " + std::to_string(jitter) + "; it must be 0 to 1");
  }
  for (const NodeDelay& delay : node_delays) {
    if (delay.rank < ranks) continue;
    throw ConfigError("stragglers: a node of rank " + std::to_string(delay.rank) + " is delayed; there are " +
                      std::to_string(ranks) + " ranks");
  }
}

bool Stragglers::are_alike() const noexcept {
  return jitter == 0 && node_delays.empty() && all_equal(compute_speed) && all_equal(start_delay_ns);
}

}  // namespace chakra
