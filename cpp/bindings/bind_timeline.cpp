// SPDX-License-Identifier: MIT
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "bindings.hpp"
#include "chakra_core/timeline.hpp"

namespace py = pybind11;
using namespace pybind11::literals;

namespace chakra::bindings {

namespace {

template <class Value>
using Column = py::array_t<Value, py::array::c_style | py::array::forcecast>;

template <class Value>
std::span<const Value> as_span(const Column<Value>& column) {
  if (column.ndim() != 1) {
    throw py::value_error("a column of a timeline needs one dimension, found " + std::to_string(column.ndim()));
  }
  return {column.data(), static_cast<std::size_t>(column.size())};
}

/// A process together with the arrays that its columns look at.
struct HeldProcess {
  HeldProcess(std::string name, std::vector<std::string> tracks, TracePtr trace, Column<std::uint32_t> rows_column,
              Column<std::uint32_t> track_column, Column<std::uint64_t> start_column, Column<std::uint64_t> end_column)
      : rows(std::move(rows_column)),
        track(std::move(track_column)),
        start(std::move(start_column)),
        end(std::move(end_column)),
        process{.name = std::move(name),
                .tracks = std::move(tracks),
                .trace = std::move(trace),
                .rows = as_span(rows),
                .track = as_span(track),
                .start_ns = as_span(start),
                .end_ns = as_span(end)} {}

  Column<std::uint32_t> rows;
  Column<std::uint32_t> track;
  Column<std::uint64_t> start;
  Column<std::uint64_t> end;
  TimelineProcess process;
};

/// A counter together with the arrays that its columns look at.
struct HeldCounter {
  HeldCounter(std::string process, std::string name, std::string unit, Column<std::uint64_t> time_column,
              Column<double> value_column)
      : time(std::move(time_column)),
        value(std::move(value_column)),
        counter{std::move(process), std::move(name), std::move(unit), as_span(time), as_span(value)} {}

  Column<std::uint64_t> time;
  Column<double> value;
  TimelineCounter counter;
};

using FlowColumn = py::array_t<std::uint32_t, py::array::c_style | py::array::forcecast>;

std::vector<TimelineFlow> to_flows(const FlowColumn& columns) {
  if (columns.ndim() != 2 || columns.shape(1) != 4) {
    throw py::value_error("flows need the shape (flows, 4): process and slice it leaves, process and slice it reaches");
  }
  std::vector<TimelineFlow> flows;
  const auto rows = columns.unchecked<2>();
  for (py::ssize_t i = 0; i < rows.shape(0); ++i) flows.push_back({rows(i, 0), rows(i, 1), rows(i, 2), rows(i, 3)});
  return flows;
}

void write(const std::vector<const HeldProcess*>& held, const std::filesystem::path& path,
           const std::optional<FlowColumn>& flow_columns, const std::vector<const HeldCounter*>& held_counters,
           std::optional<TimelineFormat> format, Progress* progress) {
  std::vector<TimelineProcess> processes;
  processes.reserve(held.size());
  for (const HeldProcess* const process : held) {
    processes.push_back(process->process);
  }
  std::vector<TimelineCounter> counters;
  for (const HeldCounter* const counter : held_counters) counters.push_back(counter->counter);
  const std::vector<TimelineFlow> flows = flow_columns ? to_flows(*flow_columns) : std::vector<TimelineFlow>{};
  const py::gil_scoped_release release;
  write_timeline({processes, flows, counters}, path, {.format = format, .progress = progress});
}

std::optional<TimelineFormat> parse_format(const std::optional<std::string>& name) {
  if (!name) {
    return std::nullopt;
  }
  if (*name == "chrome_json") {
    return TimelineFormat::chrome_json;
  }
  if (*name == "perfetto") {
    return TimelineFormat::perfetto;
  }
  throw py::value_error("format must be \"chrome_json\", \"perfetto\" or None, not \"" + *name + "\"");
}

}  // namespace

void bind_timeline(py::module_& module) {
  py::class_<HeldProcess>(module, "TimelineProcess",
                          "One group of tracks, such as a rank, and the slices on them: nodes of a trace with a begin "
                          "and an end. Columns have one entry a slice, in any order.")
      .def(py::init<std::string, std::vector<std::string>, TracePtr, Column<std::uint32_t>, Column<std::uint32_t>,
                    Column<std::uint64_t>, Column<std::uint64_t>>(),
           "name"_a, "tracks"_a, "trace"_a, py::kw_only(), "rows"_a, "track"_a, "start_ns"_a, "end_ns"_a);
  py::class_<HeldCounter>(module, "TimelineCounter", "A curve of values, each of which holds from its time on.")
      .def(py::init<std::string, std::string, std::string, Column<std::uint64_t>, Column<double>>(), "process"_a,
           "name"_a, "unit"_a, py::kw_only(), "time_ns"_a, "value"_a);
  module.def(
      "write_timeline",
      [](const std::vector<const HeldProcess*>& processes, const std::filesystem::path& path,
         const std::optional<FlowColumn>& flows, const std::vector<const HeldCounter*>& counters,
         const std::optional<std::string>& format,
         Progress* progress) { write(processes, path, flows, counters, parse_format(format), progress); },
      "processes"_a, "path"_a, py::kw_only(), "flows"_a = py::none(), "counters"_a = std::vector<const HeldCounter*>{},
      "format"_a = py::none(), "progress"_a = nullptr,
      "Writes a timeline file; gzip if the name ends in .gz. `flows` has the shape (flows, 4): process and slice that "
      "an "
      "arrow leaves, process and slice that it reaches. Progress counts slices.");
}

}  // namespace chakra::bindings
