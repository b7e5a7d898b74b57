// SPDX-License-Identifier: MIT
#include "pytorch/exact_graph.hpp"
#include "pytorch/node_writer.hpp"

namespace chakra::pytorch {

namespace {

class ExactConverter {
 public:
  ExactConverter(const LinkedModel& model, const ConvertOptions& options)
      : model_(model),
        memory_nodes_(options.memory_nodes),
        graph_(build_exact_graph({model.tree, model.launches, model.stream_waits, model.backend_comms, model.pieces},
                                 options.lag_min_ns)),
        exclusive_(exclusive_times(model.tree)),
        first_id_(model.groups.empty() ? 0 : 1) {
    for (const StreamWork& stream : model.launches.streams) {
      several_devices_ = several_devices_ || stream.device != model.launches.streams.front().device;
    }
  }

  TracePtr run(unsigned threads) const {
    const auto count = static_cast<std::uint32_t>(graph_.nodes.size() + first_id_);
    return write_nodes(model_, count, "exact", threads, [this](NodeWriter& writer, std::uint32_t row) {
      if (row < first_id_) {
        writer.write_groups(0);
      } else {
        write(writer, static_cast<std::uint32_t>(row - first_id_));
      }
    });
  }

 private:
  NodeId id_of(std::uint32_t node) const { return first_id_ + node; }

  std::string_view event_name(std::uint32_t event) const {
    return model_.device->strings.view(model_.device->events[event].name);
  }

  void write(NodeWriter& writer, std::uint32_t n) const {
    const ExactNode& node = graph_.nodes[n];
    switch (node.kind) {
      case ExactKind::piece:
        write_piece(writer, n, model_.pieces.pieces[node.index]);
        break;
      case ExactKind::work:
        write_work(writer, n, node.index);
        break;
      case ExactKind::comm:
        write_comm(writer, n, node.index);
        break;
      case ExactKind::work_lag:
      case ExactKind::comm_lag:
        write_lag(writer, n, node);
        break;
    }
  }

  void begin(NodeWriter& writer, std::uint32_t n, std::string_view name, NodeType type) const {
    const ExactNode& node = graph_.nodes[n];
    writer.begin(id_of(n), name, type, node.start_ns, node.end_ns - node.start_ns);
    for (const std::uint32_t dep : graph_.deps_of(n)) writer.add_data_dep(id_of(dep));
    if (node.parent != no_row) writer.add_ctrl_dep(id_of(node.parent));
  }

  void write_piece(NodeWriter& writer, std::uint32_t n, const Piece& piece) const {
    if (piece.kind == PieceKind::op) {
      write_op(writer, n, piece.op);
      return;
    }
    const std::string_view kind = to_string(piece.kind);
    begin(writer, n, piece.frame == no_row ? kind : event_name(model_.tree.frames[piece.frame].event), NodeType::comp);
    writer.add_uint64("tid", writer.lane_tid(piece.lane));
    writer.add_is_cpu_op(true);
    writer.add_string("piece", kind);
    if (piece.op != no_row) {
      const std::uint32_t first = model_.pieces.piece_of_frame[piece.op];
      if (first != no_row) writer.add_uint64("op", id_of(graph_.node_of_piece[first]));
    }
    writer.finish();
  }

  void write_op(NodeWriter& writer, std::uint32_t n, std::uint32_t frame) const {
    const std::uint32_t event = model_.tree.frames[frame].event;
    const std::uint32_t host = model_.match.node_of_event[event];
    begin(writer, n, event_name(event), is_group_init(event_name(event)) ? NodeType::metadata : NodeType::comp);
    if (host != no_row) {
      writer.add_host_attributes(model_.host->nodes[host]);
    } else {
      writer.add_event_attributes(event);
    }
    writer.add_is_cpu_op(true);
    const Frame& op = model_.tree.frames[frame];
    writer.add_uint64("exclusive_ns", static_cast<std::uint64_t>(exclusive_[frame]));
    writer.add_uint64("inclusive_ns", static_cast<std::uint64_t>(op.end_ns - op.start_ns));
    if (host != no_row) writer.add_uint64("host_id", model_.host->nodes[host].id);
    writer.add_tensors(host, event);
    writer.finish();
  }

  void add_stream(NodeWriter& writer, const DeviceWork& work) const {
    const StreamWork& stream = model_.launches.streams[work.stream];
    if (stream.stream != no_stream) writer.add_int64("stream", stream.stream);
    if (several_devices_ && stream.device >= 0) writer.add_int64("device", stream.device);
  }

  // The op that a device work or a communication belongs to, for rf_id; communication also takes its tensors.
  void add_owner(NodeWriter& writer, std::uint32_t frame, bool with_tensors) const {
    if (frame == no_row) return;
    const std::uint32_t event = model_.tree.frames[frame].event;
    const std::uint32_t host = model_.match.node_of_event[event];
    const std::uint64_t rf_id =
        host != no_row ? model_.host->nodes[host].rf_id : model_.device->events[event].record_function_id;
    if (rf_id != 0) writer.add_uint64("rf_id", rf_id);
    if (with_tensors) writer.add_tensors(host, event);
  }

  void write_work(NodeWriter& writer, std::uint32_t n, std::uint32_t w) const {
    const DeviceWork& work = model_.launches.work[w];
    const std::uint32_t index = model_.communications.of_work[w];
    const Communication* comm = index == no_row ? nullptr : &model_.communications.all[index];
    const std::optional<NodeType> memory = memory_nodes_ ? memory_node_type(model_, work) : std::nullopt;
    begin(writer, n, event_name(work.event), comm != nullptr ? comm->type : memory.value_or(NodeType::comp));
    add_owner(writer, work.parent_op, comm != nullptr);
    writer.add_is_cpu_op(false);
    add_stream(writer, work);
    if (memory) writer.add_copied_bytes(work.event);
    if (comm != nullptr) writer.add_communication(*comm);
    writer.finish();
  }

  void write_comm(NodeWriter& writer, std::uint32_t n, std::uint32_t c) const {
    const BackendComm& backend = model_.backend_comms[c];
    const std::uint32_t index = model_.communications.of_backend[c];
    const Communication* comm = index == no_row ? nullptr : &model_.communications.all[index];
    begin(writer, n, event_name(backend.event), comm != nullptr ? comm->type : NodeType::comp);
    add_owner(writer, backend.op, true);
    writer.add_is_cpu_op(false);
    if (comm != nullptr) writer.add_communication(*comm);
    writer.finish();
  }

  void write_lag(NodeWriter& writer, std::uint32_t n, const ExactNode& node) const {
    begin(writer, n, "lag", NodeType::comp);
    writer.add_is_cpu_op(false);
    if (node.kind == ExactKind::work_lag) add_stream(writer, model_.launches.work[node.index]);
    writer.add_string("piece", "lag");
    writer.finish();
  }

  const LinkedModel& model_;
  bool memory_nodes_;
  ExactGraph graph_;
  std::vector<std::int64_t> exclusive_;
  NodeId first_id_;  ///< the process groups have 0
  bool several_devices_ = false;
};

}  // namespace

TracePtr convert_exact(const LinkedModel& model, const ConvertOptions& options) {
  return ExactConverter(model, options).run(options.threads);
}

}  // namespace chakra::pytorch
