// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pytorch/linked_model.hpp"

namespace chakra::pytorch::test {

/// Writes device and host traces by hand. Times in us, as in Kineto; every method gives the row of what it added.
class TraceMaker {
 public:
  DeviceTrace device;
  HostTrace host;

  std::uint32_t op(std::string_view name, std::int64_t ts, std::int64_t dur, std::string_view tid = "1",
                   std::uint64_t rf_id = 0) {
    DeviceEvent& event = add(DeviceEventKind::cpu_op, name, ts, dur, tid);
    event.record_function_id = rf_id;
    return last();
  }
  std::uint32_t annotation(std::string_view name, std::int64_t ts, std::int64_t dur, std::string_view tid = "1") {
    add(DeviceEventKind::user_annotation, name, ts, dur, tid);
    return last();
  }
  std::uint32_t call(std::string_view name, std::int64_t ts, std::int64_t dur, std::uint64_t correlation,
                     std::string_view tid = "1") {
    add(DeviceEventKind::runtime_call, name, ts, dur, tid).correlation = correlation;
    return last();
  }
  std::uint32_t kernel(std::string_view name, std::int64_t ts, std::int64_t dur, std::uint64_t correlation,
                       std::int64_t stream = 7, DeviceEventKind kind = DeviceEventKind::kernel) {
    DeviceEvent& event = add(kind, name, ts, dur, "stream " + std::to_string(stream));
    event.correlation = correlation;
    event.stream = stream;
    event.device = 0;
    return last();
  }
  std::uint32_t sync(std::string_view kind, std::int64_t ts, std::int64_t dur, std::uint64_t correlation,
                     std::int64_t stream, std::int64_t wait_on_stream = no_stream, std::uint64_t wait_on_record = 0) {
    DeviceEvent& event = add(DeviceEventKind::sync, kind, ts, dur, "sync");
    event.correlation = correlation;
    event.stream = stream;
    event.device = 0;
    event.sync = static_cast<std::uint32_t>(device.syncs.size());
    device.syncs.push_back({device.strings.intern(kind), wait_on_stream, wait_on_record, -1});
    return last();
  }
  DeviceEvent& event(std::uint32_t row) { return device.events[row]; }

  /// Arguments of communication of an event.
  CommArguments& comm(std::uint32_t row, std::string_view collective, std::int64_t elements,
                      std::string_view dtype = "Float") {
    device.events[row].comm = static_cast<std::uint32_t>(device.communications.size());
    CommArguments& arguments = device.communications.emplace_back();
    arguments.collective_name = device.strings.intern(collective);
    arguments.in_elements = elements;
    arguments.dtype = device.strings.intern(dtype);
    return arguments;
  }
  OpArguments& arguments(std::uint32_t row, std::string_view dims, std::string_view types) {
    device.events[row].op = static_cast<std::uint32_t>(device.ops.size());
    OpArguments& op = device.ops.emplace_back();
    op.input_dims = device.strings.intern(dims);
    op.input_types = device.strings.intern(types);
    return op;
  }

  HostNode& node(std::uint64_t id, std::string_view name, std::uint64_t parent, std::uint64_t rf_id,
                 std::uint64_t tid = 1) {
    HostNode& added = host.nodes.emplace_back();
    added.id = id;
    added.name = host.strings.intern(name);
    added.parent = parent;
    added.rf_id = rf_id;
    added.tid = tid;
    return added;
  }
  std::uint32_t text(std::string_view value) { return host.strings.intern(value); }

  LinkedTrace link_device(OnError on_error = OnError::strict) {
    LinkOptions options;
    options.on_error = on_error;
    return link_traces(std::nullopt, std::move(device), options);
  }
  LinkedTrace link_both(OnError on_error = OnError::strict) {
    LinkOptions options;
    options.on_error = on_error;
    return link_traces(std::move(host), std::move(device), options);
  }

 private:
  std::uint32_t last() const { return static_cast<std::uint32_t>(device.events.size() - 1); }

  std::uint32_t thread(std::string_view tid) {
    const std::uint32_t pid_id = device.strings.intern("1");
    const std::uint32_t tid_id = device.strings.intern(tid);
    for (std::uint32_t row = 0; row < device.threads.size(); ++row) {
      if (device.threads[row].tid == tid_id) return row;
    }
    device.threads.push_back({pid_id, tid_id});
    return static_cast<std::uint32_t>(device.threads.size() - 1);
  }

  DeviceEvent& add(DeviceEventKind kind, std::string_view name, std::int64_t ts, std::int64_t dur,
                   std::string_view tid) {
    DeviceEvent event;
    event.kind = kind;
    event.name = device.strings.intern(name);
    event.start_ns = ts * 1000;
    event.duration_ns = dur * 1000;
    event.thread = thread(tid);
    device.events.push_back(event);
    return device.events.back();
  }
};

/// Row of the only node with this name; fails the test through an exception if there is none or more than one.
inline NodeIndex row_named(const Trace& trace, std::string_view name) {
  std::optional<NodeIndex> found;
  for (NodeIndex row = 0; row < trace.size(); ++row) {
    if (trace.name(row) != name) continue;
    if (found) throw std::runtime_error("several nodes are named " + std::string(name));
    found = row;
  }
  if (!found) throw std::runtime_error("no node is named " + std::string(name));
  return *found;
}

/// Names of a node's data parents, in order.
inline std::vector<std::string> data_parents(const Trace& trace, NodeIndex row) {
  std::vector<std::string> names;
  for (const NodeIndex parent : trace.data_deps()[row]) names.emplace_back(trace.name(parent));
  return names;
}
inline std::vector<std::string> ctrl_parents(const Trace& trace, NodeIndex row) {
  std::vector<std::string> names;
  for (const NodeIndex parent : trace.ctrl_deps()[row]) names.emplace_back(trace.name(parent));
  return names;
}

}  // namespace chakra::pytorch::test
