// SPDX-License-Identifier: MIT
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "chakra_core/collective_time.hpp"
#include "chakra_core/errors.hpp"
#include "chakra_core/simulator.hpp"

namespace py = pybind11;
using namespace pybind11::literals;

namespace chakra::bindings {

namespace {

using NamedRanks = std::pair<std::string, std::vector<std::uint32_t>>;

/// dimension, src, dst, factors on bandwidth and latency.
using DamageTuple = std::tuple<std::optional<std::uint32_t>, std::optional<std::uint32_t>, std::optional<std::uint32_t>,
                               double, double>;
/// src, dst, bandwidth, latency, one-way.
using LinkTuple = std::tuple<std::uint32_t, std::uint32_t, double, double, bool>;

std::vector<LinkDamage> make_damage(const std::vector<DamageTuple>& tuples) {
  std::vector<LinkDamage> damage;
  for (const auto& [dimension, src, dst, bandwidth, latency] : tuples) {
    damage.push_back({dimension, src, dst, bandwidth, latency});
  }
  return damage;
}

Network make_network(const std::vector<std::string>& topology, const std::vector<std::uint32_t>& npus,
                     const std::vector<double>& bandwidth, const std::vector<double>& latency,
                     std::vector<double> oversubscription, const std::vector<DamageTuple>& damage) {
  const std::size_t size = topology.size();
  if (oversubscription.empty()) oversubscription.assign(size, 1);
  if (npus.size() != size || bandwidth.size() != size || latency.size() != size || oversubscription.size() != size) {
    throw ConfigError("the network's lists have different lengths: topology " + std::to_string(size) + ", npus_count " +
                      std::to_string(npus.size()) + ", bandwidth " + std::to_string(bandwidth.size()) + ", latency " +
                      std::to_string(latency.size()) + ", oversubscription " + std::to_string(oversubscription.size()) +
                      "; each needs one entry a dimension");
  }
  std::vector<Dimension> dimensions;
  for (std::size_t d = 0; d < size; ++d) {
    const auto kind = parse_topology(topology[d]);
    if (!kind) {
      throw ConfigError("unknown topology \"" + topology[d] +
                        "\"; known are Ring, FullyConnected, Switch, Mesh, Graph");
    }
    dimensions.push_back({*kind, npus[d], bandwidth[d], latency[d], oversubscription[d]});
  }
  return Network(std::move(dimensions), make_damage(damage));
}

Network make_graph(std::uint32_t npus, std::uint32_t switches, const std::vector<LinkTuple>& links,
                   const std::vector<DamageTuple>& damage) {
  LinkGraph graph{npus, switches};
  for (const auto& [src, dst, bandwidth, latency, one_way] : links) {
    graph.links.push_back({src, dst, bandwidth, latency, one_way});
  }
  return Network::of_links(graph, make_damage(damage));
}

template <class Member>
auto network_column(Member member) {
  return [member](const Network& self) {
    py::list list;
    for (const Dimension& dimension : self.dimensions()) list.append(dimension.*member);
    return list;
  };
}

std::uint64_t checked_delay(const Network& self, std::uint32_t src, std::uint32_t dst, std::uint64_t bytes,
                            bool parity) {
  if (src >= self.npus() || dst >= self.npus()) {
    throw ConfigError("NPUs " + std::to_string(src) + " and " + std::to_string(dst) + ": the network has " +
                      std::to_string(self.npus()));
  }
  return self.delay(src, dst, bytes, parity ? DelayRule::first_dimension : DelayRule::cut_through);
}

void bind_network(py::module_& module) {
  py::class_<Network>(module, "Network", "Dimensions of a network; NPU ids count with dimension 0 fastest.")
      .def(
          py::init(&make_network), "topology"_a, "npus"_a, "bandwidth"_a, "latency"_a,
          "oversubscription"_a = std::vector<double>{}, "damage"_a = std::vector<DamageTuple>{},
          "One entry a dimension: \"Ring\", \"FullyConnected\", \"Switch\" or \"Mesh\"; NPUs; GB/s of 2**30 bytes; ns; "
          "ratio of a switch. Damage: dimension, src, dst (each may be None), factors on bandwidth and latency.")
      .def_static("of_links", &make_graph, "npus"_a, "switches"_a, "links"_a, "damage"_a = std::vector<DamageTuple>{},
                  "Links: src, dst, GB/s of 2**30 bytes, ns, one-way. Switches are numbered from npus on.")
      .def_property_readonly("topology",
                             [](const Network& self) {
                               std::vector<std::string> names;
                               for (const Dimension& d : self.dimensions()) names.emplace_back(to_string(d.topology));
                               return names;
                             })
      .def_property_readonly("npus_count", network_column(&Dimension::npus), "NPUs of each dimension.")
      .def_property_readonly("bandwidth", network_column(&Dimension::bandwidth_gbps), "GB/s of 2**30 bytes.")
      .def_property_readonly("latency", network_column(&Dimension::latency_ns), "ns.")
      .def_property_readonly("oversubscription", network_column(&Dimension::oversubscription))
      .def_property_readonly("npus", &Network::npus, "NPUs of the whole network.")
      .def_property_readonly("dimensions", [](const Network& self) { return self.dimensions().size(); })
      .def(
          "coordinates",
          [](const Network& self, std::uint32_t npu) {
            if (npu >= self.npus()) {
              throw ConfigError("NPU " + std::to_string(npu) + ": the network has " + std::to_string(self.npus()));
            }
            return self.coordinates(npu);
          },
          "npu"_a)
      .def("delay", &checked_delay, "src"_a, "dst"_a, "bytes"_a, "parity"_a = false,
           "ns from sending to arrival when nobody else sends.");
}

using Traces = std::vector<std::shared_ptr<Trace>>;

std::vector<Algorithm> parse_algorithms(const std::vector<std::string>& names) {
  std::vector<Algorithm> list;
  for (const std::string& name : names) list.push_back(parse_algorithm(name));
  return list;
}

std::vector<std::string> algorithm_names(const std::vector<Algorithm>& list) {
  std::vector<std::string> names;
  for (const Algorithm& algorithm : list) names.push_back(to_string(algorithm));
  return names;
}

SystemConfig make_system(std::optional<double> endpoint_delay, std::uint32_t active_chunks, std::uint32_t splits,
                         const std::vector<std::string>& all_reduce, const std::vector<std::string>& all_gather,
                         const std::vector<std::string>& reduce_scatter, const std::vector<std::string>& all_to_all,
                         const std::string& optimization, double local_mem_bw, double peak_perf, bool roofline_enabled,
                         bool replay_only, const Traces& all_reduce_custom, const Traces& all_gather_custom,
                         const Traces& reduce_scatter_custom, const Traces& all_to_all_custom) {
  SystemConfig system;
  system.endpoint_delay_ns = endpoint_delay;
  system.active_chunks_per_dimension = active_chunks;
  system.preferred_dataset_splits = splits;
  system.all_reduce = parse_algorithms(all_reduce);
  system.all_gather = parse_algorithms(all_gather);
  system.reduce_scatter = parse_algorithms(reduce_scatter);
  system.all_to_all = parse_algorithms(all_to_all);
  system.collective_optimization = parse_collective_optimization(optimization);
  system.local_mem_bw = local_mem_bw;
  system.peak_perf = peak_perf;
  system.roofline_enabled = roofline_enabled;
  system.replay_only = replay_only;
  system.all_reduce_custom.assign(all_reduce_custom.begin(), all_reduce_custom.end());
  system.all_gather_custom.assign(all_gather_custom.begin(), all_gather_custom.end());
  system.reduce_scatter_custom.assign(reduce_scatter_custom.begin(), reduce_scatter_custom.end());
  system.all_to_all_custom.assign(all_to_all_custom.begin(), all_to_all_custom.end());
  system.validate();
  return system;
}

void bind_system(py::module_& module) {
  const std::vector<std::string> ring{"ring"};
  py::class_<SystemConfig>(module, "SystemConfig", "What ASTRA-sim's system file says.")
      .def(py::init(&make_system), py::kw_only(), "endpoint_delay"_a = py::none(), "active_chunks_per_dimension"_a = 1,
           "preferred_dataset_splits"_a = 1, "all_reduce_implementation"_a = ring, "all_gather_implementation"_a = ring,
           "reduce_scatter_implementation"_a = ring, "all_to_all_implementation"_a = ring,
           "collective_optimization"_a = "baseline", "local_mem_bw"_a = 0.0, "peak_perf"_a = 0.0,
           "roofline_enabled"_a = false, "replay_only"_a = false, "all_reduce_custom"_a = Traces{},
           "all_gather_custom"_a = Traces{}, "reduce_scatter_custom"_a = Traces{}, "all_to_all_custom"_a = Traces{})
      .def_readonly("endpoint_delay", &SystemConfig::endpoint_delay_ns)
      .def_readonly("active_chunks_per_dimension", &SystemConfig::active_chunks_per_dimension)
      .def_readonly("preferred_dataset_splits", &SystemConfig::preferred_dataset_splits)
      .def_property_readonly("all_reduce_implementation",
                             [](const SystemConfig& self) { return algorithm_names(self.all_reduce); })
      .def_property_readonly("all_gather_implementation",
                             [](const SystemConfig& self) { return algorithm_names(self.all_gather); })
      .def_property_readonly("reduce_scatter_implementation",
                             [](const SystemConfig& self) { return algorithm_names(self.reduce_scatter); })
      .def_property_readonly("all_to_all_implementation",
                             [](const SystemConfig& self) { return algorithm_names(self.all_to_all); })
      .def_property_readonly("collective_optimization",
                             [](const SystemConfig& self) {
                               const bool aware =
                                   self.collective_optimization == CollectiveOptimization::local_bw_aware;
                               return aware ? "localBWAware" : "baseline";
                             })
      .def_readonly("local_mem_bw", &SystemConfig::local_mem_bw)
      .def_readonly("peak_perf", &SystemConfig::peak_perf)
      .def_readonly("roofline_enabled", &SystemConfig::roofline_enabled)
      .def_readonly("replay_only", &SystemConfig::replay_only);
}

void bind_memory(py::module_& module) {
  py::class_<MemoryConfig>(module, "MemoryConfig", "What ASTRA-sim's remote-memory file says.")
      .def(py::init([](const std::string& type, std::uint64_t latency_ns, std::uint64_t bandwidth,
                       std::uint32_t num_nodes, std::uint32_t num_npus_per_node) {
             return MemoryConfig{parse_memory_type(type), latency_ns, bandwidth, num_nodes, num_npus_per_node};
           }),
           py::kw_only(), "memory_type"_a = "NO_MEMORY_EXPANSION", "latency_ns"_a = 0, "bandwidth"_a = 0,
           "num_nodes"_a = 1, "num_npus_per_node"_a = 1)
      .def_property_readonly("memory_type", [](const MemoryConfig& self) { return std::string(to_string(self.type)); })
      .def_readonly("latency_ns", &MemoryConfig::latency_ns)
      .def_readonly("bandwidth", &MemoryConfig::bandwidth_gbps)
      .def_readonly("num_nodes", &MemoryConfig::num_nodes)
      .def_readonly("num_npus_per_node", &MemoryConfig::num_npus_per_node);
}

template <class Value>
auto result_column(std::vector<Value> SimulationResult::*column) {
  return [column](const py::object& self) {
    return view(std::span<const Value>(self.cast<const SimulationResult&>().*column), self);
  };
}

using Table = py::typing::Dict<py::str, py::array>;

/// A table of columns, views of the result.
template <class... Columns>
Table table(const py::object& owner, std::pair<const char*, const Columns*>... columns) {
  Table result;
  const auto add = [&](const char* name, const auto& column) {
    using Value = typename std::decay_t<decltype(column)>::value_type;
    if constexpr (std::is_enum_v<Value>) {
      using Number = std::underlying_type_t<Value>;
      const auto* numbers = reinterpret_cast<const Number*>(column.data());
      result[name] = view(std::span<const Number>(numbers, column.size()), owner);
    } else {
      result[name] = view(std::span<const Value>(column), owner);
    }
  };
  (add(columns.first, *columns.second), ...);
  return result;
}

template <class Column>
std::pair<const char*, const Column*> named(const char* name, const Column& column) {
  return {name, &column};
}

/// Sizes as NCCL-tests counts them, and its factor to bus bandwidth, of collectives of these groups and types.
void add_bandwidth(Table& result, const SimulationResult& self, const std::vector<std::uint32_t>& group,
                   const std::vector<CollectiveType>& type, const std::vector<std::uint64_t>* size) {
  std::vector<std::uint32_t> ranks;
  std::vector<std::uint64_t> bytes;
  std::vector<double> factors;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const auto members = static_cast<std::uint32_t>(self.groups[group[i]].ranks.size());
    ranks.push_back(members);
    factors.push_back(bus_factor(type[i], members));
    if (size != nullptr) bytes.push_back(collective_bytes(type[i], (*size)[i], members));
  }
  result["ranks"] = take(std::move(ranks));
  result["bus_factor"] = take(std::move(factors));
  if (size != nullptr) result["bytes"] = take(std::move(bytes));
}

Table collective_table(const py::object& owner) {
  const auto& self = owner.cast<const SimulationResult&>();
  const CollectiveColumns& columns = self.collectives;
  Table result = table(
      owner, named("group", columns.group), named("number", columns.number), named("type", columns.type),
      named("size", columns.size), named("first_rank", columns.first_rank), named("row", columns.row),
      named("start_ns", columns.start_ns), named("joined_ns", columns.joined_ns), named("end_ns", columns.end_ns));
  add_bandwidth(result, self, columns.group, columns.type, &columns.size);
  return result;
}

Table activity_table(const py::object& owner) {
  const ActivityColumns& columns = owner.cast<const SimulationResult&>().activity;
  return table(owner, named("collective", columns.collective), named("dimension", columns.dimension),
               named("start_ns", columns.start_ns), named("end_ns", columns.end_ns),
               named("link_bytes", columns.link_bytes));
}

Table group_table(const py::object& owner) {
  const auto& self = owner.cast<const SimulationResult&>();
  const GroupColumns& columns = self.group_totals;
  Table result = table(owner, named("group", columns.group), named("type", columns.type),
                       named("collectives", columns.collectives), named("bytes", columns.bytes),
                       named("duration_ns", columns.duration_ns));
  add_bandwidth(result, self, columns.group, columns.type, nullptr);
  return result;
}

Table dimension_table(const py::object& owner) {
  const DimensionColumns& columns = owner.cast<const SimulationResult&>().dimensions;
  return table(owner, named("links", columns.links), named("messages", columns.messages), named("bytes", columns.bytes),
               named("link_bytes", columns.link_bytes), named("busy_ns", columns.busy_ns),
               named("utilisation", columns.utilisation));
}

Table link_table(const py::object& owner) {
  const LinkColumns& columns = owner.cast<const SimulationResult&>().links;
  return table(owner, named("dimension", columns.dimension), named("source", columns.source),
               named("destination", columns.destination), named("messages", columns.messages),
               named("bytes", columns.bytes), named("busy_ns", columns.busy_ns));
}

const NodePlaces& places_of(const SimulationResult& self, std::size_t rank) {
  if (rank >= self.node_places.size()) {
    throw py::index_error("rank " + std::to_string(rank) + ": nodes of " + std::to_string(self.node_places.size()) +
                          " ranks were recorded");
  }
  return *self.node_places[rank];
}

py::array_t<std::uint8_t> resources_of(const py::object& owner, std::size_t rank) {
  const auto& resources = places_of(owner.cast<const SimulationResult&>(), rank).resource;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(resources.data());
  return view(std::span<const std::uint8_t>(bytes, resources.size()), owner);
}

py::array_t<std::uint32_t> lanes_of(const py::object& owner, std::size_t rank) {
  return view(std::span<const std::uint32_t>(places_of(owner.cast<const SimulationResult&>(), rank).lane), owner);
}

void bind_result(py::module_& module) {
  py::class_<SimulationResult> result(module, "SimulationResult", "Times of a simulated run, in ns, as columns.");
  result.def_property_readonly("finish_ns", result_column(&SimulationResult::finish_ns))
      .def_property_readonly("compute_ns", result_column(&SimulationResult::compute_ns))
      .def_property_readonly("comm_ns", result_column(&SimulationResult::comm_ns))
      .def_property_readonly("exposed_comm_ns", result_column(&SimulationResult::exposed_comm_ns))
      .def_property_readonly("idle_ns", result_column(&SimulationResult::idle_ns))
      .def_property_readonly("cpu_ns", result_column(&SimulationResult::cpu_ns))
      .def_property_readonly("memory_ns", result_column(&SimulationResult::memory_ns))
      .def_property_readonly("finish_minus_compute_ns", result_column(&SimulationResult::finish_minus_compute_ns))
      .def_property_readonly("first_node", result_column(&SimulationResult::first_node),
                             "By rank, and one more: where its nodes begin in the node columns.")
      .def_property_readonly("node_start_ns", result_column(&SimulationResult::node_start_ns))
      .def_property_readonly("node_end_ns", result_column(&SimulationResult::node_end_ns))
      .def_property_readonly("late_node", result_column(&SimulationResult::late_node), "Nodes that waited for a slot.")
      .def_property_readonly("late_ns", result_column(&SimulationResult::late_ns), "How long each of late_node waited.")
      .def("resources_of", &resources_of, "rank"_a, "Of each row: index into RESOURCES (uint8).")
      .def("lanes_of", &lanes_of, "rank"_a, "Of each row: index into lanes.")
      .def_readonly("lanes", &SimulationResult::lanes, "Names of what nodes ran on.")
      .def_property_readonly(
          "groups",
          [](const SimulationResult& self) {
            std::vector<NamedRanks> groups;
            for (const ProcessGroup& group : self.groups) groups.emplace_back(group.name, group.ranks);
            return groups;
          },
          "Name and ranks of each group; the first is all ranks.")
      .def_property_readonly("collectives", &collective_table, "A row for each collective of a group.")
      .def_property_readonly("activity", &activity_table, "A row for each collective in each dimension it used.")
      .def_property_readonly("group_totals", &group_table, "A row for each group and type of collective.")
      .def_property_readonly("dimensions", &dimension_table, "A row for each dimension of the network.")
      .def_property_readonly("links", &link_table, "A row for each directed link that was used, with congestion.")
      .def_readonly("warnings", &SimulationResult::warnings)
      .def_readonly("messages", &SimulationResult::messages)
      .def_readonly("events", &SimulationResult::events)
      .def_property_readonly(
          "phases",
          [](const SimulationResult& self) {
            return std::map<std::string, std::uint64_t>{
                {"closed", self.phases.closed}, {"message", self.phases.message}, {"phase", self.phases.phase}};
          },
          "Phases of chunks, counted on every member, by how they were carried out.")
      .def_readonly("folded_ranks", &SimulationResult::folded_ranks, "Ranks that another one was simulated for.")
      .def_readonly("order_mattered", &SimulationResult::order_mattered,
                    "What came in one ns and made \"auto\" begin again with all messages; else empty.");
  result.attr("NEVER_ENDED") = never_ended;
  result.attr("RESOURCES") = py::make_tuple("none", "cpu", "compute", "comm", "memory");
}

Stragglers make_stragglers(std::vector<double> compute_speed, std::vector<std::uint64_t> start_delay_ns,
                           const std::vector<std::tuple<std::uint32_t, NodeId, std::uint64_t>>& node_delays,
                           double jitter, std::uint64_t seed) {
  Stragglers stragglers{std::move(compute_speed), std::move(start_delay_ns), {}, jitter, seed};
  for (const auto& [rank, node, delay] : node_delays) stragglers.node_delays.push_back({rank, node, delay});
  return stragglers;
}

void bind_stragglers(py::module_& module) {
  py::class_<Stragglers>(module, "Stragglers", "What makes ranks slower, or faster, than their traces say.")
      .def(py::init(&make_stragglers), py::kw_only(), "compute_speed"_a = std::vector<double>{},
           "start_delay_ns"_a = std::vector<std::uint64_t>{},
           "node_delays"_a = std::vector<std::tuple<std::uint32_t, NodeId, std::uint64_t>>{}, "jitter"_a = 0.0,
           "seed"_a = 0, "One entry a rank; `node_delays`: rank, node id, ns.")
      .def("jitter_factor", &Stragglers::jitter_factor, "rank"_a, "node"_a, "The jitter's factor of a node.");
}

using ComputeTimes = py::array_t<std::uint64_t, py::array::c_style | py::array::forcecast>;

/// Views of the arrays; None: the rank's nodes take the times that they take otherwise.
std::vector<std::span<const std::uint64_t>> compute_times(const std::vector<std::optional<ComputeTimes>>& arrays) {
  std::vector<std::span<const std::uint64_t>> spans;
  for (const auto& array : arrays) {
    if (array && array->ndim() != 1) throw py::value_error("compute times need one dimension");
    spans.emplace_back();
    if (array) spans.back() = {array->data(), static_cast<std::size_t>(array->size())};
  }
  return spans;
}

using CountTriple = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

std::unique_ptr<SimulationResult> run(const std::vector<std::shared_ptr<Trace>>& traces, const Network& network,
                                      const SystemConfig& system, const MemoryConfig& memory,
                                      std::vector<NamedRanks> groups, bool parity, bool congestion,
                                      std::uint32_t num_queues_per_dim, bool rendezvous_protocol,
                                      double injection_scale, bool groups_as_listed,
                                      const std::optional<CountTriple>& slots, bool recorded_communication,
                                      const std::string& fidelity, bool fold, const Stragglers& stragglers,
                                      const std::vector<std::optional<ComputeTimes>>& times, bool record_nodes,
                                      Progress* progress) {
  auto compute_ns = compute_times(times);
  const py::gil_scoped_release release;
  SimulationConfig config{.network = network, .system = system, .memory = memory};
  for (NamedRanks& group : groups) config.groups.push_back({std::move(group.first), std::move(group.second)});
  config.parity = parity;
  config.congestion = congestion;
  config.groups_as_listed = groups_as_listed;
  config.num_queues_per_dim = num_queues_per_dim;
  config.rendezvous_protocol = rendezvous_protocol;
  config.injection_scale = injection_scale;
  if (slots) config.slots = SlotCounts{std::get<0>(*slots), std::get<1>(*slots), std::get<2>(*slots)};
  if (recorded_communication) config.communication = CommunicationTimes::recorded;
  config.fidelity = parse_fidelity(fidelity);
  config.fold = fold;
  config.stragglers = stragglers;
  config.compute_ns = std::move(compute_ns);
  config.record_nodes = record_nodes;
  const std::vector<TracePtr> shared(traces.begin(), traces.end());
  return std::make_unique<SimulationResult>(simulate(shared, config, progress));
}

std::uint64_t time_of_collective(const Network& network, const SystemConfig& system, CollectiveType type,
                                 std::uint64_t bytes, const std::vector<std::uint32_t>& group,
                                 std::optional<std::uint32_t> root, bool congestion, bool parity,
                                 bool rendezvous_protocol, std::uint32_t num_queues_per_dim, double injection_scale,
                                 const std::string& fidelity) {
  const py::gil_scoped_release release;
  return collective_time(network, system, type, bytes,
                         {.group = group,
                          .root = root,
                          .congestion = congestion,
                          .parity = parity,
                          .rendezvous_protocol = rendezvous_protocol,
                          .num_queues_per_dim = num_queues_per_dim,
                          .injection_scale = injection_scale,
                          .fidelity = parse_fidelity(fidelity)});
}

}  // namespace

