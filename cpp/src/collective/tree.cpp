// SPDX-License-Identifier: MIT
#include "collective/tree.hpp"

#include <algorithm>

namespace chakra {

namespace {

enum class Shape : std::uint8_t { chain, star, binomial, heap };

Shape shape_of(const Phase& phase) {
  switch (phase.algorithm.kind) {
    case AlgorithmKind::ring:
      return Shape::chain;
    case AlgorithmKind::direct:
      return Shape::star;
    case AlgorithmKind::halving_doubling:
      return Shape::binomial;
    case AlgorithmKind::double_binary_tree:
      break;
  }
  const bool contiguous = phase.kind == PhaseKind::gather || phase.kind == PhaseKind::scatter;
  return contiguous ? Shape::binomial : Shape::heap;
}

/// Position in the in-order tree over [low, high): walks down from its root to `position`.
TreePlace in_order_place(std::uint32_t low, std::uint32_t high, std::uint32_t above, std::uint32_t position) {
  const auto middle = [](std::uint32_t from, std::uint32_t to) { return from + (to - from) / 2; };
  TreePlace place{above, {}};
  std::uint32_t root = middle(low, high);
  while (root != position) {
    place.parent = root;
    (position < root ? high : low) = position < root ? root : root + 1;
    root = middle(low, high);
  }
  if (low < root) place.children.push_back(middle(low, root));
  if (root + 1 < high) place.children.push_back(middle(root + 1, high));
  return place;
}

TreePlace counter_tree_place(const Phase& phase) {
  const std::uint32_t n = phase.members.size;
  const std::uint32_t root = phase.counter_tree ? 0 : n - 1;
  const std::uint32_t low = phase.counter_tree ? 1 : 0;
  const std::uint32_t high = low + n - 1;
  if (phase.position == root) return {std::nullopt, {low + (high - low) / 2}};
  return in_order_place(low, high, root, phase.position);
}

std::uint32_t lowest_bit(std::uint32_t value) { return value & (~value + 1); }

std::uint32_t relative(const Phase& phase, std::uint32_t position) {
  return position >= phase.root ? position - phase.root : position + (phase.members.size - phase.root);
}

std::uint32_t absolute(const Phase& phase, std::uint64_t rank) {
  return static_cast<std::uint32_t>((rank + phase.root) % phase.members.size);
}

/// Members in the subtree of a relative position; their relative positions follow each other.
std::uint32_t subtree_size(const Phase& phase, std::uint32_t from_root) {
  const std::uint32_t n = phase.members.size;
  if (from_root == 0) return n;
  switch (shape_of(phase)) {
    case Shape::chain:
      return n - from_root;
    case Shape::star:
      return 1;
    default:
      return std::min(lowest_bit(from_root), n - from_root);
  }
}

std::vector<std::uint64_t> relative_children(Shape shape, std::uint64_t v, std::uint64_t n) {
  std::vector<std::uint64_t> children;
  switch (shape) {
    case Shape::chain:
      children = {v + 1};
      break;
    case Shape::star:
      for (std::uint64_t c = 1; v == 0 && c < n; ++c) children.push_back(c);
      break;
    case Shape::heap:
      children = {2 * v + 1, 2 * v + 2};
      break;
    case Shape::binomial:
      // The largest subtree first: it takes longest.
      for (std::uint64_t bit = v == 0 ? std::uint64_t{1} << 32 : lowest_bit(static_cast<std::uint32_t>(v)); bit > 1;) {
        bit /= 2;
        children.push_back(v + bit);
      }
      break;
  }
  std::erase_if(children, [n](std::uint64_t child) { return child >= n; });
  return children;
}

std::uint32_t relative_parent(Shape shape, std::uint32_t v) {
  switch (shape) {
    case Shape::chain:
      return v - 1;
    case Shape::star:
      return 0;
    case Shape::heap:
      return (v - 1) / 2;
    case Shape::binomial:
      break;
  }
  return v - lowest_bit(v);
}

/// Bytes of the parts of positions 0 .. count-1.
std::uint64_t parts_before(const Phase& phase, std::uint64_t count) {
  const std::uint64_t n = phase.members.size;
  return count * (phase.total / n) + std::min(count, phase.total % n);
}

}  // namespace

TreePlace tree_place(const Phase& phase) {
  if (!is_rooted(phase.kind)) return counter_tree_place(phase);
  const Shape shape = shape_of(phase);
  const std::uint32_t v = relative(phase, phase.position);
  TreePlace place;
  if (v != 0) place.parent = absolute(phase, relative_parent(shape, v));
  for (const std::uint64_t child : relative_children(shape, v, phase.members.size)) {
    place.children.push_back(absolute(phase, child));
  }
  return place;
}

std::uint64_t tree_edge_bytes(const Phase& phase, std::uint32_t child) {
  if (phase.kind != PhaseKind::gather && phase.kind != PhaseKind::scatter) return phase.bytes;
  const std::uint32_t size = subtree_size(phase, relative(phase, child));
  const std::uint64_t n = phase.members.size;
  const std::uint64_t end = std::uint64_t{child} + size;
  if (end <= n) return parts_before(phase, end) - parts_before(phase, child);
  return parts_before(phase, n) - parts_before(phase, child) + parts_before(phase, end - n);
}

}  // namespace chakra
