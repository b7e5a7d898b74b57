// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "chakra_core/network.hpp"
#include "collective/phase.hpp"

namespace chakra::sim {

/// What messages put on the network in one dimension.
struct DimensionLoad {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t link_bytes = 0;  ///< bytes, once for each link that they pass
  std::uint64_t busy_ps = 0;     ///< what these links need for them; only where links of a dimension differ
};

/// Counts what messages put on the network; of a phase without sending them. The messages by which a receiver
/// announces itself (rendezvous) count, too.
class PhaseLoads {
 public:
  PhaseLoads(const Network& network, bool parity, bool rendezvous);

  /// Of all messages of all members, by dimension. `phase` is that of any member. Phases that are alike are worked out
  /// once: in O(members) where all blocks of a ring are alike, at most in O(messages).
  std::span<const DimensionLoad> of(const Phase& phase);

  /// Adds `count` messages of `bytes` bytes together.
  void add(std::uint32_t src, std::uint32_t dst, std::uint64_t count, std::uint64_t bytes,
           std::span<DimensionLoad> loads) const;

  /// Links of one dimension differ, and `busy_ps` is counted.
  bool counts_links() const noexcept { return router_ != nullptr; }

 private:
  struct Key {
    const std::uint32_t* list;
    const CustomCollective* custom;
    std::uint64_t bytes;
    std::uint64_t total;
    std::uint32_t size;
    std::uint32_t base;
    std::uint32_t stride;
    std::uint32_t root;
    std::uint32_t window;
    PhaseKind kind;
    AlgorithmKind algorithm;
    bool anticlockwise;
    bool counter_tree;

    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept;
  };
  using Loads = std::vector<DimensionLoad>;

  Key key_of(const Phase& phase) const noexcept;
  bool is_line(const Phase& phase) const noexcept;
  Loads count(const Phase& phase) const;
  void add_member(const Phase& phase, Loads& loads) const;
  void add_ring(const Phase& phase, Loads& loads) const;
  void add_exchange(const Phase& phase, Loads& loads) const;
  void add_tree(const Phase& phase, Loads& loads) const;
  void add_custom(const Phase& phase, Loads& loads) const;
  void walk(std::uint32_t src, std::uint32_t dst, std::uint64_t bytes, std::span<DimensionLoad> loads) const;

  const Network& network_;
  bool parity_;
  bool rendezvous_;
  std::shared_ptr<const Router> router_;  ///< if links of a dimension differ
  std::unordered_map<Key, Loads, KeyHash> known_;
  // A run of phases is nearly always of one form.
  Key last_key_ = {};
  const Loads* last_ = nullptr;
};

}  // namespace chakra::sim
