// SPDX-License-Identifier: MIT
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "chakra_core/feeder.hpp"
#include "issue_order.hpp"
#include "node.hpp"
#include "py_feeder.hpp"

namespace py = pybind11;
using namespace pybind11::literals;

namespace chakra::bindings {

namespace {

/// An id, from a Node or an int.
NodeId id_from_python(const PyFeeder& self, const py::object& node) {
  if (!py::isinstance<Node>(node)) {
    return node.cast<NodeId>();
  }
  const auto& given = node.cast<const Node&>();
  if (self.trace() && given.trace != self.trace()) {
    throw py::value_error("the node belongs to another trace than this feeder");
  }
  return given.trace->ids()[given.row];
}

std::optional<Node> pop(PyFeeder& self) {
  return self.with_reading([&](Feeder& feeder) { return self.node_at(feeder.pop(), feeder); });
}

/// Node after node, `most` at most; calls `taken(row)` before each is completed.
template <class Taken>
void drain(Feeder& feeder, std::size_t most, Taken&& taken) {
  for (std::size_t count = 0; count < most; ++count) {
    if (count > 0 && feeder.ready() == 0) {
      return;  // an error, if there is one, is for the next call: this one has something to give
    }
    const auto row = feeder.pop();
    if (!row) {
      return;
    }
    taken(*row);
    feeder.complete(*row);
  }
}

py::array_t<NodeId> drain_ids(PyFeeder& self, std::optional<std::size_t> most) {
  return take(self.with_long([&](Feeder& feeder) {
    std::vector<NodeId> ids;
    if (feeder.is_stream()) {
      drain(feeder, most.value_or(Feeder::all), [&](NodeIndex row) { ids.push_back(feeder.id(row)); });
    } else {
      // Ids of rows all over a shuffled file are found sooner all together.
      std::vector<NodeIndex> rows;
      drain(feeder, most.value_or(Feeder::all), [&](NodeIndex row) { rows.push_back(row); });
      self.ids_of(feeder, rows, ids);
    }
    return ids;
  }));
}

/// Iterates over the nodes of a feeder, and completes each when the next is asked for.
struct FeederRun {
  py::object owner;  ///< of the feeder
  PyFeeder* feeder;
  std::optional<NodeId> current;

