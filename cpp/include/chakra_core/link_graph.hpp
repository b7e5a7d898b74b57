// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

namespace chakra {

/// A link between two nodes of a graph: NPUs are 0 .. npus - 1, switches are numbered on from there.
struct GraphLink {
  std::uint32_t src = 0;
  std::uint32_t dst = 0;
  double bandwidth_gbps = 0;  ///< 2^30 bytes a second for each 1, in each direction
  double latency_ns = 0;
  bool one_way = false;  ///< only from src to dst

  bool operator==(const GraphLink&) const = default;
};

/// NPUs and switches with any links between them. A message takes the way of least latency; of several such ways
/// one of the fewest links, and of these the one whose nodes have, link after link, the smallest numbers.
struct LinkGraph {
  std::uint32_t npus = 0;
  std::uint32_t switches = 0;
  std::vector<GraphLink> links = {};

  bool operator==(const LinkGraph&) const = default;
};

}  // namespace chakra
