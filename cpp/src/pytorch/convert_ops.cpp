// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>
#include <numeric>

#include "pytorch/node_writer.hpp"

namespace chakra::pytorch {

namespace {

enum class OpsKind : std::uint8_t { host, op, work, comm };

// A node of the layout: a host node, an op that only the device trace has, a device work, or a communication that only
// the device trace has.
struct OpsNode {
  OpsKind kind = OpsKind::host;
  std::uint32_t index = no_row;  // host row, frame, work, or communication
  std::uint32_t frame = no_row;  // of a CPU node that the device trace timed
  std::uint32_t comm = no_row;   // backend communication that this host node is
  std::uint32_t parent = no_row;
  std::int64_t order_ns = 0;  // start of the op or of the call that launched the work: dependencies go forward in it
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
};

class OpsConverter {
 public:
  explicit OpsConverter(const LinkedModel& model)
      : model_(model), exclusive_(exclusive_times(model.tree)), writer_(model) {}

  TracePtr run() {
    list_nodes();
    time_nodes();
    find_parents();
    chain_threads();
    if (model_.device) add_device_edges();
    write_nodes();
    return writer_.build("ops");
  }

 private:
  std::uint32_t count() const { return static_cast<std::uint32_t>(nodes_.size()); }

  // --- which nodes there are, in the order of their ids ---

  void list_nodes() {
    node_of_frame_.assign(model_.tree.frames.size(), no_row);
    node_of_work_.assign(model_.launches.work.size(), no_row);
    node_of_comm_.assign(model_.backend_comms.size(), no_row);
    node_of_host_.assign(model_.host ? model_.host->nodes.size() : 0, no_row);
    comm_of_event_.clear();
    for (std::uint32_t c = 0; c < model_.backend_comms.size(); ++c) comm_of_event_[model_.backend_comms[c].event] = c;
    group_by_op();
    if (model_.host) list_host_nodes();
    for (std::uint32_t f = 0; f < model_.tree.frames.size(); ++f) {
      if (model_.tree.frames[f].is_op && node_of_frame_[f] == no_row) list_frame(f);
    }
    for (std::uint32_t w = 0; w < node_of_work_.size(); ++w) {
      if (node_of_work_[w] == no_row) list_work(w);
    }
    for (std::uint32_t c = 0; c < node_of_comm_.size(); ++c) {
      if (node_of_comm_[c] == no_row) list_comm(c);
    }
  }

  // Work and backend communication by the op that they hang under.
  void group_by_op() {
    work_of_op_.resize(model_.tree.frames.size());
    for (std::uint32_t w = 0; w < model_.launches.work.size(); ++w) {
      const std::uint32_t op = model_.launches.work[w].parent_op;
      if (op != no_row) work_of_op_[op].push_back(w);
    }
    comms_of_op_.resize(model_.tree.frames.size());
    for (std::uint32_t c = 0; c < model_.backend_comms.size(); ++c) {
      const BackendComm& comm = model_.backend_comms[c];
      const bool in_host = model_.match.node_of_event[comm.event] != no_row;
      if (comm.op != no_row && !in_host) comms_of_op_[comm.op].push_back(c);
    }
  }

  void list_host_nodes() {
    const auto& nodes = model_.host->nodes;
    std::vector<std::uint32_t> rows(nodes.size());
    std::iota(rows.begin(), rows.end(), 0U);
    std::stable_sort(rows.begin(), rows.end(),
                     [&nodes](std::uint32_t a, std::uint32_t b) { return nodes[a].id < nodes[b].id; });
    for (const std::uint32_t row : rows) {
      OpsNode node;
      node.kind = OpsKind::host;
      node.index = row;
      const std::uint32_t event = model_.match.event_of_node[row];
      if (event != no_row) {
        node.frame = model_.tree.frame_of_event[event];
        const auto comm = comm_of_event_.find(event);
        if (comm != comm_of_event_.end()) node.comm = comm->second;
      }
      node_of_host_[row] = count();
      if (node.comm != no_row) node_of_comm_[node.comm] = count();
      if (node.frame != no_row) node_of_frame_[node.frame] = count();
      nodes_.push_back(node);
      if (node.frame != no_row) list_launched(node.frame);
    }
  }

  void list_frame(std::uint32_t frame) {
    node_of_frame_[frame] = count();
    OpsNode node;
    node.kind = OpsKind::op;
    node.index = frame;
    node.frame = frame;
    nodes_.push_back(node);
    list_launched(frame);
  }

  void list_launched(std::uint32_t frame) {
    for (const std::uint32_t w : work_of_op_[frame]) list_work(w);
    for (const std::uint32_t c : comms_of_op_[frame]) list_comm(c);
  }

