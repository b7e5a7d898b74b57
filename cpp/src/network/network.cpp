// SPDX-License-Identifier: MIT
#include "chakra_core/network.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "chakra_core/errors.hpp"
#include "network/link_units.hpp"
#include "network/route.hpp"
#include "network/whole_ns.hpp"

namespace chakra {

namespace {

constexpr std::size_t most_dimensions = 64;

constexpr std::array topologies{Topology::ring, Topology::fully_connected, Topology::switch_, Topology::mesh,
                                Topology::graph};

void check(const Dimension& dimension, std::size_t index) {
  const std::string where = " of dimension " + std::to_string(index);
  if (dimension.topology == Topology::graph) {
    throw ConfigError("topology" + where + " is Graph, which is a network by itself and is made of links");
  }
  if (dimension.npus == 0) {
    throw ConfigError("npus_count" + where + " is 0; a dimension needs at least 1 NPU");
  }
  check_link(dimension.bandwidth_gbps, dimension.latency_ns, where);
  const double ratio = dimension.oversubscription;
  const bool may_be = dimension.topology == Topology::switch_ ? ratio >= 1 && std::isfinite(ratio) : ratio == 1;
  if (!may_be) {
    throw ConfigError("oversubscription" + where + " is " + std::to_string(ratio) +
                      "; that of a Switch must be finite and at least 1, that of anything else 1");
  }
}

void check(const LinkDamage& damage, std::size_t dimensions) {
  if (!(damage.bandwidth > 0) || !std::isfinite(damage.bandwidth)) {
    throw ConfigError("damage: the factor on the bandwidth is " + std::to_string(damage.bandwidth) +
                      "; it must be positive and finite");
  }
  if (!(damage.latency >= 0) || !std::isfinite(damage.latency)) {
    throw ConfigError("damage: the factor on the latency is " + std::to_string(damage.latency) +
                      "; it must be finite and not negative");
  }
  if (damage.dimension && *damage.dimension >= dimensions) {
    throw ConfigError("damage: dimension " + std::to_string(*damage.dimension) + " is not there; the network has " +
                      std::to_string(dimensions));
  }
}

bool is_of_dimensions(const LinkDamage& damage) { return !damage.src && !damage.dst; }

void scale(std::vector<Dimension>& dimensions, const LinkDamage& damage) {
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    if (d != damage.dimension.value_or(d)) continue;
    dimensions[d].bandwidth_gbps *= damage.bandwidth;
    dimensions[d].latency_ns *= damage.latency;
  }
}

}  // namespace

std::string_view to_string(Topology topology) noexcept {
  switch (topology) {
    case Topology::ring:
      return "Ring";
    case Topology::fully_connected:
      return "FullyConnected";
    case Topology::switch_:
      return "Switch";
    case Topology::mesh:
      return "Mesh";
    case Topology::graph:
      return "Graph";
  }
  return "Ring";
}

std::optional<Topology> parse_topology(std::string_view name) {
  for (const Topology topology : topologies) {
    if (name == to_string(topology)) return topology;
  }
  return std::nullopt;
}

void check_link(double bandwidth_gbps, double latency_ns, const std::string& where) {
  if (!(bandwidth_gbps > 0) || !std::isfinite(bytes_per_ns(bandwidth_gbps))) {
    throw ConfigError("bandwidth" + where + " is " + std::to_string(bandwidth_gbps) +
                      "; it must be positive and finite");
  }
  if (!(latency_ns >= 0) || !std::isfinite(latency_ns)) {
    throw ConfigError("latency" + where + " is " + std::to_string(latency_ns) + "; it must be finite and not negative");
  }
}

Network::Network(std::vector<Dimension> dimensions, const std::vector<LinkDamage>& damage)
    : dimensions_(std::move(dimensions)), is_damaged_(!damage.empty()) {
  if (dimensions_.empty()) throw ConfigError("the network has no dimension");
  if (dimensions_.size() > most_dimensions) {
    throw ConfigError("the network has " + std::to_string(dimensions_.size()) + " dimensions; at most " +
                      std::to_string(most_dimensions) + " are possible");
  }
  for (const LinkDamage& one : damage) {
    check(one, dimensions_.size());
    if (is_of_dimensions(one)) scale(dimensions_, one);
  }
  std::uint64_t npus = 1;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    check(dimensions_[d], d);
    strides_.push_back(static_cast<std::uint32_t>(npus));
    bytes_per_ns_.push_back(bytes_per_ns(dimensions_[d].bandwidth_gbps) / dimensions_[d].oversubscription);
    npus *= dimensions_[d].npus;
    if (npus >= std::numeric_limits<std::uint32_t>::max()) {
      throw ConfigError("npus_count: the dimensions multiply to more than 4294967294 NPUs");
    }
  }
  npus_ = static_cast<std::uint32_t>(npus);
  if (std::all_of(damage.begin(), damage.end(), is_of_dimensions)) return;
  auto router = std::make_shared<Router>(dimensions_);
  for (const LinkDamage& one : damage) {
    if (!is_of_dimensions(one)) router->damage(one);
  }
  single_links_ = std::move(router);
}