  Node next() {
    auto node = feeder->with_reading([this](Feeder& from) {
      if (current) {
        from.complete(row_of(from, *std::exchange(current, std::nullopt)));
      }
      const auto row = from.pop();
      if (row) {
        current = from.id(*row);
      }
      return feeder->node_at(row, from);
    });
    if (!node) {
      throw py::stop_iteration();
    }
    return std::move(*node);
  }
};

std::unique_ptr<PyFeeder> make_feeder(const py::object& source, const std::string& deps, const py::object& order,
                                      std::optional<std::size_t> window, bool in_issue_order, unsigned threads) {
  const DependencyKind kind = dependency_kind(deps);
  if (window) {
    if (*window == 0) {
      throw py::value_error("window must be at least 1");
    }
    if (py::isinstance<Trace>(source)) {
      throw py::value_error("window is for a path, which is then streamed; a Trace is in memory already");
    }
    if (!py::isinstance<py::str>(order)) {
      throw py::value_error("order: a stream needs an order by name; keys need the whole trace");
    }
    const FeederOptions options{kind, issue_order(order, 0)};
    const StreamOptions reading{*window, in_issue_order, threads};
    const auto path = source.cast<std::filesystem::path>();
    const py::gil_scoped_release release;
    return std::make_unique<PyFeeder>(nullptr, Feeder::stream(path, options, reading));
  }
  py::object loaded = source;
  if (!py::isinstance<Trace>(source)) {
    loaded = py::module_::import("chakra_core.io").attr("load")(source, "threads"_a = threads);
  }
  const TracePtr trace = loaded.cast<std::shared_ptr<Trace>>();
  const FeederOptions options{kind, issue_order(order, trace->size())};
  const py::gil_scoped_release release;
  return std::make_unique<PyFeeder>(trace, Feeder(trace, options));
}

void bind_blockage(py::module_& module) {
  py::class_<Blockage>(module, "Blockage",
                       "What the nodes of a feeder that are not ready wait for; str() says it in words.")
      .def_readonly("waiting", &Blockage::waiting, "Number of nodes that wait for a parent.")
      .def_property_readonly(
          "nodes",
          [](const Blockage& self) {
            std::vector<std::pair<NodeId, std::vector<NodeId>>> nodes;
            for (const auto& [node, parents] : self.nodes) {
              nodes.emplace_back(node, parents);
            }
            return nodes;
          },
          "The first of them by id, each with the ids of its parents that are not complete.")
      .def_readonly("ready", &Blockage::ready, "Number of nodes that could be taken now.")
      .def_readonly("in_flight", &Blockage::in_flight, "Number of nodes taken and not complete.")
      .def_readonly("flying", &Blockage::flying, "Ids of the first of them.")
      .def_readonly("cycle", &Blockage::cycle,
                    "Ids of a minimal cycle: each waits for the next, the last for the first. Empty if there is none.")
      .def_readonly("missing", &Blockage::missing,
                    "Ids of parents that the file does not have; of a stream, once it was read to its end.")
      .def_property_readonly("is_deadlock", &Blockage::is_deadlock, "Some nodes would wait for ever.")
      .def_readonly("text", &Blockage::text)
      .def("__str__", [](const Blockage& self) { return self.text; })
      .def("__repr__", [](const Blockage& self) { return "<Blockage: " + self.text + ">"; });
}

void bind_statistics(py::module_& module) {
  py::class_<StreamStatistics>(module, "StreamStatistics",
                               "What a stream had to do; all zero for a feeder over a whole trace.")
      .def_readonly("nodes_read", &StreamStatistics::nodes_read)
      .def_readonly("most_held", &StreamStatistics::most_held, "Nodes read and not complete, at the most.")
      .def_readonly("forward_references", &StreamStatistics::forward_references,
                    "Dependencies on nodes further on in the file.")
      .def_readonly("read_on_for_dependencies", &StreamStatistics::read_on_for_dependencies,
                    "Nodes read beyond the window because none in it was ready, and nothing in flight could change "
                    "that.")
      .def_readonly("read_on_for_order", &StreamStatistics::read_on_for_order,
                    "Nodes read beyond the window because a node further on might have to be issued first.")
      .def("__repr__", [](const StreamStatistics& self) {
        return "<StreamStatistics: " + std::to_string(self.nodes_read) + " nodes read, at most " +
               std::to_string(self.most_held) + " held, " + std::to_string(self.forward_references) +
               " forward references, read on for " + std::to_string(self.read_on_for_dependencies) +
               " (dependencies) and " + std::to_string(self.read_on_for_order) + " (order)>";
      });
}

}  // namespace

void bind_feeder(py::module_& module) {
  bind_blockage(module);
  bind_statistics(module);
  py::class_<FeederRun>(module, "FeederRun", "Iterates over the nodes of a feeder; see Feeder.run().")
      .def("__iter__", [](FeederRun& self) -> FeederRun& { return self; })
      .def("__next__", &FeederRun::next);
  py::class_<PyFeeder> feeder_class(module, "Feeder", R"(Hands out the nodes of a trace in dependency order.

A node is ready when all its parents are complete. Among the ready nodes the first in the issue order comes first;
equal ones come by id.

Args:
    source: a Trace, or what `load` takes; with `window`, a path.
    deps: which dependencies count, "data", "control" or "both".
    order: "id" (smallest first), "start" (earliest), "file" (as in the file), "attr:<name>" (an integer attribute,
        the largest first, nodes without it last; "attr:<name>:smallest" for the smallest first), or a numpy array of
        a key for each row, the smallest first.
    window: nodes to read ahead of a file that is streamed (plain, gzip or zstd) rather than loaded; at least 1. Memory
        is bounded by the window and what is open: nodes in flight, and nodes that wait for nodes further on.
    in_issue_order: of a stream: the file is in the issue order, which saves a pass over it; FormatError if it is
        not.
    threads: that decode; 0 means as many as the machine has cores. The order does not depend on it.

Raises:
    ValueError, TypeError: for arguments that make no sense.
    ChakraError: an attribute that is not an integer.
    FormatError, DependencyError, OSError: as `load` does; of a stream, what is wrong later in the file is raised
        when it is reached.)");
  bind_feeder_batches(feeder_class);
  feeder_class
      .def(py::init(&make_feeder), "source"_a, py::kw_only(), "deps"_a = "both", "order"_a = "id",
           "window"_a = py::none(), "in_issue_order"_a = false, "threads"_a = 0)
      .def("pop", &pop,
           "Takes the first ready node; None if none is ready now. Raises DependencyError when nodes remain that can "
           "never become ready.")
      .def(
          "peek",
          [](PyFeeder& self) {
            return self.with_reading([&](Feeder& feeder) { return self.node_at(feeder.peek(), feeder); });
          },
          "The node that pop() would take.")
      .def(
          "take",
          [](PyFeeder& self, const py::object& node) {
            const NodeId id = id_from_python(self, node);
            self.with_reading([&](Feeder& feeder) { feeder.take(row_of(feeder, id)); });
          },
          "node"_a, "Takes this ready node (a Node or an id), whatever its place in the order.")
      .def(
          "complete",
          [](PyFeeder& self, const py::object& node) {
            const NodeId id = id_from_python(self, node);
            self.with_reading([&](Feeder& feeder) { feeder.complete(row_of(feeder, id)); });
          },
          "node"_a, "Marks a taken node (a Node or an id) complete.")
      .def(
          "push_back",
          [](PyFeeder& self, const py::object& node) {
            const NodeId id = id_from_python(self, node);
            self.with([&](Feeder& feeder) { feeder.push_back(row_of(feeder, id)); });
          },
          "node"_a, "Returns a taken node (a Node or an id) to the ready set.")
      .def("drain", &drain_ids, "max"_a = py::none(),
           "Takes and completes node after node, `max` at most, in native code; their ids in issue order (uint64). "
           "Raises as "
           "pop() when there is no node to begin with.")
      .def(
          "run",
          [](py::object self) {
            auto& feeder = self.cast<PyFeeder&>();
            return FeederRun{std::move(self), &feeder, std::nullopt};
          },
          "Iterates over the nodes in order, and completes each when the next is asked for. A node that the loop is "
          "left "
          "at stays in flight. Ends when no node is ready: when all are complete, or wait for what was taken by hand.")
      .def(
          "node",
          [](PyFeeder& self, NodeId id) {
            return self.with([&](Feeder& feeder) { return *self.node_at(row_of(feeder, id), feeder); });
          },
          "id"_a, "The node with this id; of a stream only while it is read and not complete.")
      .def_property_readonly(
          "ready", [](PyFeeder& self) { return self.with([](Feeder& feeder) { return feeder.ready(); }); },
          "Number of nodes that could be taken now; of a stream, in its window.")
      .def_property_readonly(
          "in_flight", [](PyFeeder& self) { return self.with([](Feeder& feeder) { return feeder.in_flight(); }); },
          "Number of nodes taken and not complete.")
      .def_property_readonly(
          "remaining", [](PyFeeder& self) { return self.with([](Feeder& feeder) { return feeder.remaining(); }); },
          "Number of nodes not complete. A stream that made no pass over its file counts what it has read and, until "
          "it "
          "has seen the end, one more.")
      .def_property_readonly("done",
                             [](PyFeeder& self) { return self.with([](Feeder& feeder) { return feeder.done(); }); })
      .def_property_readonly(
          "ready_ids",
          [](PyFeeder& self) {
            return take(self.with_long([&](Feeder& feeder) {
              std::vector<NodeId> ids;
              self.ids_of(feeder, feeder.ready_nodes(), ids);
              return ids;
            }));
          },
          "Ids of all ready nodes, in issue order (uint64).")
      .def(
          "blocked",
          [](PyFeeder& self, std::size_t max) {
            return self.with_long([&](Feeder& feeder) { return feeder.blocked(max); });
          },
          "max"_a = 20,
          "What the nodes that are not ready wait for, `max` of them named: for a person to read, not for the inner "
          "loop.")
      .def_property_readonly(
          "statistics", [](PyFeeder& self) { return self.with([](Feeder& feeder) { return feeder.statistics(); }); })
      .def_property_readonly(
          "memory_bytes",
          [](PyFeeder& self) { return self.with([](Feeder& feeder) { return feeder.memory_bytes(); }); },
          "Anonymous memory of this feeder, beyond what a shared trace holds.")
      .def_property_readonly(
          "trace",
          [](const PyFeeder& self) {
            return self.trace() ? std::optional(std::const_pointer_cast<Trace>(self.trace())) : std::nullopt;
          },
          "The whole trace; None for a stream.")
      .def(
          "reset", [](PyFeeder& self) { self.with_long([](Feeder& feeder) { feeder.reset(); }); },
          "Back to the start. A stream opens its file again.");
}

}  // namespace chakra::bindings
