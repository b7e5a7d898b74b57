// SPDX-License-Identifier: MIT
#include <memory>
#include <string>
#include <utility>

#include <pybind11/native_enum.h>
#include <pybind11/operators.h>
#include <pybind11/stl.h>

#include "arrays.hpp"
#include "attribute_values.hpp"
#include "bindings.hpp"
#include "chakra_core/errors.hpp"
#include "chakra_core/trace.hpp"
#include "chakra_core/trace_builder.hpp"
#include "node.hpp"

namespace py = pybind11;
using namespace pybind11::literals;

namespace chakra::bindings {

namespace {

std::span<const std::int32_t> numbers(std::span<const NodeType> types) {
  // The enum's underlying type is int32, so that the column can be shown to numpy as it is.
  return {reinterpret_cast<const std::int32_t*>(types.data()), types.size()};
}

/// Rows and neighbours, with the trace that owns them.
struct AdjacencyView {
  TracePtr trace;
  Adjacency adjacency;
};

/// The names of all nodes, made into str only when asked for.
struct Names {
  TracePtr trace;
};

NodeIndex checked_row(const Trace& trace, py::ssize_t index) {
  const auto size = static_cast<py::ssize_t>(trace.size());
  const py::ssize_t row = index < 0 ? index + size : index;
  if (row < 0 || row >= size) {
    throw py::index_error("row " + std::to_string(index) + " is not in a trace of " + std::to_string(size) + " nodes");
  }
  return static_cast<NodeIndex>(row);
}

NodeIndex row_of(const Trace& trace, NodeId id) {
  if (const auto row = trace.find(id)) {
    return *row;
  }
  throw py::key_error("no node has the id " + std::to_string(id));
}

py::list all_strings(const Trace& trace) {
  py::list strings;
  for (std::uint32_t id = 0; id < trace.string_count(); ++id) {
    strings.append(text(trace.string(id)));
  }
  return strings;
}

py::list all_names(const Trace& trace) {
  const py::list strings = all_strings(trace);
  py::list names(trace.size());
  for (NodeIndex row = 0; row < trace.size(); ++row) {
    names[row] = strings[trace.name_ids()[row]];
  }
  return names;
}

void bind_enums(py::module_& module) {
  py::native_enum<NodeType>(module, "NodeType", "enum.IntEnum", "Node kinds of the schema.")
      .value("INVALID_NODE", NodeType::invalid)
      .value("METADATA_NODE", NodeType::metadata)
      .value("MEM_LOAD_NODE", NodeType::mem_load)
      .value("MEM_STORE_NODE", NodeType::mem_store)
      .value("COMP_NODE", NodeType::comp)
      .value("COMM_SEND_NODE", NodeType::comm_send)
      .value("COMM_RECV_NODE", NodeType::comm_recv)
      .value("COMM_COLL_NODE", NodeType::comm_coll)
      .finalize();
  py::native_enum<CollectiveType>(module, "CollectiveType", "enum.IntEnum", "Collective kinds (attribute `comm_type`).")
      .value("ALL_REDUCE", CollectiveType::all_reduce)
      .value("REDUCE", CollectiveType::reduce)
      .value("ALL_GATHER", CollectiveType::all_gather)
      .value("GATHER", CollectiveType::gather)
      .value("SCATTER", CollectiveType::scatter)
      .value("BROADCAST", CollectiveType::broadcast)
      .value("ALL_TO_ALL", CollectiveType::all_to_all)
      .value("REDUCE_SCATTER", CollectiveType::reduce_scatter)
      .value("REDUCE_SCATTER_BLOCK", CollectiveType::reduce_scatter_block)
      .value("BARRIER", CollectiveType::barrier)
      .finalize();
}

void bind_reports(py::module_& module) {
  py::class_<Problem>(module, "Problem", "One thing that is wrong with a trace.")
      .def_property_readonly("kind", [](const Problem& problem) { return std::string(to_string(problem.kind)); })
      .def_property_readonly(
          "severity",
          [](const Problem& problem) { return severity(problem.kind) == Severity::error ? "error" : "warning"; })
      .def_property_readonly("message", [](const Problem& problem) { return text(problem.message); })
      .def_readonly("nodes", &Problem::nodes, "Ids of the nodes concerned; for a cycle its members in order.")
      .def_readonly("record", &Problem::record)
      .def_readonly("offset", &Problem::offset)
      .def("__repr__", [](const Problem& problem) { return "<Problem " + std::string(to_string(problem.kind)) + ">"; });
  py::class_<Report>(module, "Report", "Problems of a trace, counted by kind.")
      .def_property_readonly("problems", &Report::problems)
      .def_property_readonly("errors", &Report::errors, "Number of problems that make the trace unusable for feeding.")
      .def_property_readonly("warnings", &Report::warnings, "Number of the others.")
      .def_property_readonly("ok", &Report::ok, "No errors.")
      .def_property_readonly(
          "counts",
          [](const Report& report) {
            py::dict counts;
            for (std::size_t i = 0; i < problem_kind_count; ++i) {
              const auto kind = static_cast<ProblemKind>(i);
              if (report.count(kind) != 0) {
                counts[py::str(std::string(to_string(kind)))] = report.count(kind);
              }
            }
            return counts;
          },
          "Number of problems by kind, kinds without any left out.")
      .def("__bool__", &Report::ok)
      .def("__len__", [](const Report& report) { return report.errors() + report.warnings(); })
      .def("__repr__", [](const Report& report) {
        return "<Report " + std::to_string(report.errors()) + " errors, " + std::to_string(report.warnings()) +
               " warnings>";
      });
}

void bind_values(py::module_& module) {
  py::class_<Attribute>(module, "Attribute", "A named value together with the arm of the oneof that carries it.")
      .def(py::init([](const std::string& name, const py::object& value, const std::string& kind,
                       const std::string& doc_string) { return from_python(name, value, kind, doc_string); }),
           "name"_a, "value"_a = py::none(), "kind"_a = "", "doc_string"_a = "")
      .def_readonly("name", &Attribute::name)
      .def_property_readonly("value", [](const Attribute& attribute) { return to_python(attribute); })
      .def_property_readonly("kind", [](const Attribute& attribute) { return kind_name(attribute.kind); })
      .def_readonly("doc_string", &Attribute::doc_string)
      .def(py::self == py::self)
      .def("__repr__", [](const Attribute& attribute) {
        return "Attribute(" + std::string(py::repr(text(attribute.name))) + ", " +
               std::string(py::repr(to_python(attribute))) + ", kind='" + kind_name(attribute.kind) + "')";
      });
  py::class_<IoInfo>(module, "IoInfo", "Values, shapes and types of inputs or outputs, as strings.")
      .def(py::init([](std::string values, std::string shapes, std::string types) {
             return IoInfo{std::move(values), std::move(shapes), std::move(types)};
           }),
           "values"_a = "", "shapes"_a = "", "types"_a = "")
      .def_property_readonly("values", [](const IoInfo& info) { return text(info.values); })
      .def_property_readonly("shapes", [](const IoInfo& info) { return text(info.shapes); })
      .def_property_readonly("types", [](const IoInfo& info) { return text(info.types); })
      .def(py::self == py::self);
  py::class_<Metadata>(module, "Metadata", "Schema version and attributes of a whole file.")
      .def(py::init([](std::string version, const py::object& attrs) {
             return Metadata{std::move(version), attributes_from_python(attrs)};
           }),
           "version"_a = "0.0.4", "attrs"_a = py::none())
      .def_property_readonly("version", [](const Metadata& metadata) { return text(metadata.version); })
      .def_property_readonly("attributes", [](const Metadata& metadata) { return metadata.attributes; })
      .def_property_readonly("attrs", [](const Metadata& metadata) { return attribute_dict(metadata.attributes); });
}

void bind_views(py::module_& module) {
  py::class_<AdjacencyView>(
      module, "Adjacency",
      "Rows and their neighbours in compressed sparse row form: neighbours of row r are "
      "indices[offsets[r]:offsets[r + 1]], themselves row numbers. `adjacency[row]` is that slice.")
      .def_property_readonly(
          "offsets",
          [](const py::object& self) { return view(self.cast<const AdjacencyView&>().adjacency.offsets, self); },
          "uint64, one more than there are rows.")
      .def_property_readonly(
          "indices",
          [](const py::object& self) { return view(self.cast<const AdjacencyView&>().adjacency.indices, self); },
          "uint32 row numbers.")
      .def("__len__", [](const AdjacencyView& self) { return self.trace->size(); })
      .def("__getitem__", [](const py::object& self, py::ssize_t index) {
        const auto& held = self.cast<const AdjacencyView&>();
        return view(held.adjacency[checked_row(*held.trace, index)], self);
      });
  py::class_<Names>(module, "Names", "Names of all nodes by row: a sequence of str.")
      .def("__len__", [](const Names& names) { return names.trace->size(); })
      .def("__getitem__", [](const Names& names,
                             py::ssize_t index) { return text(names.trace->name(checked_row(*names.trace, index))); })
      .def("__getitem__",
           [](const Names& names, const py::slice& slice) {
             // An object, not the accessor that [] gives: the accessor would outlive the list.
             return py::object(all_names(*names.trace)[slice]);
           })
      .def("__iter__", [](const Names& names) { return py::iter(all_names(*names.trace)); })
      .def(
          "to_list", [](const Names& names) { return all_names(*names.trace); }, "All names as a list of str.");
}

AdjacencyView children_view(const TracePtr& trace, const std::string& deps) {
  const DependencyKind kind = dependency_kind(deps);
  const py::gil_scoped_release release;
  return {trace, trace->children(kind)};
}

void bind_trace_class(py::module_& module) {
  py::class_<Trace, std::shared_ptr<Trace>> trace(module, "Trace", "An immutable execution trace in columns.");
  // Bound as Trace, though the core hands out const pointers: every method is const.
  trace.def_property_readonly("num_nodes", &Trace::size, "Number of nodes.")
      .def("__len__", &Trace::size)
      .def_property_readonly(
          "ids", [](const py::object& self) { return view(self.cast<const Trace&>().ids(), self); },
          "Node ids by row (uint64, read-only view).")
      .def_property_readonly(
          "types", [](const py::object& self) { return view(numbers(self.cast<const Trace&>().types()), self); },
          "Node types by row (int32, read-only view); compare with `NodeType`.")
      .def_property_readonly(
          "start_ns", [](const py::object& self) { return view(self.cast<const Trace&>().start_ns(), self); },
          "Start times in ns by row (uint64, read-only view); 0 where the file has none.")
      .def_property_readonly(
          "duration_ns", [](const py::object& self) { return view(self.cast<const Trace&>().duration_ns(), self); },
          "Durations in ns by row (uint64, read-only view); 0 where the file has none.")
      .def_property_readonly(
          "names", [](const TracePtr& self) { return Names{self}; }, "Names by row.")
      .def_property_readonly(
          "data_deps",
          [](const TracePtr& self) {
            return AdjacencyView{self, self->data_deps()};
          },
          "Data parents of each row, in the order of the file.")
      .def_property_readonly(
          "ctrl_deps",
          [](const TracePtr& self) {
            return AdjacencyView{self, self->ctrl_deps()};
          },
          "Control parents of each row, in the order of the file.")
      .def_property_readonly(
          "children", [](const TracePtr& self) { return children_view(self, "both"); },
          "Rows that name a row as data or control parent, ascending, each once.")
      .def_property_readonly(
          "strings", [](const Trace& self) { return all_strings(self); },
          "All different names, process group names and patterns of involved dimensions (list of str).")
      .def_property_readonly(
          "name_ids", [](const py::object& self) { return view(self.cast<const Trace&>().name_ids(), self); },
          "Names by row as positions in `strings` (uint32, read-only view).")
      .def_property_readonly("pg_ids", &pg_ids,
                             "Process group names by row as positions in `strings`: a masked array, masked where there "
                             "is none.")
      .def(
          "row", [](const Trace& self, NodeId id) { return row_of(self, id); }, "id"_a,
          "Row of a node id. KeyError if absent.")
      .def("__contains__", [](const Trace& self, NodeId id) { return self.find(id).has_value(); })
      .def(
          "node",
          [](const TracePtr& self, NodeId id) {
            return Node{self, row_of(*self, id)};
          },
          "id"_a, "The node with this id. KeyError if absent.")
      .def(
          "at",
          [](const TracePtr& self, py::ssize_t row) {
            return Node{self, checked_row(*self, row)};
          },
          "row"_a, "The node of this row.")
      .def("attr", &attribute_column, "name"_a,
           "Values of an attribute by row: a masked array, masked where the attribute is absent.")
      .def_property_readonly("metadata", &Trace::metadata, py::return_value_policy::reference_internal)
      .def_property_readonly(
          "source", [](const Trace& self) { return file_name(self.source()); }, "File that the trace came from, or ''.")
      .def_property_readonly("load_report", &Trace::load_report, py::return_value_policy::reference_internal,
                             "What reading had to drop; empty after a strict load.")
      .def_property_readonly("memory_bytes", &Trace::memory_bytes,
                             "Anonymous memory held; a mapped file is not counted.")
      .def(
          "validate", [](const Trace& self) { return validate(self); }, py::call_guard<py::gil_scoped_release>(),
          "Every problem of the trace.")
      .def(
          "find_cycles", [](const Trace& self) { return find_cycles(self); }, py::call_guard<py::gil_scoped_release>(),
          "One minimal cycle of ids for each knot of nodes that wait for each other.")
      .def("__repr__", [](const Trace& self) {
        return text("<Trace of " + std::to_string(self.size()) + " nodes" +
                    (self.source().empty() ? "" : " from '" + self.source() + "'") + ">");
      });
}

std::vector<NodeId> ids_from_python(const py::object& ids) {
  if (ids.is_none()) {
    return {};
  }
  return py::cast<std::vector<NodeId>>(ids);
}

void add_node(TraceBuilder& builder, NodeId id, const std::string& name, const py::object& type,
              const py::object& data_deps, const py::object& ctrl_deps, std::optional<std::uint64_t> start_ns,
              std::optional<std::uint64_t> duration_ns, const py::object& attrs, const IoInfo* inputs,
              const IoInfo* outputs) {
  const auto data = ids_from_python(data_deps);
  const auto ctrl = ids_from_python(ctrl_deps);
  const auto attributes = attributes_from_python(attrs);
  builder.add_node({.id = id,
                    .name = name,
                    .type = node_type_from_python(type),
                    .data_deps = data,
                    .ctrl_deps = ctrl,
                    .start_ns = start_ns.value_or(0),
                    .duration_ns = duration_ns.value_or(0),
                    .attributes = attributes,
                    .inputs = inputs,
                    .outputs = outputs});
}

void bind_builder(py::module_& module) {
  py::class_<TraceBuilder>(module, "TraceBuilder", "Builds a Trace node by node; dependencies may name later nodes.")
      .def(py::init([](const Metadata* metadata) {
             auto builder = std::make_unique<TraceBuilder>();
             if (metadata != nullptr) {
               builder->set_metadata(*metadata);
             }
             return builder;
           }),
           "metadata"_a = nullptr)
      .def("add_node", &add_node, py::kw_only(), "id"_a, "name"_a = "", "type"_a = "COMP_NODE",
           "data_deps"_a = py::tuple(), "ctrl_deps"_a = py::tuple(), "start_ns"_a = py::none(),
           "duration_ns"_a = py::none(), "attrs"_a = py::none(), "inputs"_a = nullptr, "outputs"_a = nullptr,
           "Adds a node. `type` is a NodeType, its number or its schema name; times are in ns; `attrs` is a dict of "
           "name to value, or a sequence of Attribute.")
      .def(
          "add_record",
          [](TraceBuilder& self, const py::bytes& message) { self.add_record(std::string_view(message)); }, "message"_a,
          "Adds a serialised protobuf `Node` message; its bytes are kept as they are.")
      .def(
          "add_proto",
          [](TraceBuilder& self, const py::object& message) {
            self.add_record(py::cast<std::string>(message.attr("SerializeToString")()));
          },
          "message"_a, "Adds a `Node` message of `chakra_core.proto` or of a generated et_def_pb2.")
      .def("__len__", &TraceBuilder::size)
      .def(
          "build",
          [](TraceBuilder& self) {
            // Taken while Python waits: another thread may go on with the empty builder meanwhile.
            TraceBuilder taken = std::exchange(self, TraceBuilder());
            const py::gil_scoped_release release;
            return std::const_pointer_cast<Trace>(taken.build());
          },
          "The finished Trace; the builder is empty afterwards. Raises FormatError for a duplicate id, "
          "DependencyError for a missing parent.");
}

}  // namespace

void bind_trace(py::module_& module) {
  bind_enums(module);
  bind_reports(module);
  bind_values(module);
  bind_views(module);
  bind_node(module);
  bind_trace_class(module);
  bind_builder(module);
}

}  // namespace chakra::bindings
