// SPDX-License-Identifier: MIT
#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>

#include "chakra_core/errors.hpp"
#include "pytorch/device_reader.hpp"
#include "pytorch/host_reader.hpp"
#include "pytorch/linked_model.hpp"

namespace chakra::pytorch {

namespace {

constexpr std::uint64_t user_annotation_scope = 7;

// The host trace that a linked trace was made of: its nodes at their rows, with their own ids and callers.
HostTrace original_host(HostTrace linked, const LinkedExtras& extras) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < linked.nodes.size(); ++row) {
    if (extras.nodes[row].from_host) rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [&extras](std::uint32_t a, std::uint32_t b) { return extras.nodes[a].row < extras.nodes[b].row; });
  std::vector<HostNode> nodes;
  nodes.reserve(rows.size());
  for (const std::uint32_t row : rows) {
    nodes.push_back(linked.nodes[row]);
    nodes.back().id = extras.nodes[row].host_id;
    nodes.back().parent = extras.nodes[row].host_parent;
  }
  linked.nodes = std::move(nodes);
  return linked;
}

// Makes a device trace of the times that nodes have. There are no calls: device work names its op by External id.
class NodeTimesReader {
 public:
  NodeTimesReader(const HostTrace& linked, const LinkedExtras& extras) : linked_(linked), extras_(extras) {
    device_.path = linked.path;
  }

  DeviceTrace device() {
    for (std::uint32_t row = 0; row < linked_.nodes.size(); ++row) {
      if (extras_.nodes[row].has_time) add_event(row);
    }
    return std::move(device_);
  }

  std::vector<NodeWait> waits() const {
    std::vector<NodeWait> waits;
    for (const LinkedExtras::Wait& wait : extras_.waits) {
      const auto source = event_of_id_.find(wait.source);
      const auto target = event_of_id_.find(wait.target);
      if (source != event_of_id_.end() && target != event_of_id_.end()) {
        waits.push_back({source->second, target->second});
      }
    }
    return waits;
  }

 private:
  void add_event(std::uint32_t row) {
    const HostNode& node = linked_.nodes[row];
    const LinkedNode& times = extras_.nodes[row];
    DeviceEvent event;
    event.kind = kind_of(node, times);
    event.start_ns = times.start_ns;
    event.duration_ns = times.duration_ns;
    event.name = device_.strings.intern(linked_.strings.view(node.name));
    event.external_id = node.rf_id;
    if (times.category == no_string) {
      event.record_function_id = node.rf_id;
      event.thread = thread(std::to_string(node.tid));
    } else {
      event.stream = times.stream;
      event.thread = thread("stream " + std::to_string(times.stream));
      if (times.group != no_string) add_group(event, times.group);
    }
    if (event.start_ns > std::numeric_limits<std::int64_t>::max() - event.duration_ns) event.duration_ns = 0;
    event_of_id_.emplace(node.id, static_cast<std::uint32_t>(device_.events.size()));
    device_.events.push_back(event);
  }

  DeviceEventKind kind_of(const HostNode& node, const LinkedNode& times) const {
    if (times.category == no_string) {
      return node.scope == user_annotation_scope ? DeviceEventKind::user_annotation : DeviceEventKind::cpu_op;
    }
    const std::string_view category = linked_.strings.view(times.category);
    if (category == "gpu_memcpy") return DeviceEventKind::memcpy;
    return category == "gpu_memset" ? DeviceEventKind::memset : DeviceEventKind::kernel;
  }

  void add_group(DeviceEvent& event, std::uint32_t group) {
    CommArguments comm;
    comm.group_name = device_.strings.intern(linked_.strings.view(group));
    event.comm = static_cast<std::uint32_t>(device_.communications.size());
    device_.communications.push_back(comm);
  }

  std::uint32_t thread(const std::string& tid) {
    const auto [entry, added] = threads_.try_emplace(tid, static_cast<std::uint32_t>(device_.threads.size()));
    if (added) device_.threads.push_back({device_.strings.intern("0"), device_.strings.intern(tid)});
    return entry->second;
  }

  const HostTrace& linked_;
  const LinkedExtras& extras_;
  DeviceTrace device_;
  std::unordered_map<std::string, std::uint32_t> threads_;
  std::unordered_map<std::uint64_t, std::uint32_t> event_of_id_;
};

// The waits of another linker's trace that we saved. Rows that are no rows find nothing later.
NodeTimes saved_node_times(const LinkedExtras& extras) {
  NodeTimes times;
  if (!extras.event_waits) return times;
  times.only = true;
  for (const LinkedExtras::Wait& wait : *extras.event_waits) {
    if (wait.source < no_row && wait.target < no_row) {
      times.waits.push_back({static_cast<std::uint32_t>(wait.source), static_cast<std::uint32_t>(wait.target)});
    }
  }
  return times;
}

LinkedTrace link_node_times(HostTrace linked, const LinkedExtras& extras, const LinkOptions& options) {
  NodeTimesReader reader(linked, extras);
  DeviceTrace device = reader.device();
  NodeTimes node_times{true, reader.waits()};
  std::vector<HostNode> host_nodes;
  for (std::uint32_t row = 0; row < linked.nodes.size(); ++row) {
    if (extras.nodes[row].category == no_string) host_nodes.push_back(linked.nodes[row]);
  }
  linked.nodes = std::move(host_nodes);
  return link_traces(std::move(linked), std::move(device), options, std::move(node_times));
}

}  // namespace

}  // namespace chakra::pytorch

namespace chakra {

LinkedTrace load_linked(const std::filesystem::path& path, const LinkOptions& options) {
  pytorch::ReadOptions read{options.on_error, options.progress, true};
  pytorch::LinkedExtras extras;
  pytorch::HostTrace nodes = pytorch::read_linked_nodes(path, read, extras);
  LinkOptions again = options;
  again.on_error = OnError::recover;  // whoever linked first has seen what there was to refuse
  if (!again.rank) again.rank = extras.rank;
  if (extras.version == 0) {
    const bool has_times = std::any_of(extras.nodes.begin(), extras.nodes.end(),
                                       [](const pytorch::LinkedNode& node) { return node.has_time; });
    if (!has_times) {
      throw LinkError(path.string() + ": this is a host trace, not a linked one: no node has a time; give it as host=");
    }
    return pytorch::link_node_times(std::move(nodes), extras, again);
  }
  if (extras.version != pytorch::linked_version) {
    throw LinkError(path.string() + ": linked trace of version " + std::to_string(extras.version) + ", and only " +
                    std::to_string(pytorch::linked_version) + " is known; link the traces again");
  }
  std::optional<pytorch::HostTrace> host;
  std::optional<pytorch::DeviceTrace> device;
  if (extras.host) host = pytorch::original_host(std::move(nodes), extras);
  read.progress = nullptr;
  if (extras.device) device = pytorch::read_device_trace(path, read);
  return pytorch::link_traces(std::move(host), std::move(device), again, pytorch::saved_node_times(extras));
}

}  // namespace chakra