  void list_work(std::uint32_t w) {
    node_of_work_[w] = count();
    OpsNode node;
    node.kind = OpsKind::work;
    node.index = w;
    nodes_.push_back(node);
  }

  void list_comm(std::uint32_t c) {
    node_of_comm_[c] = count();
    OpsNode node;
    node.kind = OpsKind::comm;
    node.index = c;
    node.comm = c;
    nodes_.push_back(node);
  }

  // --- times ---

  void time_nodes() {
    waited_.assign(model_.tree.frames.size(), 0);
    for (const PieceWait& wait : model_.pieces.waits) note_wait(wait);
    for (OpsNode& node : nodes_) {
      if (node.comm != no_row) {
        const BackendComm& comm = model_.backend_comms[node.comm];
        set_time(node, comm.start_ns, comm.end_ns - comm.start_ns);
      } else if (node.kind == OpsKind::work) {
        const DeviceWork& work = model_.launches.work[node.index];
        set_time(node, work.start_ns, work.end_ns - work.start_ns);
        node.order_ns = launch_ns(work);
      } else if (node.frame != no_row) {
        const Frame& frame = model_.tree.frames[node.frame];
        set_time(node, frame.start_ns, std::max<std::int64_t>(0, exclusive_[node.frame] - waited_[node.frame]));
      }
    }
  }

  static void set_time(OpsNode& node, std::int64_t start_ns, std::int64_t duration_ns) {
    node.start_ns = node.order_ns = start_ns;
    node.duration_ns = duration_ns;
  }

  std::int64_t launch_ns(const DeviceWork& work) const {
    return work.call == no_row ? work.start_ns : model_.tree.frames[work.call].start_ns;
  }

  // Waiting is no work: neither of the call that waits nor of the ops that are open while their thread is idle.
  void note_wait(const PieceWait& wait) {
    if (noted_.empty()) noted_.resize(model_.pieces.pieces.size(), 0);
    if (noted_[wait.piece]++ != 0) return;
    const Piece& piece = model_.pieces.pieces[wait.piece];
    std::int64_t from = piece.start_ns;
    std::int64_t until = piece.busy_from_ns;
    if (wait.kind == PieceWaitKind::device && piece.frame != no_row) {
      from = std::max(from, model_.tree.frames[piece.frame].start_ns);
      until = std::min(until, model_.tree.frames[piece.frame].end_ns);
    }
    std::uint32_t op = piece.op;
    while (op != no_row && from < until) {
      const Frame& frame = model_.tree.frames[op];
      if (frame.end_ns > from) {
        waited_[op] += std::min(until, frame.end_ns) - from;
        from = frame.end_ns;
      }
      op = frame.parent == no_row ? no_row : model_.tree.frames[frame.parent].op;
    }
  }

  // --- callers ---

  void find_parents() {
    std::map<std::uint64_t, std::uint32_t> host_by_id;
    if (model_.host) {
      for (std::uint32_t row = 0; row < model_.host->nodes.size(); ++row) {
        host_by_id.emplace(model_.host->nodes[row].id, node_of_host_[row]);
      }
    }
    find_thread_roots();
    for (std::uint32_t n = 0; n < count(); ++n) nodes_[n].parent = parent_of(n, host_by_id);
  }

  std::uint32_t parent_of(std::uint32_t n, const std::map<std::uint64_t, std::uint32_t>& host_by_id) const {
    const OpsNode& node = nodes_[n];
    if (node.comm != no_row) {
      const std::uint32_t op = model_.backend_comms[node.comm].op;
      if (op != no_row) return node_of_frame_[op];
    }
    if (node.kind == OpsKind::work) return work_parent(model_.launches.work[node.index]);
    if (node.frame != no_row) {
      const std::uint32_t caller = model_.tree.frames[node.frame].parent;
      if (caller != no_row && model_.tree.frames[caller].op != no_row) {
        return node_of_frame_[model_.tree.frames[caller].op];
      }
    }
    if (node.kind != OpsKind::host) return no_row;
    const auto caller = host_by_id.find(model_.host->nodes[node.index].parent);
    return caller == host_by_id.end() || caller->second == n ? no_row : caller->second;
  }

  // Work outside every op hangs under the root of its thread.
  std::uint32_t work_parent(const DeviceWork& work) const {
    if (work.parent_op != no_row) return node_of_frame_[work.parent_op];
    if (work.call == no_row) return no_row;
    const auto root = thread_roots_.find(writer_.lane_tid(model_.tree.frames[work.call].lane));
    return root == thread_roots_.end() ? no_row : root->second;
  }

