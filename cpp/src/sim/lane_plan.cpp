// SPDX-License-Identifier: MIT
#include "sim/lane_plan.hpp"

#include <set>
#include <tuple>
#include <utility>
#include <variant>

namespace chakra::sim {

namespace {

bool has_text(const Trace& trace, NodeIndex row, std::string_view attribute, std::string_view text) {
  const auto found = trace.attribute(row, attribute);
  const auto* value = found ? std::get_if<std::string>(&found->value) : nullptr;
  return value != nullptr && *value == text;
}

class Planner {
 public:
  Planner(const Trace& trace, const SimulationConfig& config, const GroupTable& groups)
      : trace_(trace),
        groups_(groups),
        parity_(config.parity),
        replay_only_(config.system.replay_only),
        counts_(config.parity && !config.slots ? SlotCounts{} : config.slots),
        comm_slots_(is_converted(trace) ? unlimited : 1),
        several_devices_(!counts_ && names_devices()) {}

  LanePlan run() {
    plan_.lane_of_row.reserve(trace_.size());
    plan_.resource_of_row.reserve(trace_.size());
    for (NodeIndex row = 0; row < trace_.size(); ++row) {
      plan_.lane_of_row.push_back(counts_ ? counted_lane(row) : named_lane(row));
      plan_.resource_of_row.push_back(resource_of(row));
    }
    if (!parity_) plan_.launch_order = find_launch_order(trace_, groups_);
    return std::move(plan_);
  }

 private:
  using Key = std::tuple<LaneKind, std::int64_t, std::int64_t>;

  /// Some stream's first node says which device it belongs to.
  bool names_devices() const {
    const auto& streams = trace_.column(IntegerAttribute::stream);
    std::set<std::int64_t> seen;
    for (NodeIndex row = 0; row < trace_.size(); ++row) {
      const auto stream = streams.get(row);
      if (stream && seen.insert(*stream).second && trace_.attribute(row, "device")) return true;
    }
    return false;
  }

  std::int64_t device_of(NodeIndex row) const {
    const auto device = several_devices_ ? trace_.attribute(row, "device") : std::nullopt;
    const auto* number = device ? std::get_if<std::int64_t>(&device->value) : nullptr;
    return number == nullptr ? -1 : *number;
  }

  /// Takes no time by itself.
  bool takes_nothing(NodeIndex row) const {
    return !parity_ && !replay_only_ && is_empty(trace_.types()[row]) && !is_timed_metadata(trace_, row);
  }

  /// Time between two things that the record does not explain: nothing was busy.
  bool is_pause(NodeIndex row) const {
    if (parity_ || trace_.types()[row] != NodeType::comp) return false;
    const std::string_view name = trace_.name(row);
    return (name == "lag" || name == "start offset") && has_text(trace_, row, "piece", name);
  }

  std::uint32_t counted_lane(NodeIndex row) {
    const NodeType type = trace_.types()[row];
    if (takes_nothing(row)) return lane(LaneKind::idle, unlimited);
    if (is_on_cpu(trace_, row) && (parity_ || !is_communication(type))) return lane(LaneKind::cpu, counts_->cpu);
    if (type == NodeType::comp) return lane(LaneKind::compute, counts_->compute);
    if (type == NodeType::comm_recv) return lane(LaneKind::receive, unlimited);
    return lane(LaneKind::comm, counts_->comm);
  }

  std::uint32_t named_lane(NodeIndex row) {
    const NodeType type = trace_.types()[row];
    if (takes_nothing(row)) return lane(LaneKind::idle, unlimited);
    if (is_on_cpu(trace_, row) && !is_communication(type)) {
      const auto thread = trace_.column(IntegerAttribute::tid).get(row);
      return thread ? lane(LaneKind::thread, 1, -1, *thread) : lane(LaneKind::cpu, 1);
    }
    if (const auto stream = trace_.column(IntegerAttribute::stream).get(row)) {
      return lane(LaneKind::stream, 1, device_of(row), *stream);
    }
    if (is_memory(type)) return lane(LaneKind::memory, 1);
    if (type == NodeType::comm_recv) return lane(LaneKind::receive, unlimited);
    if (is_communication(type)) return group_lane(row);
    const bool is_idle = type != NodeType::comp || is_pause(row);
    return is_idle ? lane(LaneKind::idle, unlimited) : lane(LaneKind::compute, 1);
  }

  std::uint32_t group_lane(NodeIndex row) {
    const auto name = trace_.pg_name().get(row);
    if (!name) return lane(LaneKind::comm, comm_slots_);
    const auto known = lane_of_group_.find(*name);
    if (known != lane_of_group_.end()) return known->second;
    const std::string_view text = trace_.string(*name);
    const bool is_world = groups_.find(text) == std::optional{GroupTable::world};
    const std::uint32_t index =
        is_world ? lane(LaneKind::comm, comm_slots_) : add({LaneKind::comm, -1, 0, std::string(text)}, comm_slots_);
    return lane_of_group_.emplace(*name, index).first->second;
  }

