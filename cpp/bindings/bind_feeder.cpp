// SPDX-License-Identifier: MIT
#include <memory>
#include <string>

#include <pybind11/stl.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "chakra_core/feeder.hpp"
#include "node.hpp"

namespace py = pybind11;
using namespace pybind11::literals;

namespace chakra::bindings {

namespace {

/// A Feeder together with the trace that its nodes refer to.
struct PyFeeder {
  TracePtr trace;
  Feeder feeder;
};

NodeIndex row_of(const PyFeeder& self, const py::object& node) {
  if (py::isinstance<Node>(node)) {
    const auto& given = node.cast<const Node&>();
    if (given.trace != self.trace) {
      throw py::value_error("the node belongs to another trace than this feeder");
    }
    return given.row;
  }
  const auto id = node.cast<NodeId>();
  if (const auto row = self.trace->find(id)) {
    return *row;
  }
  throw py::key_error("no node has the id " + std::to_string(id));
}

std::optional<Node> as_node(const PyFeeder& self, std::optional<NodeIndex> row) {
  return row ? std::optional(Node{self.trace, *row}) : std::nullopt;
}

}  // namespace

void bind_feeder(py::module_& module) {
  py::class_<PyFeeder>(
      module, "Feeder",
      "Hands out the nodes of a trace in dependency order, among the ready ones the smallest id first.")
      .def(py::init([](const TracePtr& trace, const std::string& deps) {
             const DependencyKind kind = dependency_kind(deps);
             const py::gil_scoped_release release;
             return std::make_unique<PyFeeder>(PyFeeder{trace, Feeder(trace, kind)});
           }),
           "trace"_a, py::kw_only(), "deps"_a = "both")
      .def(
          "pop", [](PyFeeder& self) { return as_node(self, self.feeder.pop()); },
          "Takes the ready node with the smallest id; None if none is ready now. Raises DependencyError when nodes "
          "remain that can never become ready.")
      .def(
          "peek", [](const PyFeeder& self) { return as_node(self, self.feeder.peek()); },
          "The node that pop() would take.")
      .def(
          "complete", [](PyFeeder& self, const py::object& node) { self.feeder.complete(row_of(self, node)); },
          "node"_a, "Marks a taken node (a Node or an id) complete.")
      .def(
          "push_back", [](PyFeeder& self, const py::object& node) { self.feeder.push_back(row_of(self, node)); },
          "node"_a, "Returns a taken node (a Node or an id) to the ready set.")
      .def_property_readonly(
          "ready", [](const PyFeeder& self) { return self.feeder.ready(); },
          "Number of nodes that pop() could take now.")
      .def_property_readonly(
          "in_flight", [](const PyFeeder& self) { return self.feeder.in_flight(); },
          "Number of nodes taken and not complete.")
      .def_property_readonly(
          "remaining", [](const PyFeeder& self) { return self.feeder.remaining(); }, "Number of nodes not complete.")
      .def_property_readonly("done", [](const PyFeeder& self) { return self.feeder.done(); })
      .def_property_readonly(
          "ready_ids",
          [](const PyFeeder& self) {
            std::vector<NodeId> ids;
            for (const NodeIndex row : self.feeder.ready_nodes()) {
              ids.push_back(self.trace->ids()[row]);
            }
            return take(std::move(ids));
          },
          "Ids of all ready nodes, ascending (uint64).")
      .def_property_readonly("trace", [](const PyFeeder& self) { return std::const_pointer_cast<Trace>(self.trace); })
      .def(
          "reset", [](PyFeeder& self) { self.feeder.reset(); }, "Back to the start.");
}

}  // namespace chakra::bindings