  void find_thread_roots() {
    if (!model_.host) return;
    for (std::uint32_t row = 0; row < model_.host->nodes.size(); ++row) {
      const HostNode& host = model_.host->nodes[row];
      if (model_.host->strings.view(host.name).ends_with("|thread]")) {
        thread_roots_.emplace(host.tid, node_of_host_[row]);
      }
    }
  }

  // --- dependencies ---

  void add_dep(std::uint32_t from, std::uint32_t to) {
    if (from == no_row || to == no_row || from == to) return;
    std::vector<std::uint32_t>& deps = deps_[to];
    if (std::find(deps.begin(), deps.end(), from) == deps.end()) deps.push_back(from);
  }

  // An edge that goes back in the order of the CPU could close a cycle.
  void add_forward_dep(std::uint32_t from, std::uint32_t to) {
    if (from == no_row || to == no_row) return;
    if (nodes_[from].order_ns < nodes_[to].order_ns || (nodes_[from].order_ns == nodes_[to].order_ns && from < to)) {
      add_dep(from, to);
    }
  }

  bool in_chain(const OpsNode& node) const {
    return node.comm == no_row && (node.kind == OpsKind::host || node.kind == OpsKind::op);
  }

  // One CPU node after the other, thread by thread.
  void chain_threads() {
    deps_.resize(nodes_.size());
    std::map<std::uint64_t, std::vector<std::uint32_t>> threads;
    for (std::uint32_t n = 0; n < count(); ++n) {
      if (!in_chain(nodes_[n])) continue;
      const bool is_host = nodes_[n].kind == OpsKind::host;
      // The root of all threads belongs to none.
      if (is_host && model_.host->strings.view(model_.host->nodes[nodes_[n].index].name).find("|process]") !=
                         std::string_view::npos) {
        continue;
      }
      threads[is_host ? model_.host->nodes[nodes_[n].index].tid
                      : writer_.lane_tid(model_.tree.frames[nodes_[n].frame].lane)]
          .push_back(n);
    }
    for (auto& [tid, chain] : threads) link_chain(chain);
  }

  void link_chain(std::vector<std::uint32_t>& chain) {
    // Untimed nodes (roots, annotations that only the host trace has) stay where their ids put them.
    std::int64_t last = 0;
    for (const std::uint32_t n : chain) {
      OpsNode& node = nodes_[n];
      if (node.frame == no_row) node.order_ns = last;
      last = node.order_ns;
    }
    std::stable_sort(chain.begin(), chain.end(),
                     [this](std::uint32_t a, std::uint32_t b) { return nodes_[a].order_ns < nodes_[b].order_ns; });
    for (std::size_t i = 1; i < chain.size(); ++i) add_dep(chain[i - 1], chain[i]);
  }

  // First op of the lane that starts at or after the time, or no_row.
  std::uint32_t next_op(std::uint32_t lane, std::int64_t time_ns) const {
    const auto begin = model_.tree.frames.begin() + model_.tree.lane_begin[lane];
    const auto end = model_.tree.frames.begin() + model_.tree.lane_begin[lane + 1];
    auto frame = std::lower_bound(begin, end, time_ns, [](const Frame& f, std::int64_t t) { return f.start_ns < t; });
    while (frame != end && !frame->is_op) ++frame;
    return frame == end ? no_row : node_of_frame_[static_cast<std::size_t>(frame - model_.tree.frames.begin())];
  }

  void add_device_edges() {
    for (std::uint32_t w = 0; w < model_.launches.work.size(); ++w) {
      const DeviceWork& work = model_.launches.work[w];
      if (work.parent_op != no_row) add_dep(node_of_frame_[work.parent_op], node_of_work_[w]);
      if (work.previous != no_row) add_forward_dep(node_of_work_[work.previous], node_of_work_[w]);
    }
    for (const StreamWait& wait : model_.stream_waits.waits) {
      add_forward_dep(node_of_work_[wait.source], node_of_work_[wait.target]);
    }
    for (std::uint32_t c = 0; c < model_.backend_comms.size(); ++c) {
      const BackendComm& comm = model_.backend_comms[c];
      if (comm.op != no_row) add_dep(node_of_frame_[comm.op], node_of_comm_[c]);
      if (comm.previous != no_row) add_forward_dep(node_of_comm_[comm.previous], node_of_comm_[c]);
    }
    for (const PieceWait& wait : model_.pieces.waits) add_cpu_wait(wait);
  }

  std::uint32_t wait_source(const PieceWait& wait) const {
    switch (wait.kind) {
      case PieceWaitKind::device:
        return node_of_work_[wait.source];
      case PieceWaitKind::comm:
        return node_of_comm_[wait.source];
      default: {
        const std::uint32_t op = model_.pieces.pieces[wait.source].op;
        return op == no_row ? no_row : node_of_frame_[op];
      }
    }
  }

