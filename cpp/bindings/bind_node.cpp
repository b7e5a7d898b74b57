// SPDX-License-Identifier: MIT
#include <optional>

#include <pybind11/stl.h>

#include "arrays.hpp"
#include "attribute_values.hpp"
#include "chakra_core/errors.hpp"
#include "node.hpp"
#include "trace/trace_storage.hpp"

namespace py = pybind11;

namespace chakra::bindings {

namespace {

py::array_t<NodeId> ids_of(const Trace& trace, std::span<const NodeIndex> rows) {
  std::vector<NodeId> ids;
  ids.reserve(rows.size());
  for (const NodeIndex row : rows) {
    ids.push_back(trace.ids()[row]);
  }
  return take(std::move(ids));
}

/// numpy.ma.MaskedArray from values and a mask that is true where they are absent.
py::object masked(py::object values, py::object mask) {
  return py::module_::import("numpy").attr("ma").attr("MaskedArray")(std::move(values), std::move(mask));
}

template <class Wide, class Value>
py::object masked_column(const AttributeColumn<Value>& column, std::size_t size) {
  std::vector<Wide> values(size, 0);
  std::vector<std::uint8_t> absent(size, 1);
  const auto packed = column.values();
  std::size_t next = 0;
  for (std::size_t row = 0; row < size && next < packed.size(); ++row) {
    if (column.has(static_cast<NodeIndex>(row))) {
      values[row] = static_cast<Wide>(packed[next++]);
      absent[row] = 0;
    }
  }
  return masked(take(std::move(values)), take(std::move(absent)).attr("view")("bool"));
}

py::object masked_strings(const AttributeColumn<std::uint32_t>& column, const Trace& trace) {
  py::list values(trace.size());
  std::vector<std::uint8_t> absent(trace.size(), 1);
  for (NodeIndex row = 0; row < trace.size(); ++row) {
    const auto string = column.get(row);
    values[row] = string ? py::object(text(trace.string(*string))) : py::none();
    absent[row] = string ? 0 : 1;
  }
  return masked(py::module_::import("numpy").attr("array")(values, py::dtype("O")),
                take(std::move(absent)).attr("view")("bool"));
}

py::object masked_flags(const AttributeColumn<std::uint8_t>& column, std::size_t size) {
  const py::object array = masked_column<std::uint8_t>(column, size);
  return array.attr("view")("bool");
}

/// The numpy type that holds every value of the alternatives seen, or object.
py::dtype common_dtype(const std::vector<Attribute>& found) {
  bool same = true;
  for (const Attribute& attribute : found) {
    same = same && attribute.value.index() == found.front().value.index();
  }
  if (found.empty() || !same) {
    return py::dtype("O");
  }
  switch (found.front().value.index()) {
    case 1:
      return py::dtype("int64");
    case 2:
      return py::dtype("uint64");
    case 3:
      return py::dtype("float64");
    case 4:
      return py::dtype("bool");
    default:
      return py::dtype("O");
  }
}

/// Any attribute: decoded from the records of all rows.
py::object masked_attribute(const Trace& trace, const std::string& name) {
  std::vector<Attribute> found;
  std::vector<NodeIndex> rows;
  {
    const py::gil_scoped_release release;
    for (NodeIndex row = 0; row < trace.size(); ++row) {
      if (auto attribute = trace.attribute(row, name); attribute && attribute->kind != AttributeKind::none) {
        found.push_back(std::move(*attribute));
        rows.push_back(row);
      }
    }
  }
  const py::dtype type = common_dtype(found);
  const auto numpy = py::module_::import("numpy");
  py::object values = numpy.attr("zeros")(trace.size(), type);
  std::vector<std::uint8_t> absent(trace.size(), 1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    values[py::int_(rows[i])] = to_python(found[i]);
    absent[rows[i]] = 0;
  }
  return masked(values, take(std::move(absent)).attr("view")("bool"));
}

}  // namespace

py::dict attribute_dict(const std::vector<Attribute>& attributes) {
  py::dict values;
  for (const Attribute& attribute : attributes) {
    const py::str name = text(attribute.name);
    if (!values.contains(name)) {
      values[name] = to_python(attribute);
    }
  }
  return values;
}

py::object attribute_column(const Trace& trace, const std::string& name) {
  for (std::size_t i = 0; i < integer_attribute_count; ++i) {
    const auto attribute = static_cast<IntegerAttribute>(i);
    if (name == to_string(attribute)) {
      return masked_column<std::int64_t>(trace.column(attribute), trace.size());
    }
  }
  if (name == "is_cpu_op") {
    return masked_flags(trace.is_cpu_op(), trace.size());
  }
  if (name == "pg_name") {
    return masked_strings(trace.pg_name(), trace);
  }
  return masked_attribute(trace, name);
}

py::object pg_ids(const Trace& trace) { return masked_column<std::uint32_t>(trace.pg_name(), trace.size()); }

DependencyKind dependency_kind(const std::string& name) {
  if (name == "both") {
    return DependencyKind::both;
  }
  if (name == "data") {
    return DependencyKind::data;
  }
  if (name == "control") {
    return DependencyKind::control;
  }
  throw py::value_error("deps must be \"data\", \"control\" or \"both\", not \"" + name + "\"");
}

void bind_node(py::module_& module) {
  py::class_<Node>(module, "Node", "One node of a trace. Cold parts are decoded when asked for.")
      .def_readonly("row", &Node::row, "Row in the trace; of a node of a stream, in the block that it was read in.")
      .def_property_readonly("id", [](const Node& self) { return self.trace->ids()[self.row]; })
      .def_property_readonly("name", [](const Node& self) { return text(self.trace->name(self.row)); })
      .def_property_readonly(
          "type",
          [](const Node& self) -> py::object {
            const NodeType type = self.trace->types()[self.row];
            const auto number = static_cast<std::int32_t>(type);
            if (number < 0 || number > static_cast<std::int32_t>(NodeType::comm_coll)) {
              return py::int_(number);
            }
            return py::cast(type);
          },
          "NodeType, or a plain int for a type that the schema does not name.")
      .def_property_readonly("start_ns", [](const Node& self) { return self.trace->start_ns()[self.row]; })
      .def_property_readonly("duration_ns", [](const Node& self) { return self.trace->duration_ns()[self.row]; })
      .def_property_readonly(
          "data_deps", [](const Node& self) { return take(self.trace->parent_ids(self.row, DependencyKind::data)); },
          "Ids of the data parents, in the order of the file.")
      .def_property_readonly(
          "ctrl_deps", [](const Node& self) { return take(self.trace->parent_ids(self.row, DependencyKind::control)); },
          "Ids of the control parents, in the order of the file.")
      .def_property_readonly(
          "children",
          [](const Node& self) {
            if (!self.trace->storage().apart_data.offsets.empty()) {
              throw ChakraError("node " + std::to_string(self.trace->ids()[self.row]) +
                                " comes from a stream, which does not know the children of its nodes");
            }
            return ids_of(*self.trace, self.trace->children()[self.row]);
          },
          "Ids of the nodes that wait for this one. A node of a stream does not know them: ChakraError.")
      .def_property_readonly(
          "attributes", [](const Node& self) { return self.trace->attributes(self.row); },
          "All attributes in the order of the record.")
      .def_property_readonly(
          "attrs", [](const Node& self) { return attribute_dict(self.trace->attributes(self.row)); },
          "Values by name; of several attributes with one name the first.")
      .def_property_readonly("inputs", [](const Node& self) { return self.trace->inputs(self.row); })
      .def_property_readonly("outputs", [](const Node& self) { return self.trace->outputs(self.row); })
      .def_property_readonly(
          "record", [](const Node& self) { return py::bytes(self.trace->record(self.row)); },
          "The node as a serialised protobuf `Node` message.")
      .def(
          "to_proto",
          [](const Node& self) {
            const auto message = py::module_::import("chakra_core.proto").attr("Node");
            return py::object(message.attr("FromString")(py::bytes(self.trace->record(self.row))));
          },
          "The node as a message of the class `chakra_core.proto.Node`.")
      .def("__repr__", [](const Node& self) {
        return "<Node " + std::to_string(self.trace->ids()[self.row]) + " " +
               std::string(py::repr(text(self.trace->name(self.row)))) + " " +
               to_string(self.trace->types()[self.row]) + ">";
      });
}

}  // namespace chakra::bindings
