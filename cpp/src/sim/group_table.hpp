// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "chakra_core/simulator.hpp"
#include "collective/phase.hpp"
#include "network/sub_grid.hpp"

namespace chakra::sim {

/// A process group as the simulation sees it. Group 0 is the world.
struct Group {
  std::string name;
  std::vector<std::uint32_t> ranks;                             ///< in ring order
  std::vector<std::pair<std::uint32_t, std::uint32_t>> places;  ///< (rank, position), by rank; empty: the world
  std::uint64_t number = 0;                                     ///< parity: the id that its tags are made of
  bool whole = false;                                           ///< has as many ranks as the network
  std::optional<SubGrid> grid;                                  ///< not in parity, and if it is in the grid's order

  std::optional<std::uint32_t> position(std::uint32_t rank) const;
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(ranks.size()); }
  Members members() const noexcept { return {size(), 0, 1, ranks.data()}; }
};

/// The groups of a simulation by name.
class GroupTable {
 public:
  static constexpr std::uint32_t world = 0;

  /// Throws ConfigError: ranks outside the network or listed twice, empty groups, two groups of one
  /// name; in parity mode names that are not numbers.
  explicit GroupTable(const SimulationConfig& config);

  std::size_t size() const noexcept { return groups_.size(); }
  const Group& operator[](std::uint32_t index) const noexcept { return groups_[index]; }
  /// Group of a pg_name; "" and "0" are the world unless a group has that name.
  std::optional<std::uint32_t> find(std::string_view name) const;
  /// Names for messages: "1, 2, tp".
  std::string names() const;

 private:
  std::vector<Group> groups_;
  std::unordered_map<std::string, std::uint32_t> by_name_;
};

}  // namespace chakra::sim