  // The op that waits depends on what it waits for; where it launched that itself, the next op of the thread does.
  void add_cpu_wait(const PieceWait& wait) {
    const Piece& piece = model_.pieces.pieces[wait.piece];
    const std::uint32_t source = wait_source(wait);
    if (source == no_row) return;
    std::uint32_t target = piece.op == no_row ? no_row : node_of_frame_[piece.op];
    const bool idles = wait.kind == PieceWaitKind::thread || wait.kind == PieceWaitKind::comm;
    if (idles || target == no_row || nodes_[source].order_ns >= nodes_[target].order_ns) {
      target = next_op(piece.lane, std::max(piece.busy_from_ns, piece.start_ns));
    }
    add_forward_dep(source, target);
  }

  // --- writing ---

  void write_nodes() {
    for (std::uint32_t n = 0; n < count(); ++n) write(n);
    if (!model_.host) writer_.write_groups(count());
  }

  std::string_view name_of(const OpsNode& node) const {
    switch (node.kind) {
      case OpsKind::host:
        return model_.host->strings.view(model_.host->nodes[node.index].name);
      case OpsKind::op:
        return event_name(model_.tree.frames[node.index].event);
      case OpsKind::work:
        return event_name(model_.launches.work[node.index].event);
      default:
        return event_name(model_.backend_comms[node.index].event);
    }
  }

  std::string_view event_name(std::uint32_t event) const {
    return model_.device->strings.view(model_.device->events[event].name);
  }

  const Communication* communication_of(const OpsNode& node) const {
    std::uint32_t index = no_row;
    if (node.comm != no_row) index = model_.communications.of_backend[node.comm];
    if (node.kind == OpsKind::work) index = model_.communications.of_work[node.index];
    return index == no_row ? nullptr : &model_.communications.all[index];
  }

  void write(std::uint32_t n) {
    const OpsNode& node = nodes_[n];
    const Communication* comm = communication_of(node);
    const std::string_view name = name_of(node);
    NodeType type = is_group_init(name) ? NodeType::metadata : NodeType::comp;
    if (comm != nullptr) type = comm->type;
    writer_.begin(n, name, type, node.start_ns, node.duration_ns);
    for (const std::uint32_t dep : deps_[n]) writer_.add_data_dep(dep);
    if (node.parent != no_row) writer_.add_ctrl_dep(node.parent);
    if (node.kind == OpsKind::host) {
      writer_.add_host_attributes(model_.host->nodes[node.index]);
      writer_.add_tensors(node.index, no_row);
    } else {
      write_owner(node);
    }
    writer_.add_is_cpu_op(node.kind != OpsKind::work && node.comm == no_row);
    if (node.kind == OpsKind::work) {
      const StreamWork& stream = model_.launches.streams[model_.launches.work[node.index].stream];
      if (stream.stream != no_stream) writer_.add(make_int64("stream", stream.stream));
    }
    if (comm != nullptr) writer_.add_communication(*comm);
    writer_.finish();
  }

  // A device node takes its parent's attributes and tensors, as today's linker does.
  void write_owner(const OpsNode& node) {
    std::uint32_t frame = node.frame;
    if (node.kind == OpsKind::work) frame = model_.launches.work[node.index].parent_op;
    if (node.kind == OpsKind::comm) frame = model_.backend_comms[node.index].op;
    if (frame == no_row) return;
    const std::uint32_t event = model_.tree.frames[frame].event;
    const std::uint32_t host = model_.match.node_of_event[event];
    if (host != no_row) {
      writer_.add_host_attributes(model_.host->nodes[host]);
    } else {
      writer_.add_event_attributes(event);
    }
    writer_.add_tensors(host, event);
  }

  const LinkedModel& model_;
  std::vector<std::int64_t> exclusive_;
  NodeWriter writer_;
  std::vector<OpsNode> nodes_;
  std::vector<std::vector<std::uint32_t>> deps_;
  std::vector<std::uint32_t> node_of_frame_;
  std::vector<std::uint32_t> node_of_work_;
  std::vector<std::uint32_t> node_of_comm_;
  std::vector<std::uint32_t> node_of_host_;
  std::vector<std::vector<std::uint32_t>> work_of_op_;
  std::vector<std::vector<std::uint32_t>> comms_of_op_;
  std::map<std::uint32_t, std::uint32_t> comm_of_event_;
  std::map<std::uint64_t, std::uint32_t> thread_roots_;  // by tid
  std::vector<std::int64_t> waited_;                     // per frame: time its calls waited for the device
  std::vector<std::uint32_t> noted_;
};

}  // namespace

TracePtr convert_ops(const LinkedModel& model) { return OpsConverter(model).run(); }

}  // namespace chakra::pytorch
