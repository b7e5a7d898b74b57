// SPDX-License-Identifier: MIT
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/stl.h>

#include "arrays.hpp"
#include "attribute_values.hpp"
#include "bindings.hpp"
#include "chakra_core/trace_ops.hpp"
#include "rows.hpp"

namespace py = pybind11;
using namespace pybind11::literals;

namespace chakra::bindings {

namespace {

using TraceClass = py::class_<Trace, std::shared_ptr<Trace>>;

/// Traces are bound as Trace, though the core hands out const pointers: every method is const.
std::shared_ptr<Trace> bound(const TracePtr& trace) { return std::const_pointer_cast<Trace>(trace); }

std::shared_ptr<Trace> selected(const Trace& trace, const std::vector<NodeIndex>& rows) {
  const py::gil_scoped_release release;
  return bound(select(trace, rows));
}

std::vector<NodeIndex> rows_of_python_ids(const Trace& trace, const py::object& ids) {
  const py::array given(py::module_::import("numpy").attr("asarray")(ids));
  const char kind = given.dtype().kind();
  if (given.ndim() != 1 || (given.size() != 0 && kind != 'i' && kind != 'u')) {
    throw py::type_error("ids must be one-dimensional integers");
  }
  const py::array_t<NodeId, py::array::c_style | py::array::forcecast> array(given);
  for (py::ssize_t i = 0; i < array.size(); ++i) {
    if (!trace.find(array.data()[i])) {
      throw py::key_error("no node has the id " + std::to_string(array.data()[i]));
    }
  }
  return rows_of(trace, {array.data(), static_cast<std::size_t>(array.size())});
}

/// One value or several.
std::vector<py::object> listed(const py::object& values) {
  if (values.is_none()) {
    return {};
  }
  if (py::isinstance<py::str>(values) || !py::isinstance<py::iterable>(values)) {
    return {values};
  }
  return py::cast<std::vector<py::object>>(py::list(values));
}

NodeFilter filter_from_python(const py::object& types, std::optional<std::uint64_t> start,
                              std::optional<std::uint64_t> end, const py::object& pg) {
  NodeFilter filter{.start_ns = start, .end_ns = end};
  for (const py::object& type : listed(types)) {
    filter.types.push_back(node_type_from_python(type));
  }
  for (const py::object& group : listed(pg)) {
    filter.process_groups.push_back(py::cast<std::string>(group));
  }
  return filter;
}

std::vector<NodeIndex> filtered_rows(const Trace& trace, const py::object& types, std::optional<std::uint64_t> start,
                                     std::optional<std::uint64_t> end, const py::object& pg) {
  const NodeFilter filter = filter_from_python(types, start, end, pg);
  // Given but empty: nothing is wanted, rather than anything.
  if ((!types.is_none() && filter.types.empty()) || (!pg.is_none() && filter.process_groups.empty())) {
    return {};
  }
  const py::gil_scoped_release release;
  return rows_where(trace, filter);
}

void bind_selection(TraceClass& trace) {
  trace
      .def(
          "select",
          [](const Trace& self, const py::object& rows) { return selected(self, rows_from_python(self, rows)); },
          "rows"_a,
          "The trace of some rows: a bool mask of len(trace), or row numbers in the order wanted, each once. "
          "Dependencies on other rows are left out; `left_out_dependencies` of the result says how many.")
      .def(
          "contract",
          [](const Trace& self, const py::object& rows) {
            const std::vector<NodeIndex> kept = rows_from_python(self, rows);
            const py::gil_scoped_release release;
            return bound(contract(self, kept));
          },
          "rows"_a,
          "The trace of some rows, given as for `select`, in which dependencies reach through the other rows: a kept "
          "node is reached from another exactly if it was before. DependencyError for a cycle.")
      .def(
          "subgraph",
          [](const Trace& self, const py::object& ids) { return selected(self, rows_of_python_ids(self, ids)); },
          "ids"_a, "The trace of the nodes with these ids, in this order. KeyError if one is absent.")
      .def(
          "mask",
          [](const Trace& self, const py::object& types, std::optional<std::uint64_t> start,
             std::optional<std::uint64_t> end, const py::object& pg) {
            std::vector<std::uint8_t> mask(self.size(), 0);
            for (const NodeIndex row : filtered_rows(self, types, start, end, pg)) {
              mask[row] = 1;
            }
            return take(std::move(mask)).attr("view")("bool");
          },
          py::kw_only(), "types"_a = py::none(), "start"_a = py::none(), "end"_a = py::none(), "pg"_a = py::none(),
          "Bool array by row: which nodes meet all conditions. See `filter`.")
      .def(
          "filter",
          [](const Trace& self, const py::object& types, std::optional<std::uint64_t> start,
             std::optional<std::uint64_t> end,
             const py::object& pg) { return selected(self, filtered_rows(self, types, start, end, pg)); },
          py::kw_only(), "types"_a = py::none(), "start"_a = py::none(), "end"_a = py::none(), "pg"_a = py::none(),
          "The trace of the nodes that meet all conditions. `types` is a NodeType, number or schema name, or several; "
          "`start` and `end` are ns: nodes that run within [start, end) at some time, a node without times counts as "
          "0; `pg` is a process group name or several.")
      .def_property_readonly("left_out_dependencies", &left_out_dependencies,
                             "How many dependencies `select` left out when it made this trace.");
}

std::string collective_name(std::optional<std::int64_t> comm_type) {
  if (!comm_type) {
    return "no comm_type";
  }
  const bool fits = *comm_type >= 0 && *comm_type <= static_cast<std::int64_t>(CollectiveType::barrier);
  return fits ? to_string(static_cast<CollectiveType>(*comm_type)) : "COLLECTIVE_TYPE_" + std::to_string(*comm_type);
}

py::dict totals_by_type(const TraceStats& stats) {
  py::dict totals;
  for (const TypeTotals& one : stats.types) {
    totals[py::str(to_string(one.type))] = static_cast<const NodeTotals&>(one);
  }
  return totals;
}

py::dict totals_by_collective(const TraceStats& stats) {
  py::dict totals;
  for (const CollectiveTotals& one : stats.collectives) {
    totals[py::str(collective_name(one.comm_type))] = static_cast<const NodeTotals&>(one);
  }
  return totals;
}

/// The statistics with the trace that their rows and strings are of.
struct StatsView {
  TracePtr trace;
  TraceStats stats;
};

py::dict totals_by_group(const StatsView& self) {
  py::dict groups;
  for (const GroupTotals& one : self.stats.groups) {
    const py::object name = one.pg_name ? py::object(text(self.trace->string(*one.pg_name))) : py::none();
    if (!groups.contains(name)) {
      groups[name] = py::dict();
    }
    const std::string kind = one.type == NodeType::comm_coll   ? collective_name(one.comm_type)
                             : one.type == NodeType::comm_send ? "SEND"
                                                               : "RECV";
    groups[name][py::str(kind)] = static_cast<const NodeTotals&>(one);
  }
  return groups;
}

template <class Member>
auto of_shape(Member member) {
  return [member](const StatsView& self) {
    return self.stats.shape ? std::optional(*self.stats.shape.*member) : std::nullopt;
  };
}

py::object critical_path(const StatsView& self) {
  if (!self.stats.shape) {
    return py::none();
  }
  std::vector<NodeId> ids;
  ids.reserve(self.stats.shape->critical_path.size());
  for (const NodeIndex row : self.stats.shape->critical_path) {
    ids.push_back(self.trace->ids()[row]);
  }
  return take(std::move(ids));
}

py::object levels(const StatsView& self) {
  return self.stats.shape ? py::object(take(self.stats.shape->levels)) : py::none();
}

template <class Member>
auto of_stats(Member member) {
  return [member](const StatsView& self) { return self.stats.*member; };
}

void bind_stats(py::module_& module, TraceClass& trace) {
  py::class_<NodeTotals>(module, "NodeTotals", "Sums over some nodes.")
      .def_readonly("nodes", &NodeTotals::nodes, "How many.")
      .def_readonly("bytes", &NodeTotals::bytes, "Sum of comm_size.")
      .def_readonly("duration_ns", &NodeTotals::duration_ns, "Sum of durations.")
      .def("__repr__", [](const NodeTotals& self) {
        return "<" + std::to_string(self.nodes) + " nodes, " + std::to_string(self.bytes) + " bytes, " +
               std::to_string(self.duration_ns) + " ns>";
      });
  py::class_<StatsView>(module, "TraceStats", "Counts, sums and the shape of the graph of a trace.")
      .def_property_readonly("nodes", of_stats(&TraceStats::nodes))
      .def_property_readonly("data_deps", of_stats(&TraceStats::data_deps))
      .def_property_readonly("ctrl_deps", of_stats(&TraceStats::ctrl_deps))
      .def_property_readonly(
          "types", [](const StatsView& self) { return totals_by_type(self.stats); }, "NodeTotals by schema name.")
      .def_property_readonly(
          "collectives", [](const StatsView& self) { return totals_by_collective(self.stats); },
          "NodeTotals of the COMM_COLL_NODEs by schema name of their comm_type.")
      .def_property_readonly("groups", &totals_by_group,
                             "NodeTotals of communication by process group name (None where there is none), and in it "
                             "by collective, SEND or RECV.")
      .def_property_readonly("cpu", of_stats(&TraceStats::cpu), "Nodes whose is_cpu_op is true.")
      .def_property_readonly("device", of_stats(&TraceStats::device), "Nodes whose is_cpu_op is false.")
      .def_property_readonly("unplaced", of_stats(&TraceStats::unplaced), "Nodes without is_cpu_op.")
      .def_property_readonly("acyclic", [](const StatsView& self) { return self.stats.shape.has_value(); })
      .def_property_readonly("depth", of_shape(&GraphShape::depth),
                             "Nodes on the longest path by number of nodes; None if there is a cycle.")
      .def_property_readonly("width", of_shape(&GraphShape::width),
                             "Nodes on the widest level; None if there is a cycle. A node's level is the number of "
                             "edges on the longest path to it.")
      .def_property_readonly("widest_level", of_shape(&GraphShape::widest_level), "The first level of that width.")
      .def_property_readonly("critical_path_ns", of_shape(&GraphShape::critical_path_ns),
                             "Largest sum of durations along a path; None if there is a cycle.")
      .def_property_readonly("critical_path", &critical_path,
                             "Ids of a path with that sum, parents first (uint64); None if there is a cycle.")
      .def_property_readonly("levels", &levels,
                             "Level of each row (uint32): edges on the longest path to it; None if there is a cycle.")
      .def("__repr__", [](const StatsView& self) {
        return "<TraceStats of " + std::to_string(self.stats.nodes) + " nodes, depth " +
               (self.stats.shape ? std::to_string(self.stats.shape->depth) : "none: a cycle") + ">";
      });
  trace.def(
      "stats",
      [](const TracePtr& self) {
        return StatsView{self, stats(*self)};
      },
      py::call_guard<py::gil_scoped_release>(), "Counts, sums and the shape of the graph, in one pass.");
}

void bind_concat_and_diff(py::module_& module) {
  module.def(
      "concat",
      [](const std::vector<std::shared_ptr<Trace>>& traces, bool renumber) {
        const std::vector<TracePtr> parts(traces.begin(), traces.end());
        const py::gil_scoped_release release;
        return bound(concat(parts, renumber ? ConcatIds::renumber : ConcatIds::keep));
      },
      "traces"_a, "renumber"_a);
  py::class_<TraceDiff>(module, "TraceDiff", "How two traces differ, by node id. Falsy if they do not.")
      .def_property_readonly("same", &TraceDiff::same)
      .def_readonly("metadata_differs", &TraceDiff::metadata_differs)
      .def_readonly("equal", &TraceDiff::equal, "Number of nodes that are the same in both.")
      .def_readonly("only_in_first", &TraceDiff::only_in_first, "Number of nodes.")
      .def_readonly("only_in_second", &TraceDiff::only_in_second, "Number of nodes.")
      .def_readonly("changed", &TraceDiff::changed, "Number of nodes that are in both and differ.")
      .def_readonly("ids_only_in_first", &TraceDiff::ids_only_in_first, "The first of them.")
      .def_readonly("ids_only_in_second", &TraceDiff::ids_only_in_second, "The first of them.")
      .def_property_readonly(
          "changed_nodes",
          [](const TraceDiff& self) {
            py::dict nodes;
            for (const ChangedNode& node : self.changed_nodes) {
              py::list fields;
              for (const std::string& field : node.fields) {
                fields.append(text(field));
              }
              nodes[py::int_(node.id)] = fields;
            }
            return nodes;
          },
          "Of the first of them the fields that differ, by id.")
      .def_property_readonly(
          "changed_fields",
          [](const TraceDiff& self) {
            py::dict counts;
            for (const auto& [field, count] : self.changed_fields) {
              counts[text(field)] = count;
            }
            return counts;
          },
          "Number of nodes that differ in each field.")
      .def("__bool__", [](const TraceDiff& self) { return !self.same(); })
      .def("__repr__", [](const TraceDiff& self) {
        return "<TraceDiff: " + std::to_string(self.changed) + " changed, " + std::to_string(self.only_in_first) +
               " only in the first, " + std::to_string(self.only_in_second) + " only in the second>";
      });
  module.def(
      "diff", [](const Trace& first, const Trace& second, std::size_t limit) { return diff(first, second, limit); },
      "first"_a, "second"_a, "limit"_a, py::call_guard<py::gil_scoped_release>());
}

py::object frames(const char* function) { return py::module_::import("chakra_core.frames").attr(function); }

void bind_frames(TraceClass& trace) {
  trace
      .def(
          "to_pandas", [](const py::object& self) { return frames("to_pandas")(self); },
          "Columns as a pandas DataFrame; see `chakra_core.frames.to_pandas`.")
      .def(
          "to_networkx", [](const py::object& self) { return frames("to_networkx")(self); },
          "The graph as a networkx MultiDiGraph; see `chakra_core.frames.to_networkx`.")
      .def(
          "to_arrow", [](const py::object& self) { return frames("to_arrow")(self); },
          "Columns as a pyarrow Table; see `chakra_core.frames.to_arrow`.")
      .def(
          "to_parquet",
          [](const py::object& self, const py::object& path, const py::kwargs& options) {
            frames("to_parquet")(self, path, **options);
          },
          "path"_a, "Columns as a Parquet file; see `chakra_core.frames.to_parquet`.");
}

}  // namespace

void bind_trace_ops(py::module_& module) {
  auto trace = py::reinterpret_borrow<TraceClass>(module.attr("Trace"));
  bind_selection(trace);
  bind_stats(module, trace);
  bind_concat_and_diff(module);
  bind_frames(trace);
}

}  // namespace chakra::bindings
