// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "chakra_core/network.hpp"
#include "chakra_core/node_type.hpp"
#include "chakra_core/system_config.hpp"
#include "collective/custom_collective.hpp"
#include "collective/phase.hpp"
#include "network/sub_grid.hpp"

namespace chakra {

/// What has to be known of a collective to plan it for one rank.
struct CollectiveRequest {
  CollectiveType type = CollectiveType::all_reduce;
  std::uint64_t size = 0;
  std::uint32_t rank = 0;
  std::uint32_t root = 0;               ///< rank of the root of a rooted collective
  std::string_view involved_dims = {};  ///< '0' and '1' a dimension; dimensions beyond it are not involved
  bool all_dims = true;                 ///< every dimension is involved, whatever `involved_dims` says
  bool subgroup = false;
  const SubGrid* grid = nullptr;  ///< that the sub-group is; else it is one line, wherever its members are
  Members members = {};           ///< of a sub-group
  std::uint32_t position = 0;     ///< of the rank in a sub-group
  std::uint32_t root_position = 0;
};

/// Splits collectives into chunks, and chunks into phases over the dimensions of the network.
class Planner {
 public:
  /// Throws ConfigError where an implementation list does not fit the network, and as CustomCollective does.
  Planner(const Network& network, const SystemConfig& system, bool parity);

  /// The traces that collectives of this type run, if any.
  const CustomCollective* custom(CollectiveType type) const;

  /// Sizes of the chunks, in order of creation. Parity: all full; otherwise they add up to `size`.
  std::vector<std::uint64_t> chunk_sizes(const CollectiveRequest& request) const;

  /// Phases of one chunk on one rank, in order; appended to `phases`. None: nothing to be done.
  /// Throws ConfigError for an algorithm that cannot do what the collective asks of it.
  void plan(const CollectiveRequest& request, std::uint64_t bytes, std::vector<Phase>& phases) const;

  /// The implementation list that a collective uses.
  const std::vector<Algorithm>& algorithms(CollectiveType type) const;
  /// Index of that list, 0 .. 3: the trees of doubleBinaryTree are counted by list and dimension.
  static std::size_t list_index(CollectiveType type);

 private:
  Phase custom_phase(const CollectiveRequest& request, const CustomCollective& custom, std::uint64_t bytes) const;
  bool is_flat(const CollectiveRequest& request) const;
  Phase phase(const CollectiveRequest& request, PhaseKind kind, std::size_t dimension) const;
  Phase flat_phase(const CollectiveRequest& request, PhaseKind kind) const;
  void place_in_line(Phase& phase, const CollectiveRequest& request) const;
  std::vector<std::size_t> active_dimensions(const CollectiveRequest& request) const;
  void append(std::vector<Phase>& phases, Phase phase, std::uint64_t& bytes) const;
  void plan_ascending(const CollectiveRequest& request, PhaseKind kind, std::uint64_t bytes,
                      std::vector<Phase>& phases) const;
  void plan_all_gather(const CollectiveRequest& request, std::uint64_t bytes, std::vector<Phase>& phases) const;
  void plan_bandwidth_aware(const CollectiveRequest& request, std::uint64_t bytes, std::vector<Phase>& phases) const;
  void plan_rooted(const CollectiveRequest& request, PhaseKind kind, std::uint64_t bytes,
                   std::vector<Phase>& phases) const;
  void check(const Phase& phase) const;

  const Network& network_;
  const SystemConfig& system_;
  bool parity_;
  std::array<std::optional<CustomCollective>, 4> custom_;  ///< by list
};

}  // namespace chakra
