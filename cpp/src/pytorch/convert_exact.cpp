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
        writer_(model) {
    for (const StreamWork& stream : model.launches.streams) {
      several_devices_ = several_devices_ || stream.device != model.launches.streams.front().device;
    }
  }

  TracePtr run() {
    if (writer_.write_groups(0)) first_id_ = 1;
    for (std::uint32_t n = 0; n < graph_.nodes.size(); ++n) write(n);
    return writer_.build("exact");
  }

 private:
  NodeId id_of(std::uint32_t node) const { return first_id_ + node; }

  std::string_view event_name(std::uint32_t event) const {
    return model_.device->strings.view(model_.device->events[event].name);
  }

  void write(std::uint32_t n) {
    const ExactNode& node = graph_.nodes[n];
    switch (node.kind) {
      case ExactKind::piece:
        write_piece(n, model_.pieces.pieces[node.index]);
        break;
      case ExactKind::work:
        write_work(n, node.index);
        break;
      case ExactKind::comm:
        write_comm(n, node.index);
        break;
      case ExactKind::work_lag:
      case ExactKind::comm_lag:
        write_lag(n, node);
        break;
    }
  }

  void begin(std::uint32_t n, std::string_view name, NodeType type) {
    const ExactNode& node = graph_.nodes[n];
    writer_.begin(id_of(n), name, type, node.start_ns, node.end_ns - node.start_ns);
    for (const std::uint32_t dep : graph_.deps_of(n)) writer_.add_data_dep(id_of(dep));
    if (node.parent != no_row) writer_.add_ctrl_dep(id_of(node.parent));
  }

  void write_piece(std::uint32_t n, const Piece& piece) {
    if (piece.kind == PieceKind::op) {
      write_op(n, piece.op);
      return;
    }
    const std::string_view kind = to_string(piece.kind);
    begin(n, piece.frame == no_row ? kind : event_name(model_.tree.frames[piece.frame].event), NodeType::comp);
    writer_.add(make_uint64("tid", writer_.lane_tid(piece.lane)));
    writer_.add_is_cpu_op(true);
    writer_.add(make_string("piece", std::string(kind)));
    if (piece.op != no_row) {
      const std::uint32_t first = model_.pieces.piece_of_frame[piece.op];
      if (first != no_row) writer_.add(make_uint64("op", id_of(graph_.node_of_piece[first])));
    }
    writer_.finish();
  }

  void write_op(std::uint32_t n, std::uint32_t frame) {
    const std::uint32_t event = model_.tree.frames[frame].event;
    const std::uint32_t host = model_.match.node_of_event[event];
    begin(n, event_name(event), is_group_init(event_name(event)) ? NodeType::metadata : NodeType::comp);
    if (host != no_row) {
      writer_.add_host_attributes(model_.host->nodes[host]);
    } else {
      writer_.add_event_attributes(event);
    }
    writer_.add_is_cpu_op(true);
    const Frame& op = model_.tree.frames[frame];
    writer_.add(make_uint64("exclusive_ns", static_cast<std::uint64_t>(exclusive_[frame])));
    writer_.add(make_uint64("inclusive_ns", static_cast<std::uint64_t>(op.end_ns - op.start_ns)));
    if (host != no_row) writer_.add(make_uint64("host_id", model_.host->nodes[host].id));
    writer_.add_tensors(host, event);
    writer_.finish();
  }

  void add_stream(const DeviceWork& work) {
    const StreamWork& stream = model_.launches.streams[work.stream];
    if (stream.stream != no_stream) writer_.add(make_int64("stream", stream.stream));
    if (several_devices_ && stream.device >= 0) writer_.add(make_int64("device", stream.device));
  }

  // The op that a device work or a communication belongs to, for rf_id; communication also takes its tensors.
  void add_owner(std::uint32_t frame, bool with_tensors) {
    if (frame == no_row) return;
    const std::uint32_t event = model_.tree.frames[frame].event;
    const std::uint32_t host = model_.match.node_of_event[event];
    const std::uint64_t rf_id =
        host != no_row ? model_.host->nodes[host].rf_id : model_.device->events[event].record_function_id;
    if (rf_id != 0) writer_.add(make_uint64("rf_id", rf_id));
    if (with_tensors) writer_.add_tensors(host, event);
  }

  void write_work(std::uint32_t n, std::uint32_t w) {
    const DeviceWork& work = model_.launches.work[w];
    const std::uint32_t index = model_.communications.of_work[w];
    const Communication* comm = index == no_row ? nullptr : &model_.communications.all[index];
    const std::optional<NodeType> memory = memory_nodes_ ? memory_node_type(model_, work) : std::nullopt;
    begin(n, event_name(work.event), comm != nullptr ? comm->type : memory.value_or(NodeType::comp));
    add_owner(work.parent_op, comm != nullptr);
    writer_.add_is_cpu_op(false);
    add_stream(work);
    if (memory) writer_.add_copied_bytes(work.event);
    if (comm != nullptr) writer_.add_communication(*comm);
    writer_.finish();
  }

  void write_comm(std::uint32_t n, std::uint32_t c) {
    const BackendComm& backend = model_.backend_comms[c];
    const std::uint32_t index = model_.communications.of_backend[c];
    const Communication* comm = index == no_row ? nullptr : &model_.communications.all[index];
    begin(n, event_name(backend.event), comm != nullptr ? comm->type : NodeType::comp);
    add_owner(backend.op, true);
    writer_.add_is_cpu_op(false);
    if (comm != nullptr) writer_.add_communication(*comm);
    writer_.finish();
  }

  void write_lag(std::uint32_t n, const ExactNode& node) {
    begin(n, "lag", NodeType::comp);
    writer_.add_is_cpu_op(false);
    if (node.kind == ExactKind::work_lag) add_stream(model_.launches.work[node.index]);
    writer_.add(make_string("piece", "lag"));
    writer_.finish();
  }

  const LinkedModel& model_;
  bool memory_nodes_;
  ExactGraph graph_;
  std::vector<std::int64_t> exclusive_;
  NodeWriter writer_;
  NodeId first_id_ = 0;
  bool several_devices_ = false;
};

}  // namespace

TracePtr convert_exact(const LinkedModel& model, const ConvertOptions& options) {
  return ExactConverter(model, options).run();
}

}  // namespace chakra::pytorch
