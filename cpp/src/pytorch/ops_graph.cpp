// SPDX-License-Identifier: MIT
#include "pytorch/ops_graph.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "pytorch/node_writer.hpp"

namespace chakra::pytorch {

namespace {

class GraphBuilder {
 public:
  explicit GraphBuilder(const LinkedModel& model)
      : model_(model), exclusive_(exclusive_times(model.tree)), lane_tids_(lane_tids(model)) {}

  OpsGraph run() {
    list_nodes();
    time_nodes();
    find_parents();
    chain_threads();
    drop_backward_callers();
    if (model_.device) add_device_edges();
    return std::move(out_);
  }

 private:
  std::uint32_t count() const { return static_cast<std::uint32_t>(out_.nodes.size()); }

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
      out_.nodes.push_back(node);
      if (node.frame != no_row) list_launched(node.frame);
    }
  }

  void list_frame(std::uint32_t frame) {
    node_of_frame_[frame] = count();
    OpsNode node;
    node.kind = OpsKind::op;
    node.index = frame;
    node.frame = frame;
    out_.nodes.push_back(node);
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
    out_.nodes.push_back(node);
  }

  void list_comm(std::uint32_t c) {
    node_of_comm_[c] = count();
    OpsNode node;
    node.kind = OpsKind::comm;
    node.index = c;
    node.comm = c;
    out_.nodes.push_back(node);
  }

  // --- times ---

  void time_nodes() {
    waited_.assign(model_.tree.frames.size(), 0);
    for (const PieceWait& wait : model_.pieces.waits) note_wait(wait);
    for (OpsNode& node : out_.nodes) {
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
    for (std::uint32_t n = 0; n < count(); ++n) out_.nodes[n].parent = parent_of(n, host_by_id);
  }

  std::uint32_t parent_of(std::uint32_t n, const std::map<std::uint64_t, std::uint32_t>& host_by_id) const {
    const OpsNode& node = out_.nodes[n];
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
    const auto root = thread_roots_.find(lane_tids_[model_.tree.frames[work.call].lane]);
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
    std::vector<std::uint32_t>& deps = out_.deps[to];
    if (std::find(deps.begin(), deps.end(), from) == deps.end()) deps.push_back(from);
  }

  // The order of the CPU. An edge that goes back in it could close a cycle.
  bool is_before(std::uint32_t one, std::uint32_t other) const {
    const std::int64_t one_ns = out_.nodes[one].order_ns;
    const std::int64_t other_ns = out_.nodes[other].order_ns;
    return one_ns != other_ns ? one_ns < other_ns : one < other;
  }

  bool add_forward_dep(std::uint32_t from, std::uint32_t to) {
    if (from == no_row || to == no_row || !is_before(from, to)) return false;
    add_dep(from, to);
    return true;
  }

  // A damaged host trace may name callers that come later, or each other.
  void drop_backward_callers() {
    for (std::uint32_t n = 0; n < count(); ++n) {
      std::uint32_t& parent = out_.nodes[n].parent;
      if (parent != no_row && !is_before(parent, n)) parent = no_row;
    }
  }

  bool in_chain(const OpsNode& node) const {
    return node.comm == no_row && (node.kind == OpsKind::host || node.kind == OpsKind::op);
  }

  // One CPU node after the other, thread by thread.
  void chain_threads() {
    out_.deps.resize(out_.nodes.size());
    std::map<std::uint64_t, std::vector<std::uint32_t>> threads;
    for (std::uint32_t n = 0; n < count(); ++n) {
      if (!in_chain(out_.nodes[n])) continue;
      const bool is_host = out_.nodes[n].kind == OpsKind::host;
      // The root of all threads belongs to none.
      if (is_host && model_.host->strings.view(model_.host->nodes[out_.nodes[n].index].name).find("|process]") !=
                         std::string_view::npos) {
        continue;
      }
      threads[is_host ? model_.host->nodes[out_.nodes[n].index].tid
                      : lane_tids_[model_.tree.frames[out_.nodes[n].frame].lane]]
          .push_back(n);
    }
    for (auto& [tid, chain] : threads) link_chain(chain);
  }

  void link_chain(std::vector<std::uint32_t>& chain) {
    // Untimed nodes (roots, annotations that only the host trace has) stay where their ids put them.
    std::int64_t last = 0;
    for (const std::uint32_t n : chain) {
      OpsNode& node = out_.nodes[n];
      if (node.frame == no_row) node.order_ns = last;
      last = node.order_ns;
    }
    std::stable_sort(chain.begin(), chain.end(), [this](std::uint32_t a, std::uint32_t b) {
      return out_.nodes[a].order_ns < out_.nodes[b].order_ns;
    });
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
    add_node_waits();
  }

  void add_node_waits() {
    std::map<std::uint32_t, std::uint32_t> node_of_event;
    if (model_.node_times.waits.empty()) return;
    for (std::uint32_t w = 0; w < model_.launches.work.size(); ++w) {
      node_of_event[model_.launches.work[w].event] = node_of_work_[w];
    }
    for (std::uint32_t f = 0; f < model_.tree.frames.size(); ++f) {
      node_of_event[model_.tree.frames[f].event] = node_of_frame_[f];
    }
    for (const NodeWait& wait : model_.node_times.waits) {
      const auto source = node_of_event.find(wait.source);
      const auto target = node_of_event.find(wait.target);
      if (source != node_of_event.end() && target != node_of_event.end()) {
        add_forward_dep(source->second, target->second);
      }
    }
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
    if (idles || target == no_row || out_.nodes[source].order_ns >= out_.nodes[target].order_ns) {
      target = next_op(piece.lane, std::max(piece.busy_from_ns, piece.start_ns));
    }
    if (add_forward_dep(source, target)) out_.waits.push_back({source, target, wait.kind});
  }

  const LinkedModel& model_;
  std::vector<std::int64_t> exclusive_;
  std::vector<std::uint64_t> lane_tids_;
  OpsGraph out_;
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

std::string_view event_name(const LinkedModel& model, std::uint32_t event) {
  return model.device->strings.view(model.device->events[event].name);
}

}  // namespace

std::string_view OpsGraph::name_of(const LinkedModel& model, const OpsNode& node) {
  switch (node.kind) {
    case OpsKind::host:
      return model.host->strings.view(model.host->nodes[node.index].name);
    case OpsKind::op:
      return event_name(model, model.tree.frames[node.index].event);
    case OpsKind::work:
      return event_name(model, model.launches.work[node.index].event);
    default:
      return event_name(model, model.backend_comms[node.index].event);
  }
}

const Communication* OpsGraph::communication_of(const LinkedModel& model, const OpsNode& node) {
  std::uint32_t index = no_row;
  if (node.comm != no_row) index = model.communications.of_backend[node.comm];
  if (node.kind == OpsKind::work) index = model.communications.of_work[node.index];
  return index == no_row ? nullptr : &model.communications.all[index];
}

std::uint32_t OpsGraph::owner_of(const LinkedModel& model, const OpsNode& node) {
  if (node.kind == OpsKind::work) return model.launches.work[node.index].parent_op;
  if (node.kind == OpsKind::comm) return model.backend_comms[node.index].op;
  return node.frame;
}

OpsGraph build_ops_graph(const LinkedModel& model) { return GraphBuilder(model).run(); }

}  // namespace chakra::pytorch
