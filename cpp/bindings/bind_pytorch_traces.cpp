// SPDX-License-Identifier: MIT
#include <filesystem>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "on_error.hpp"
#include "pytorch/device_reader.hpp"
#include "pytorch/host_reader.hpp"

namespace py = pybind11;
using namespace pybind11::literals;

namespace chakra::bindings {

namespace {

using pytorch::CommArguments;
using pytorch::DeviceEvent;
using pytorch::DeviceThread;
using pytorch::DeviceTrace;
using pytorch::FlowPoint;
using pytorch::HostAttribute;
using pytorch::HostIo;
using pytorch::HostNode;
using pytorch::HostTrace;
using pytorch::OpArguments;
using pytorch::SyncArguments;

/// One field of every row as an array; enumerations and truth values as bytes.
template <class Row, class Get>
py::array column(const std::vector<Row>& rows, Get get) {
  using Field = std::remove_cvref_t<std::invoke_result_t<Get, const Row&>>;
  using Element = std::conditional_t<std::is_enum_v<Field> || std::is_same_v<Field, bool>, std::uint8_t, Field>;
  std::vector<Element> values;
  values.reserve(rows.size());
  for (const Row& row : rows) {
    values.push_back(static_cast<Element>(std::invoke(get, row)));
  }
  return take(std::move(values));
}

py::dict host_nodes(const HostTrace& trace) {
  const auto& rows = trace.nodes;
  const auto io_column = [&](HostIo HostNode::*io, std::uint32_t HostIo::*field) {
    return column(rows, [=](const HostNode& node) { return node.*io.*field; });
  };
  return py::dict("id"_a = column(rows, &HostNode::id), "parent"_a = column(rows, &HostNode::parent),
                  "rf_id"_a = column(rows, &HostNode::rf_id), "fw_parent"_a = column(rows, &HostNode::fw_parent),
                  "seq_id"_a = column(rows, &HostNode::seq_id), "scope"_a = column(rows, &HostNode::scope),
                  "tid"_a = column(rows, &HostNode::tid), "fw_tid"_a = column(rows, &HostNode::fw_tid),
                  "name"_a = column(rows, &HostNode::name), "op_schema"_a = column(rows, &HostNode::op_schema),
                  "input_values"_a = io_column(&HostNode::inputs, &HostIo::values),
                  "input_shapes"_a = io_column(&HostNode::inputs, &HostIo::shapes),
                  "input_types"_a = io_column(&HostNode::inputs, &HostIo::types),
                  "output_values"_a = io_column(&HostNode::outputs, &HostIo::values),
                  "output_shapes"_a = io_column(&HostNode::outputs, &HostIo::shapes),
                  "output_types"_a = io_column(&HostNode::outputs, &HostIo::types),
                  "first_attribute"_a = column(rows, &HostNode::first_attribute),
                  "attribute_count"_a = column(rows, &HostNode::attribute_count));
}

py::dict host_attributes(const HostTrace& trace) {
  const auto& rows = trace.attributes;
  return py::dict("name"_a = column(rows, &HostAttribute::name), "type"_a = column(rows, &HostAttribute::type),
                  "value"_a = column(rows, &HostAttribute::value));
}

py::dict device_events(const DeviceTrace& trace) {
  const auto& rows = trace.events;
  return py::dict("kind"_a = column(rows, &DeviceEvent::kind), "start_ns"_a = column(rows, &DeviceEvent::start_ns),
                  "duration_ns"_a = column(rows, &DeviceEvent::duration_ns),
                  "external_id"_a = column(rows, &DeviceEvent::external_id),
                  "record_function_id"_a = column(rows, &DeviceEvent::record_function_id),
                  "correlation"_a = column(rows, &DeviceEvent::correlation),
                  "stream"_a = column(rows, &DeviceEvent::stream), "device"_a = column(rows, &DeviceEvent::device),
                  "name"_a = column(rows, &DeviceEvent::name), "thread"_a = column(rows, &DeviceEvent::thread),
                  "op"_a = column(rows, &DeviceEvent::op), "comm"_a = column(rows, &DeviceEvent::comm),
                  "sync"_a = column(rows, &DeviceEvent::sync));
}

py::dict device_ops(const DeviceTrace& trace) {
  const auto& rows = trace.ops;
  return py::dict("input_dims"_a = column(rows, &OpArguments::input_dims),
                  "input_types"_a = column(rows, &OpArguments::input_types),
                  "concrete_inputs"_a = column(rows, &OpArguments::concrete_inputs),
                  "sequence_number"_a = column(rows, &OpArguments::sequence_number),
                  "forward_thread"_a = column(rows, &OpArguments::forward_thread));
}

py::dict device_communications(const DeviceTrace& trace) {
  const auto& rows = trace.communications;
  return py::dict(
      "collective_name"_a = column(rows, &CommArguments::collective_name),
      "dtype"_a = column(rows, &CommArguments::dtype), "in_elements"_a = column(rows, &CommArguments::in_elements),
      "out_elements"_a = column(rows, &CommArguments::out_elements),
      "in_split"_a = column(rows, &CommArguments::in_split), "out_split"_a = column(rows, &CommArguments::out_split),
      "group_size"_a = column(rows, &CommArguments::group_size),
      "group_name"_a = column(rows, &CommArguments::group_name),
      "group_description"_a = column(rows, &CommArguments::group_description),
      "group_ranks"_a = column(rows, &CommArguments::group_ranks),
      "global_rank_start"_a = column(rows, &CommArguments::global_rank_start),
      "global_rank_stride"_a = column(rows, &CommArguments::global_rank_stride),
      "sequence"_a = column(rows, &CommArguments::sequence), "rank"_a = column(rows, &CommArguments::rank),
      "source_rank"_a = column(rows, &CommArguments::source_rank),
      "destination_rank"_a = column(rows, &CommArguments::destination_rank));
}

py::dict device_syncs(const DeviceTrace& trace) {
  const auto& rows = trace.syncs;
  return py::dict("kind"_a = column(rows, &SyncArguments::kind),
                  "wait_on_stream"_a = column(rows, &SyncArguments::wait_on_stream),
                  "wait_on_record"_a = column(rows, &SyncArguments::wait_on_record),
                  "wait_on_event"_a = column(rows, &SyncArguments::wait_on_event));
}

py::dict device_flows(const DeviceTrace& trace) {
  const auto& rows = trace.flows;
  return py::dict("time_ns"_a = column(rows, &FlowPoint::time_ns), "id"_a = column(rows, &FlowPoint::id),
                  "thread"_a = column(rows, &FlowPoint::thread), "finish"_a = column(rows, &FlowPoint::finish));
}

py::dict device_threads(const DeviceTrace& trace) {
  return py::dict("pid"_a = column(trace.threads, &DeviceThread::pid),
                  "tid"_a = column(trace.threads, &DeviceThread::tid));
}

using GroupTuple = std::tuple<std::string, std::string, std::string, std::int64_t, std::vector<std::int64_t>>;

std::vector<GroupTuple> device_groups(const DeviceTrace& trace) {
  std::vector<GroupTuple> groups;
  for (const pytorch::ProcessGroup& group : trace.distributed.groups) {
    groups.emplace_back(group.name, group.description, group.backend, group.size, group.ranks);
  }
  return groups;
}

template <class TraceType>
std::vector<std::string> strings(const TraceType& trace) {
  std::vector<std::string> all;
  for (std::uint32_t id = 0; id < trace.strings.size(); ++id) {
    all.emplace_back(trace.strings.view(id));
  }
  return all;
}

template <class TraceType>
std::vector<std::tuple<std::string, std::uint64_t, std::string>> report(const TraceType& trace) {
  std::vector<std::tuple<std::string, std::uint64_t, std::string>> entries;
  for (const pytorch::ReadReport::Entry& entry : trace.report.entries) {
    entries.emplace_back(entry.what, entry.count, entry.first);
  }
  return entries;
}

std::shared_ptr<HostTrace> read_host(const std::filesystem::path& path, const std::string& on_error,
                                     Progress* progress) {
  const pytorch::ReadOptions options{parse_on_error(on_error), progress};
  const py::gil_scoped_release release;
  return std::make_shared<HostTrace>(pytorch::read_host_trace(path, options));
}

std::shared_ptr<DeviceTrace> read_device(const std::filesystem::path& path, const std::string& on_error,
                                         Progress* progress) {
  const pytorch::ReadOptions options{parse_on_error(on_error), progress};
  const py::gil_scoped_release release;
  return std::make_shared<DeviceTrace>(pytorch::read_device_trace(path, options));
}

void bind_host_trace(py::module_& module) {
  py::class_<HostTrace, std::shared_ptr<HostTrace>>(
      module, "HostTrace", "A PyTorch host trace (ExecutionTraceObserver) as columns; strings are ids into `strings`.")
      .def_readonly("path", &HostTrace::path)
      .def_readonly("schema", &HostTrace::schema)
      .def_readonly("time", &HostTrace::time)
      .def_readonly("pid", &HostTrace::pid)
      .def_readonly("start_ts", &HostTrace::start_ts)
      .def_readonly("finish_ts", &HostTrace::finish_ts)
      .def_property_readonly("strings", &strings<HostTrace>)
      .def_property_readonly("report", &report<HostTrace>, "What was mended or lost: (what, count, first place).")
      .def("nodes", &host_nodes, "Columns of the nodes, by name, in file order.")
      .def("attributes", &host_attributes, "Columns of the further attributes that nodes point to.")
      .def("__len__", [](const HostTrace& trace) { return trace.nodes.size(); });
  module.def("read_host_trace", &read_host, "path"_a, py::kw_only(), "on_error"_a = "strict", "progress"_a = nullptr,
             "Reads a PyTorch host trace, plain, gzip or zstd.");
}

void bind_device_trace(py::module_& module) {
  py::class_<DeviceTrace, std::shared_ptr<DeviceTrace>>(
      module, "DeviceTrace", "A PyTorch device trace (Kineto) as columns; strings are ids into `strings`.")
      .def_readonly("path", &DeviceTrace::path)
      .def_readonly("trace_name", &DeviceTrace::trace_name)
      .def_readonly("base_time_ns", &DeviceTrace::base_time_ns)
      .def_property_readonly("backend", [](const DeviceTrace& trace) { return trace.distributed.backend; })
      .def_property_readonly("rank", [](const DeviceTrace& trace) { return trace.distributed.rank; })
      .def_property_readonly("world_size", [](const DeviceTrace& trace) { return trace.distributed.world_size; })
      .def_property_readonly("groups", &device_groups, "(name, description, backend, size, ranks) of each.")
      .def_property_readonly("strings", &strings<DeviceTrace>)
      .def_property_readonly("report", &report<DeviceTrace>, "What was mended or lost: (what, count, first place).")
      .def("events", &device_events, "Columns of the events that are kept, by name, in file order. Times in ns.")
      .def("threads", &device_threads, "Columns pid and tid.")
      .def("ops", &device_ops, "Columns of the arguments of CPU ops.")
      .def("communications", &device_communications, "Columns of the arguments of communication.")
      .def("syncs", &device_syncs, "Columns of the arguments of synchronisation events.")
      .def("flows", &device_flows, "Columns of the ends of forward-backward arrows.")
      .def("__len__", [](const DeviceTrace& trace) { return trace.events.size(); });
  module.def("read_device_trace", &read_device, "path"_a, py::kw_only(), "on_error"_a = "strict",
             "progress"_a = nullptr, "Reads a Kineto trace, plain, gzip or zstd.");
}

}  // namespace

void bind_pytorch_traces(py::module_& module) {
  bind_host_trace(module);
  bind_device_trace(module);
}

}  // namespace chakra::bindings
