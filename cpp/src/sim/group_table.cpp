// SPDX-License-Identifier: MIT
#include "sim/group_table.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "chakra_core/errors.hpp"

namespace chakra::sim {

namespace {

std::uint64_t parse_number(const std::string& name) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc{} || end != name.data() + name.size() || number == 0) {
    throw ConfigError("communicator group \"" + name + "\": ASTRA-sim's group names are numbers from 1 on; " +
                      "run without parity to use other names");
  }
  return number;
}

Group make_group(const ProcessGroup& listed, const SimulationConfig& config) {
  const std::uint32_t npus = config.network.npus();
  const std::string where = "communicator group \"" + listed.name + "\"";
  if (listed.ranks.empty()) throw ConfigError(where + " has no ranks");
  Group group;
  group.name = listed.name;
  group.ranks = listed.ranks;
  if (!config.parity && !config.groups_as_listed) std::sort(group.ranks.begin(), group.ranks.end());
  if (config.parity) group.number = parse_number(listed.name);
  group.whole = group.ranks.size() == npus;
  for (std::uint32_t position = 0; position < group.size(); ++position) {
    group.places.emplace_back(group.ranks[position], position);
  }
  std::sort(group.places.begin(), group.places.end());
  for (std::size_t i = 0; i < group.places.size(); ++i) {
    const std::uint32_t rank = group.places[i].first;
    if (rank >= npus) {
      throw ConfigError(where + " lists rank " + std::to_string(rank) + ", but the network has " +
                        std::to_string(npus) + " NPUs");
    }
    if (i > 0 && group.places[i - 1].first == rank) {
      throw ConfigError(where + " lists rank " + std::to_string(rank) + " twice");
    }
  }
  const bool may_be_grid = !config.parity && !group.whole && std::is_sorted(group.ranks.begin(), group.ranks.end());
  if (may_be_grid) group.grid = SubGrid::find(config.network, group.ranks);
  return group;
}

}  // namespace

std::optional<std::uint32_t> Group::position(std::uint32_t rank) const {
  if (places.empty()) return rank;
  const auto place = std::lower_bound(places.begin(), places.end(), std::pair{rank, std::uint32_t{0}});
  return place != places.end() && place->first == rank ? std::optional{place->second} : std::nullopt;
}

GroupTable::GroupTable(const SimulationConfig& config) {
  Group all;
  all.name = "all ranks";
  all.ranks.resize(config.network.npus());
  std::iota(all.ranks.begin(), all.ranks.end(), 0U);
  all.whole = true;
  groups_.push_back(std::move(all));
  for (const ProcessGroup& listed : config.groups) {
    groups_.push_back(make_group(listed, config));
    const auto index = static_cast<std::uint32_t>(groups_.size() - 1);
    if (!by_name_.emplace(listed.name, index).second) {
      throw ConfigError("communicator group \"" + listed.name + "\" is listed twice");
    }
  }
  by_name_.emplace("", world);
  by_name_.emplace("0", world);
}

std::optional<std::uint32_t> GroupTable::find(std::string_view name) const {
  const auto place = by_name_.find(std::string(name));
  return place == by_name_.end() ? std::nullopt : std::optional{place->second};
}

std::string GroupTable::names() const {
  std::string text;
  for (std::size_t i = 1; i < groups_.size(); ++i) {
    if (i > 1) text += ", ";
    if (i > 20) return text + "...";
    text += groups_[i].name;
  }
  return text.empty() ? "none" : text;
}

}  // namespace chakra::sim