void bind_sim(py::module_& module) {
  bind_network(module);
  bind_system(module);
  bind_memory(module);
  bind_result(module);
  bind_stragglers(module);
  module.def(
      "simulate", &run, "traces"_a, "network"_a, "system"_a, py::kw_only(),
      py::arg_v("memory", MemoryConfig{}, "MemoryConfig()"), "groups"_a = std::vector<NamedRanks>{}, "parity"_a = false,
      "congestion"_a = false, "num_queues_per_dim"_a = 1, "rendezvous_protocol"_a = false, "injection_scale"_a = 1.0,
      "groups_as_listed"_a = false, "slots"_a = py::none(), "recorded_communication"_a = false, "fidelity"_a = "auto",
      "fold"_a = true, py::arg_v("stragglers", Stragglers{}, "Stragglers()"),
      "compute_ns"_a = std::vector<std::optional<ComputeTimes>>{}, "record_nodes"_a = true, "progress"_a = py::none(),
      "Runs one trace a rank to its end. `slots` counts those of CPU, compute and communication; None: a slot for each "
      "thread and stream, in parity one each. `compute_ns`: by rank, what COMP nodes take, by row; 2**64 - 1: as "
      "otherwise. Raises ConfigError, SimulationError (with what each rank waits for), "
      "DependencyError (a cycle).");
  module.def("collective_time", &time_of_collective, "network"_a, "system"_a, "type"_a, "bytes"_a, py::kw_only(),
             "group"_a = std::vector<std::uint32_t>{}, "root"_a = py::none(), "congestion"_a = false,
             "parity"_a = false, "rendezvous_protocol"_a = false, "num_queues_per_dim"_a = 1, "injection_scale"_a = 1.0,
             "fidelity"_a = "auto",
             "ns from when all members begin one collective together until the last of them is through.");
}

}  // namespace chakra::bindings
