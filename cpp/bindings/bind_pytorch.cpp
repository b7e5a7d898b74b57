// SPDX-License-Identifier: MIT
#include <memory>
#include <optional>
#include <string>

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "bindings.hpp"
#include "chakra_core/errors.hpp"
#include "chakra_core/linked_trace.hpp"
#include "chakra_core/replay.hpp"
#include "on_error.hpp"

namespace py = pybind11;
using namespace pybind11::literals;

namespace chakra::bindings {

namespace {

LinkedTrace link_paths(const std::optional<std::filesystem::path>& host,
                       const std::optional<std::filesystem::path>& device, std::optional<std::int64_t> rank,
                       const std::string& on_error, Progress* progress, unsigned threads) {
  LinkOptions options;
  options.threads = threads;
  options.on_error = parse_on_error(on_error);
  options.rank = rank;
  options.progress = progress;
  const py::gil_scoped_release release;
  return link(host, device, options);
}

LinkedTrace load_linked_path(const std::filesystem::path& path, std::optional<std::int64_t> rank,
                             const std::string& on_error, Progress* progress) {
  LinkOptions options;
  options.on_error = parse_on_error(on_error);
  options.rank = rank;
  options.progress = progress;
  const py::gil_scoped_release release;
  return load_linked(path, options);
}

std::shared_ptr<Trace> convert_linked(const LinkedTrace& linked, const std::string& layout, std::int64_t lag_min_ns,
                                      bool memory_nodes, unsigned threads) {
  ConvertOptions options;
  options.threads = threads;
  options.lag_min_ns = lag_min_ns;
  options.memory_nodes = memory_nodes;
  if (layout == "ops") {
    options.layout = TraceLayout::ops;
  } else if (layout != "exact") {
    throw ConfigError("layout is \"" + layout + "\"; it must be \"exact\" or \"ops\"");
  }
  const py::gil_scoped_release release;
  return std::const_pointer_cast<Trace>(convert(linked, options));
}

ReplayReport replay_trace(const Trace& trace, const std::string& deps) {
  if (deps != "data" && deps != "both") {
    throw ConfigError("deps is \"" + deps + "\"; it must be \"data\" or \"both\"");
  }
  const py::gil_scoped_release release;
  return replay(trace, deps == "both" ? ReplayDependencies::both : ReplayDependencies::data);
}

/// What Python calls the report: everything that is known of a linked trace, each part made when it is asked for.
struct ReportOfLinked {
  LinkedTrace linked;

  const LinkReport& figures() const {
    const py::gil_scoped_release release;
    return linked.report();
  }
  std::optional<ReplayReport> replay() const {
    const py::gil_scoped_release release;
    return linked.device_event_count() > 0 ? std::optional(linked.replay()) : std::nullopt;
  }
  std::string text() const {
    const py::gil_scoped_release release;
    return linked.text();
  }
};

py::dict counts_of(const ReportOfLinked& report) {
  py::dict counts;
  for (const LinkReport::Section& section : report.figures().sections()) {
    py::dict figures;
    for (const LinkReport::Figure& figure : section.figures) figures[py::str(figure.name)] = figure.count;
    counts[py::str(section.name)] = figures;
  }
  return counts;
}

void bind_link_report(py::module_& module) {
  py::class_<ReportOfLinked>(module, "LinkReport",
                             "What linking found, dropped, and could not explain. Each part is made on first use.")
      .def_property_readonly("counts", &counts_of, "Counts by section and name, as nested dicts.")
      .def_property_readonly(
          "advice", [](const ReportOfLinked& self) { return self.figures().advice(); },
          "What to change in the collection.")
      .def_property_readonly("replay", &ReportOfLinked::replay,
                             "What `replay` says of the trace that `convert` makes by default; None without a device "
                             "trace. Takes about as long as both.")
      .def_property_readonly("text", &ReportOfLinked::text,
                             "The figures that are not 0, the advice and the replay, for people.")
      .def("__str__", &ReportOfLinked::text);
}

void bind_linked_trace(py::module_& module) {
  py::class_<LinkedTrace>(module, "LinkedTrace", "A host trace joined with the device trace of the same rank.")
      .def_property_readonly("report", [](const LinkedTrace& self) { return ReportOfLinked{self}; })
      .def_property_readonly("rank", &LinkedTrace::rank, "From the argument, else from the device trace; or None.")
      .def_property_readonly("span_ns", &LinkedTrace::span_ns, "Length of the record in ns; 0 without a device trace.")
      .def_property_readonly("num_host_nodes", &LinkedTrace::host_node_count)
      .def_property_readonly("num_device_events", &LinkedTrace::device_event_count)
      .def_property_readonly("process_groups", &LinkedTrace::process_groups, "Ranks of each process group by its name.")
      .def("save", &save_linked, "path"_a, py::call_guard<py::gil_scoped_release>(),
           "Writes the linked JSON that older converters read, with the cut points and the device trace beside it;\n"
           "`convert(path)` makes the same of it as of this. \".gz\" and \".zst\" compress. Raises OSError.");
}

void bind_replay_report(py::module_& module) {
  py::class_<ReplayReport>(module, "ReplayReport",
                           "A trace played with nothing but its durations and dependencies, against its record.")
      .def_readonly("nodes", &ReplayReport::nodes)
      .def_readonly("recorded_ns", &ReplayReport::recorded_ns)
      .def_readonly("replayed_ns", &ReplayReport::replayed_ns)
      .def_readonly("total_error", &ReplayReport::total_error, "(replayed - recorded) / recorded.")
      .def_property_readonly(
          "start_error_ns",
          [](const ReplayReport& self) {
            return py::dict("max"_a = self.start_error_max_ns, "median"_a = self.start_error_median_ns,
                            "p95"_a = self.start_error_p95_ns);
          },
          "Distance of replayed and recorded starts over all nodes, ns: max, median, p95.")
      .def_readonly("streams", &ReplayReport::start_error_by_stream, "Largest start error of each stream, ns.")
      .def_readonly("inversions", &ReplayReport::inversions, "Neighbours on a stream that swapped places.")
      .def_readonly("unexplained_device_waits", &ReplayReport::unexplained_device_waits)
      .def_readonly("unexplained_device_wait_ns", &ReplayReport::unexplained_device_wait_ns)
      .def_property_readonly("text", &ReplayReport::text)
      .def("__str__", &ReplayReport::text);
}

}  // namespace

void bind_pytorch(py::module_& module) {
  bind_replay_report(module);
  bind_link_report(module);
  bind_linked_trace(module);
  module.def("link", &link_paths, "host"_a, "device"_a, "rank"_a = py::none(), "on_error"_a = "strict",
             "progress"_a = nullptr, "threads"_a = 0,
             "Joins a PyTorch host trace with a Kineto trace; either may be None. Raises LinkError, FormatError.");
  module.def("load_linked", &load_linked_path, "path"_a, "rank"_a = py::none(), "on_error"_a = "strict",
             "progress"_a = nullptr,
             "Reads what LinkedTrace.save wrote, or the linked JSON of older linkers. Raises LinkError, FormatError.");
  module.def("convert", &convert_linked, "linked"_a, "layout"_a = "exact", "lag_min_ns"_a = 0, "memory_nodes"_a = false,
             "threads"_a = 0,
             "Makes an execution trace of a linked trace; layout \"exact\" or \"ops\". Raises ConfigError.");
  module.def("replay", &replay_trace, "trace"_a, "deps"_a = "data",
             "Plays a trace against its record; deps \"data\" or \"both\". Raises DependencyError for a cycle.");
}

}  // namespace chakra::bindings