  std::uint32_t lane(LaneKind kind, std::uint32_t slots, std::int64_t device = -1, std::int64_t number = 0) {
    if (kind != LaneKind::thread && kind != LaneKind::stream) {
      std::uint32_t& only = only_[static_cast<std::size_t>(kind)];
      if (only == unlimited) only = add({kind}, slots);
      return only;
    }
    const Key key{kind, device, number};
    const auto known = lanes_.find(key);
    if (known != lanes_.end()) return known->second;
    return lanes_.emplace(key, add({kind, device, number}, slots)).first->second;
  }

  std::uint32_t add(Lane lane, std::uint32_t slots) {
    plan_.lanes.push_back(std::move(lane));
    plan_.slots.push_back(slots);
    return static_cast<std::uint32_t>(plan_.lanes.size() - 1);
  }

  Resource resource_of(NodeIndex row) const {
    const NodeType type = trace_.types()[row];
    if (is_communication(type)) return Resource::comm;
    if (is_memory(type)) return Resource::memory;
    if (!parity_ && is_timed_metadata(trace_, row)) return Resource::cpu;
    if (type != NodeType::comp || is_pause(row)) return Resource::none;
    return is_on_cpu(trace_, row) ? Resource::cpu : Resource::compute;
  }

  const Trace& trace_;
  const GroupTable& groups_;
  bool parity_;
  bool replay_only_;
  std::optional<SlotCounts> counts_;
  std::uint32_t comm_slots_;
  bool several_devices_;
  LanePlan plan_;
  std::map<Key, std::uint32_t> lanes_;  ///< threads and streams
  std::vector<std::uint32_t> only_ =
      std::vector<std::uint32_t>(static_cast<std::size_t>(LaneKind::memory) + 1, unlimited);
  std::map<std::uint32_t, std::uint32_t> lane_of_group_;  ///< by the interned pg_name
};

}  // namespace

bool is_memory(NodeType type) noexcept { return type == NodeType::mem_load || type == NodeType::mem_store; }

bool is_empty(NodeType type) noexcept { return !is_memory(type) && !is_communication(type) && type != NodeType::comp; }

bool is_on_cpu(const Trace& trace, NodeIndex row) noexcept { return trace.is_cpu_op().value_or(row, 0) != 0; }

bool is_timed_metadata(const Trace& trace, NodeIndex row) noexcept {
  return trace.types()[row] == NodeType::metadata && trace.duration_ns()[row] > 0 && is_on_cpu(trace, row) &&
         trace.column(IntegerAttribute::tid).has(row);
}

std::string Lane::name() const {
  const std::string on_device = device < 0 ? "" : "device " + std::to_string(device) + " ";
  switch (kind) {
    case LaneKind::idle:
      break;
    case LaneKind::cpu:
      return "cpu";
    case LaneKind::thread:
      return "thread " + std::to_string(number);
    case LaneKind::compute:
      return "compute";
    case LaneKind::stream:
      return on_device + "stream " + std::to_string(number);
    case LaneKind::comm:
      return group.empty() ? "comm" : "comm " + group;
    case LaneKind::receive:
      return "receive";
    case LaneKind::memory:
      return "memory";
  }
  return "none";
}

LanePlans::LanePlans(std::span<const TracePtr> traces, const SimulationConfig& config, const GroupTable& groups) {
  for (const TracePtr& trace : traces) {
    const auto [place, is_new] = plans_.try_emplace(trace.get());
    if (is_new) place->second = Planner(*trace, config, groups).run();
  }
  number_lanes();
}

void LanePlans::number_lanes() {
  std::map<Lane, std::uint32_t> all;
  for (const auto& [trace, plan] : plans_) {
    for (const Lane& lane : plan.lanes) all.emplace(lane, 0);
  }
  for (auto& [lane, number] : all) {
    number = static_cast<std::uint32_t>(names_.size());
    names_.push_back(lane.name());
  }
  for (auto& [trace, plan] : plans_) {
    for (const Lane& lane : plan.lanes) plan.numbers.push_back(all.at(lane));
  }
}

std::vector<std::shared_ptr<const NodePlaces>> LanePlans::places(std::span<const TracePtr> traces) && {
  std::map<const Trace*, std::shared_ptr<const NodePlaces>> made;
  for (auto& [trace, plan] : plans_) {
    for (std::uint32_t& lane : plan.lane_of_row) lane = plan.numbers[lane];
    made[trace] =
        std::make_shared<NodePlaces>(NodePlaces{std::move(plan.resource_of_row), std::move(plan.lane_of_row)});
  }
  std::vector<std::shared_ptr<const NodePlaces>> by_rank;
  for (const TracePtr& trace : traces) by_rank.push_back(made.at(trace.get()));
  return by_rank;
}

}  // namespace chakra::sim
