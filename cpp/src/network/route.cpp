// SPDX-License-Identifier: MIT
#include "network/route.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "chakra_core/errors.hpp"
#include "network/link_units.hpp"

namespace chakra {

namespace {

std::uint64_t links_per_npu(const Dimension& dimension) {
  return dimension.topology == Topology::fully_connected ? dimension.npus : 2;
}

std::string in_words(const LinkDamage& damage) {
  std::string text = "no link";
  if (damage.src) text += " from node " + std::to_string(*damage.src);
  if (damage.dst) text += " to node " + std::to_string(*damage.dst);
  if (damage.dimension) text += " in dimension " + std::to_string(*damage.dimension);
  return text;
}

}  // namespace

std::uint64_t Router::Axis::links_of(std::uint32_t npu) const noexcept {
  return first_link + npu * links_per_npu(dimension);
}

std::uint32_t Router::Axis::line(std::uint32_t npu) const noexcept {
  return npu % stride + npu / (stride * dimension.npus) * stride;
}

Router::Router(std::span<const Dimension> dimensions) {
  for (const Dimension& dimension : dimensions) {
    axes_.push_back({dimension, npus_, 0, 0, 0});
    npus_ *= dimension.npus;
  }
  std::uint64_t node = npus_;
  for (Axis& axis : axes_) {
    axis.first_link = links_;
    axis.first_switch = static_cast<std::uint32_t>(node);
    axis.lines = npus_ / axis.dimension.npus;
    links_ += npus_ * links_per_npu(axis.dimension);
    if (axis.dimension.topology == Topology::switch_) node += axis.lines;
    if (axis.is_oversubscribed()) {
      node += axis.lines;
      links_ += axis.lines;
    }
    if (node > std::numeric_limits<std::uint32_t>::max()) {
      throw ConfigError("npus_count: too many NPUs and switches for single links");
    }
  }
}

Router::Router(const LinkGraph& graph) : npus_(graph.npus), graph_(std::make_unique<const GraphRoutes>(graph)) {
  links_ = graph_->links().size();
}

// ---- damage

void Router::damage(const LinkDamage& damage) {
  const std::uint32_t nodes = graph_ ? graph_->nodes() : npus_;
  for (const auto& node : {damage.src, damage.dst}) {
    if (!node || *node < nodes) continue;
    throw ConfigError("damage: node " + std::to_string(*node) + " is unknown; the network has " +
                      std::to_string(nodes));
  }
  const std::vector<std::uint64_t> links = graph_ ? fitting_of_graph(damage) : fitting(damage);
  if (links.empty()) {
    throw ConfigError("damage: " + in_words(damage) +
                      " is there; links go between neighbours, or between an NPU (src " +
                      "or dst alone) and its switch");
  }
  for (const std::uint64_t link : links) {
    Factors& factors = damaged_[link];
    factors.latency *= damage.latency;
    factors.bandwidth *= damage.bandwidth;
    worst_latency_ = std::max(worst_latency_, factors.latency);
    worst_bandwidth_ = std::min(worst_bandwidth_, factors.bandwidth);
  }
}

std::vector<std::uint64_t> Router::fitting_of_graph(const LinkDamage& damage) const {
  std::vector<std::uint64_t> found;
  for (std::size_t i = 0; i < graph_->links().size(); ++i) {
    const GraphRoutes::Link& link = graph_->links()[i];
    if (link.from == damage.src.value_or(link.from) && link.to == damage.dst.value_or(link.to)) found.push_back(i);
  }
  return found;
}

std::vector<std::uint64_t> Router::fitting(const LinkDamage& damage) const {
  std::vector<std::uint64_t> found;
  for (std::size_t d = 0; d < axes_.size(); ++d) {
    if (d != damage.dimension.value_or(d)) continue;
    const bool checks_end = damage.src && damage.dst;
    for (const LinkEnd& end : damage.src ? links_from(axes_[d], *damage.src) : links_to(axes_[d], *damage.dst)) {
      if (!checks_end || end.npu == damage.dst) found.push_back(end.link);
    }
  }
  return found;
}

std::vector<Router::LinkEnd> Router::links_from(const Axis& axis, std::uint32_t npu) const {
  const std::uint32_t n = axis.dimension.npus;
  const std::uint32_t own = axis.coordinate(npu);
  const std::uint64_t first = axis.links_of(npu);
  std::vector<LinkEnd> links;
  if (n == 1) return links;
  switch (axis.dimension.topology) {
    case Topology::switch_:
      links.push_back({first, std::nullopt});
      break;
    case Topology::fully_connected:
      for (std::uint32_t c = 0; c < n; ++c) {
        if (c != own) links.push_back({first + c, axis.at(npu, c)});
      }
      break;
    default: {
      const bool closed = axis.dimension.topology == Topology::ring;
      if (closed || own + 1 < n) links.push_back({first, axis.at(npu, (own + 1) % n)});
      if (closed || own > 0) links.push_back({first + 1, axis.at(npu, (own + n - 1) % n)});
      break;
    }
  }
  return links;
}

std::vector<Router::LinkEnd> Router::links_to(const Axis& axis, std::uint32_t npu) const {
  std::vector<LinkEnd> links;
  if (axis.dimension.topology == Topology::switch_) {
    if (axis.dimension.npus > 1) links.push_back({axis.links_of(npu) + 1, std::nullopt});
    return links;
  }
  for (const LinkEnd& out : links_from(axis, npu)) {
    for (const LinkEnd& back : links_from(axis, *out.npu)) {
      const bool is_known =
          std::any_of(links.begin(), links.end(), [&](const LinkEnd& l) { return l.link == back.link; });
      if (back.npu == npu && !is_known) links.push_back({back.link, out.npu});
    }
  }
  return links;
}

// ---- ways

Hop Router::next(std::uint32_t node, std::uint32_t dst) const {
  Hop hop{};
  if (graph_) {
    const std::uint32_t index = graph_->next(node, dst);
    const GraphRoutes::Link& link = graph_->links()[index];
    hop = {index, link.to, 0, link.latency_ns, link.bytes_per_ns, link.bytes_per_ns};
  } else {
    hop = node < npus_ ? from_npu(node, dst) : from_switch(node, dst);
  }
  if (damaged_.empty()) return hop;
  if (const auto place = damaged_.find(hop.link); place != damaged_.end()) {
    hop.latency_ns *= place->second.latency;
    hop.bytes_per_ns *= place->second.bandwidth;
    hop.alone_bytes_per_ns *= place->second.bandwidth;
  }
  return hop;
}

Hop Router::hop(std::size_t dimension, std::uint64_t link, std::uint32_t node) const noexcept {
  const Dimension& kind = axes_[dimension].dimension;
  const double speed = bytes_per_ns(kind.bandwidth_gbps);
  return {link, node, static_cast<std::uint32_t>(dimension), kind.latency_ns, speed, speed};
}

Hop Router::from_npu(std::uint32_t npu, std::uint32_t dst) const noexcept {
  std::size_t d = 0;
  while (axes_[d].coordinate(npu) == axes_[d].coordinate(dst)) ++d;
  const Axis& axis = axes_[d];
  const std::uint32_t n = axis.dimension.npus;
  const std::uint32_t from = axis.coordinate(npu);
  const std::uint32_t to = axis.coordinate(dst);
  const std::uint64_t first = axis.links_of(npu);
  switch (axis.dimension.topology) {
    case Topology::fully_connected:
      return hop(d, first + to, axis.at(npu, to));
    case Topology::switch_:
      return hop(d, first, axis.first_switch + axis.line(npu));
    default:
      break;
  }
  const bool closed = axis.dimension.topology == Topology::ring;
  const bool clockwise = closed ? (to > from ? to - from : n - (from - to)) <= n / 2 : to > from;
  const std::uint32_t neighbour = clockwise ? (from + 1 == n ? 0 : from + 1) : (from == 0 ? n - 1 : from - 1);
  return hop(d, first + (clockwise ? 0 : 1), axis.at(npu, neighbour));
}

Hop Router::from_switch(std::uint32_t node, std::uint32_t dst) const noexcept {
  std::size_t d = axes_.size() - 1;
  while (axes_[d].first_switch > node || axes_[d].dimension.topology != Topology::switch_) --d;
  const Axis& axis = axes_[d];
  // A line is its NPU with coordinate 0; from there the coordinate of dst leads to the port.
  std::uint32_t line = node - axis.first_switch;
  if (axis.is_oversubscribed()) {
    if (line < axis.lines) {
      const std::uint64_t inner = axis.first_link + 2 * std::uint64_t{npus_} + line;
      Hop through = hop(d, inner, node + axis.lines);
      through.latency_ns = 0;
      through.alone_bytes_per_ns = through.bytes_per_ns / axis.dimension.oversubscription;
      through.bytes_per_ns = through.alone_bytes_per_ns * axis.dimension.npus;
      return through;
    }
    line -= axis.lines;
  }
  const std::uint32_t origin = line % axis.stride + line / axis.stride * axis.stride * axis.dimension.npus;
  const std::uint32_t npu = origin + axis.coordinate(dst) * axis.stride;
  return hop(d, axis.links_of(npu) + 1, npu);
}

}  // namespace chakra