Network::Network(const LinkGraph& graph, const std::vector<LinkDamage>& damage)
    : dimensions_{{Topology::graph, graph.npus, 0, 0}}, strides_{1}, npus_(graph.npus), is_damaged_(!damage.empty()) {
  auto router = std::make_shared<Router>(graph);
  for (const LinkDamage& one : damage) {
    check(one, 1);
    router->damage(one);
  }
  single_links_ = std::move(router);
}

Network Network::of_links(const LinkGraph& graph, const std::vector<LinkDamage>& damage) {
  return Network(graph, damage);
}

std::shared_ptr<const Router> Network::router() const {
  return single_links_ ? single_links_ : std::make_shared<const Router>(dimensions_);
}

std::vector<std::uint32_t> Network::coordinates(std::uint32_t npu) const {
  std::vector<std::uint32_t> result;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) result.push_back(coordinate(npu, d));
  return result;
}

std::uint32_t Network::hops(std::size_t dimension, std::uint32_t from, std::uint32_t to) const noexcept {
  if (from == to) return 0;
  const std::uint32_t n = dimensions_[dimension].npus;
  const std::uint32_t clockwise = to > from ? to - from : to + (n - from);
  switch (dimensions_[dimension].topology) {
    case Topology::switch_:
      return 2;
    case Topology::ring:
      return std::min(clockwise, n - clockwise);
    case Topology::mesh:
      return to > from ? to - from : from - to;
    case Topology::fully_connected:
    case Topology::graph:
      break;
  }
  return 1;
}

std::uint64_t Network::delay(std::uint32_t src, std::uint32_t dst, std::uint64_t bytes, DelayRule rule) const {
  const auto size = static_cast<double>(bytes);
  double latency = 0;
  double slowest = 0;
  if (single_links_ && src != dst) {
    bool differs = is_graph();
    slowest = std::numeric_limits<double>::infinity();
    for (std::uint32_t node = src; node != dst;) {
      const Hop hop = single_links_->next(node, dst);
      latency += hop.latency_ns;
      slowest = std::min(slowest, hop.alone_bytes_per_ns);
      differs = differs || single_links_->is_damaged(hop.link);
      node = hop.node;
    }
    if (differs) return whole_ns(latency + size / slowest);
    latency = slowest = 0;
  }
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    const std::uint32_t from = coordinate(src, d);
    const std::uint32_t to = coordinate(dst, d);
    if (from == to) continue;
    latency += hops(d, from, to) * dimensions_[d].latency_ns;
    slowest = slowest == 0 ? bytes_per_ns_[d] : std::min(slowest, bytes_per_ns_[d]);
    if (rule == DelayRule::first_dimension) break;
  }
  return slowest == 0 ? 0 : whole_ns(latency + size / slowest);
}

double Network::longest_delay(std::uint64_t bytes) const noexcept {
  const auto size = static_cast<double>(bytes);
  double latency = 0;
  double slowest = std::numeric_limits<double>::infinity();
  if (is_graph()) {
    const GraphRoutes& graph = *single_links_->graph();
    latency = graph.longest_latency_ns() * graph.nodes();
    slowest = graph.slowest_bytes_per_ns();
  }
  for (std::size_t d = 0; d < bytes_per_ns_.size(); ++d) {
    latency += std::max<double>(2, dimensions_[d].npus) * dimensions_[d].latency_ns;
    slowest = std::min(slowest, bytes_per_ns_[d]);
  }
  if (single_links_) {
    latency *= single_links_->worst_latency_factor();
    slowest *= single_links_->worst_bandwidth_factor();
  }
  return latency + size / slowest;
}

}  // namespace chakra
