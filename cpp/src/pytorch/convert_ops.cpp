// SPDX-License-Identifier: MIT
#include <algorithm>

#include "pytorch/node_writer.hpp"
#include "pytorch/ops_graph.hpp"

namespace chakra::pytorch {

namespace {

class OpsConverter {
 public:
  OpsConverter(const LinkedModel& model, bool memory_nodes)
      : model_(model), memory_nodes_(memory_nodes), graph_(build_ops_graph(model)) {}

  TracePtr run(unsigned threads) const {
    const auto count = static_cast<std::uint32_t>(graph_.nodes.size());
    const bool adds_groups = !model_.groups.empty() && !has_group_init();
    return write_nodes(model_, count + (adds_groups ? 1 : 0), "ops", threads,
                       [this, count](NodeWriter& writer, std::uint32_t n) {
                         if (n == count) {
                           writer.write_groups(n);
                         } else {
                           write(writer, n);
                         }
                       });
  }

 private:
  bool has_group_init() const {
    return std::any_of(graph_.nodes.begin(), graph_.nodes.end(),
                       [this](const OpsNode& node) { return is_group_init(OpsGraph::name_of(model_, node)); });
  }

  void write(NodeWriter& writer, std::uint32_t n) const {
    const OpsNode& node = graph_.nodes[n];
    const Communication* comm = OpsGraph::communication_of(model_, node);
    const std::string_view name = OpsGraph::name_of(model_, node);
    NodeType type = is_group_init(name) ? NodeType::metadata : NodeType::comp;
    if (comm != nullptr) type = comm->type;
    const DeviceWork* work = node.kind == OpsKind::work ? &model_.launches.work[node.index] : nullptr;
    const std::optional<NodeType> memory =
        memory_nodes_ && work != nullptr ? memory_node_type(model_, *work) : std::nullopt;
    if (memory) type = *memory;
    writer.begin(n, name, type, node.start_ns, node.duration_ns);
    for (const std::uint32_t dep : graph_.deps[n]) writer.add_data_dep(dep);
    if (node.parent != no_row) writer.add_ctrl_dep(node.parent);
    if (node.kind == OpsKind::host) {
      writer.add_host_attributes(model_.host->nodes[node.index]);
      writer.add_tensors(node.index, no_row);
    } else {
      write_owner(writer, node);
    }
    writer.add_is_cpu_op(work == nullptr && node.comm == no_row);
    if (work != nullptr) {
      const StreamWork& stream = model_.launches.streams[work->stream];
      if (stream.stream != no_stream) writer.add_int64("stream", stream.stream);
    }
    if (memory) writer.add_copied_bytes(work->event);
    if (comm != nullptr) writer.add_communication(*comm);
    writer.finish();
  }

  // A device node takes its parent's attributes and tensors, as today's linker does.
  void write_owner(NodeWriter& writer, const OpsNode& node) const {
    const std::uint32_t frame = OpsGraph::owner_of(model_, node);
    if (frame == no_row) return;
    const std::uint32_t event = model_.tree.frames[frame].event;
    const std::uint32_t host = model_.match.node_of_event[event];
    if (host != no_row) {
      writer.add_host_attributes(model_.host->nodes[host]);
    } else {
      writer.add_event_attributes(event);
    }
    writer.add_tensors(host, event);
  }

  const LinkedModel& model_;
  bool memory_nodes_;
  OpsGraph graph_;
};

}  // namespace

TracePtr convert_ops(const LinkedModel& model, const ConvertOptions& options) {
  return OpsConverter(model, options.memory_nodes).run(options.threads);
}

}  // namespace chakra::pytorch
