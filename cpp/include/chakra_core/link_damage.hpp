// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

namespace chakra {

/// Links that are slower than the others, or faster: all that fit everything that is given. What fits several is
/// changed by each of them. Ways stay what they are.
struct LinkDamage {
  std::optional<std::uint32_t> dimension = {};
  std::optional<std::uint32_t> src = {};  ///< node from which the link leads: an NPU, or a switch of a LinkGraph
  std::optional<std::uint32_t> dst = {};  ///< node to which it leads
  double bandwidth = 1;                   ///< factor; positive
  double latency = 1;                     ///< factor; 0 or more

  bool operator==(const LinkDamage&) const = default;
};

}  // namespace chakra
