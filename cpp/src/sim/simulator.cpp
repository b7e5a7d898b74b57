// SPDX-License-Identifier: MIT
#include "chakra_core/simulator.hpp"

#include <algorithm>

#include "chakra_core/errors.hpp"
#include "sim/engine.hpp"
#include "sim/folding.hpp"
#include "sim/group_table.hpp"
#include "sim/lane_plan.hpp"
#include "trace/trace_storage.hpp"

namespace chakra {

namespace {

constexpr std::uint32_t most_queues_per_dim = 1024;

void check_compute_times(std::span<const TracePtr> traces, const SimulationConfig& config) {
  if (!config.compute_ns.empty() && config.compute_ns.size() != traces.size()) {
    throw ConfigError("compute times of " + std::to_string(config.compute_ns.size()) + " ranks; there are " +
                      std::to_string(traces.size()));
  }
  for (std::size_t r = 0; r < config.compute_ns.size(); ++r) {
    const std::size_t found = config.compute_ns[r].size();
    if (found == 0 || found == traces[r]->size()) continue;
    throw ConfigError("rank " + std::to_string(r) + " has " + std::to_string(found) + " compute times; its trace has " +
                      std::to_string(traces[r]->size()) + " nodes");
  }
}

void check_parity(const SimulationConfig& config) {
  const auto is_known = [](const Dimension& dimension) {
    const bool known = dimension.topology != Topology::mesh && dimension.topology != Topology::graph;
    return known && dimension.oversubscription == 1;
  };
  const auto dimensions = config.network.dimensions();
  if (config.network.is_damaged() || !std::all_of(dimensions.begin(), dimensions.end(), is_known)) {
    throw ConfigError("ASTRA-sim has no Mesh, no Graph, no oversubscribed Switch and no damage; run without parity");
  }
  const SystemConfig& system = config.system;
  if (system.all_reduce_custom.empty() && system.all_gather_custom.empty() && system.reduce_scatter_custom.empty() &&
      system.all_to_all_custom.empty()) {
    return;
  }
  throw ConfigError("custom collectives are not known to take the same time in ASTRA-sim; run without parity");
}

void check(std::span<const TracePtr> traces, const SimulationConfig& config) {
  const std::uint32_t npus = config.network.npus();
  if (traces.size() != npus) {
    throw ConfigError("there are " + std::to_string(traces.size()) + " traces, but the network has " +
                      std::to_string(npus) + " NPUs; give one trace for each");
  }
  for (std::size_t r = 0; r < traces.size(); ++r) {
    if (traces[r] == nullptr) throw ConfigError("the trace of rank " + std::to_string(r) + " is missing");
  }
  config.system.validate();
  config.stragglers.validate(npus);
  check_compute_times(traces, config);
  config.memory.validate(npus);
  if (!config.parity && config.memory.type != MemoryType::none && config.memory.bandwidth_gbps == 0) {
    throw ConfigError("remote-mem-bw is missing or 0; it must be at least 1");
  }
  if (config.num_queues_per_dim == 0 || config.num_queues_per_dim > most_queues_per_dim) {
    throw ConfigError("num-queues-per-dim is " + std::to_string(config.num_queues_per_dim) + "; it must be 1 to " +
                      std::to_string(most_queues_per_dim));
  }
  if (!(config.injection_scale >= 0) || !(config.injection_scale <= 1e9)) {
    throw ConfigError("injection-scale is " + std::to_string(config.injection_scale) + "; it must be 0 to 1e9");
  }
  if (config.parity) check_parity(config);
  if (config.parity && config.congestion && config.network.dimensions().size() > 1) {
    throw ConfigError("ASTRA-sim's congestion-aware network has one dimension, not " +
                      std::to_string(config.network.dimensions().size()) + "; run without parity");
  }
}

void check_slots(const SimulationConfig& config) {
  if (config.slots) {
    const SlotCounts& slots = *config.slots;
    if (slots.cpu == 0 || slots.compute == 0 || slots.comm == 0) {
      throw ConfigError("resources are cpu " + std::to_string(slots.cpu) + ", compute " +
                        std::to_string(slots.compute) + ", comm " + std::to_string(slots.comm) +
                        "; each must be at least 1");
    }
    if (config.parity && slots != SlotCounts{}) {
      throw ConfigError("ASTRA-sim has one slot each for CPU, compute and communication; run without parity");
    }
  }
  if (config.parity && config.communication == CommunicationTimes::recorded) {
    throw ConfigError("ASTRA-sim does not take recorded times of communication alone; run without parity");
  }
}

/// The cheapest way first: one rank for all; without messages; with all of them.
class Run {
 public:
  Run(std::span<const TracePtr> traces, const SimulationConfig& config, Progress* progress)
      : traces_(traces), config_(config), progress_(progress), groups_(config), plans_(traces, config, groups_) {}

  SimulationResult result() {
    SimulationResult result = cheapest();
    if (config_.record_nodes) result.node_places = std::move(plans_).places(traces_);
    return result;
  }

 private:
  SimulationResult cheapest() {
    try {
      if (may_fold()) {
        try {
          return folded();
        } catch (const sim::NotAlike&) {
        }
      }
      return run(traces_, config_, 1);
    } catch (const sim::OrderMatters& doubt) {
      SimulationConfig by_message = config_;
      by_message.fidelity = Fidelity::message;
      if (config_.observer != nullptr) config_.observer->restarted();
      SimulationResult result = run(traces_, by_message, 1);
      result.order_mattered = doubt.what();
      return result;
    }
  }

  SimulationResult run(std::span<const TracePtr> traces, const SimulationConfig& config, std::uint32_t copies) {
    if (progress_ != nullptr) progress_->done = 0;
    return sim::Engine(traces, config, groups_, plans_, copies, progress_).run();
  }

  bool may_fold() const {
    const bool formulas = config_.fidelity == Fidelity::automatic || config_.fidelity == Fidelity::closed;
    return config_.fold && formulas && config_.observer == nullptr && !config_.congestion &&
           config_.network.is_regular() && traces_.size() > 1 && sim::are_alike(traces_, config_, groups_, plans_);
  }

  SimulationResult folded() {
    SimulationResult result = run(traces_.first(1), config_, static_cast<std::uint32_t>(traces_.size()));
    sim::repeat_for_all(result, traces_, groups_);
    return result;
  }

  std::span<const TracePtr> traces_;
  const SimulationConfig& config_;
  Progress* progress_;
  sim::GroupTable groups_;
  sim::LanePlans plans_;
};

}  // namespace

Fidelity parse_fidelity(std::string_view name) {
  for (const Fidelity fidelity : {Fidelity::automatic, Fidelity::closed, Fidelity::phase, Fidelity::message}) {
    if (name == to_string(fidelity)) return fidelity;
  }
  throw ConfigError("unknown fidelity \"" + std::string(name) + "\"; known are auto, closed, phase, message");
}

std::string_view to_string(Fidelity fidelity) noexcept {
  switch (fidelity) {
    case Fidelity::automatic:
      return "auto";
    case Fidelity::closed:
      return "closed";
    case Fidelity::phase:
      return "phase";
    case Fidelity::message:
      return "message";
  }
  return "auto";
}

SimulationResult simulate(std::span<const TracePtr> traces, const SimulationConfig& config, Progress* progress) {
  check(traces, config);
  check_slots(config);
  for (const TracePtr& trace : traces) {
    for (const auto& source : trace->storage().sources) {
      source->release_pages();  // all that is simulated is in the columns
    }
  }
  return Run(traces, config, progress).result();
}

}  // namespace chakra
