// SPDX-License-Identifier: MIT
#include "pytorch/exact_graph.hpp"

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>

namespace chakra::pytorch {

namespace {

constexpr std::int64_t unexplained_lag_ns = 20'000;

// Nodes and edges in order of making; numbered by time at the end.
class Builder {
 public:
  Builder(const ExactInputs& inputs, std::int64_t lag_min_ns) : in_(inputs), lag_min_ns_(lag_min_ns) {}

  ExactGraph run() {
    reserve();
    add_pieces();
    add_works();
    add_comms();
    add_piece_deps();
    add_work_deps();
    add_comm_deps();
    number();
    return std::move(out_);
  }

 private:
  struct Edge {
    std::uint32_t from;
    std::uint32_t to;
  };

  void reserve() {
    const std::size_t expected = in_.pieces.pieces.size() + 2 * in_.launches.work.size() + 2 * in_.comms.size();
    out_.nodes.reserve(expected);
    edges_.reserve(2 * expected);
  }

  std::uint32_t add_node(std::int64_t start_ns, std::int64_t end_ns, std::uint32_t index, ExactKind kind) {
    out_.nodes.push_back({start_ns, end_ns, index, no_row, kind});
    return static_cast<std::uint32_t>(out_.nodes.size() - 1);
  }

  void add_edge(std::uint32_t from, std::uint32_t to) { edges_.push_back({from, to}); }

  void add_pieces() {
    for (std::uint32_t p = 0; p < in_.pieces.pieces.size(); ++p) {
      const Piece& piece = in_.pieces.pieces[p];
      out_.node_of_piece.push_back(add_node(piece.busy_from_ns, piece.end_ns, p, ExactKind::piece));
    }
  }

  void add_works() {
    for (std::uint32_t w = 0; w < in_.launches.work.size(); ++w) {
      const DeviceWork& work = in_.launches.work[w];
      out_.node_of_work.push_back(add_node(work.start_ns, work.end_ns, w, ExactKind::work));
    }
  }

  void add_comms() {
    for (std::uint32_t c = 0; c < in_.comms.size(); ++c) {
      out_.node_of_comm.push_back(add_node(in_.comms[c].start_ns, in_.comms[c].end_ns, c, ExactKind::comm));
    }
  }

  std::uint32_t source_node(const PieceWait& wait) const {
    switch (wait.kind) {
      case PieceWaitKind::device:
        return out_.node_of_work[wait.source];
      case PieceWaitKind::comm:
        return out_.node_of_comm[wait.source];
      default:
        return out_.node_of_piece[wait.source];
    }
  }

  void add_piece_deps() {
    for (std::uint32_t lane = 0; lane + 1 < in_.pieces.lane_begin.size(); ++lane) {
      for (std::uint32_t p = in_.pieces.lane_begin[lane]; p < in_.pieces.lane_begin[lane + 1]; ++p) {
        set_piece_parent(p);
        if (p == in_.pieces.lane_begin[lane]) continue;
        add_edge(out_.node_of_piece[p - 1], out_.node_of_piece[p]);
        ++out_.cpu_order;
      }
    }
    for (const PieceWait& wait : in_.pieces.waits) add_edge(source_node(wait), out_.node_of_piece[wait.piece]);
  }

  std::uint32_t op_node(std::uint32_t op) const {
    const std::uint32_t piece = op == no_row ? no_row : in_.pieces.piece_of_frame[op];
    return piece == no_row ? no_row : out_.node_of_piece[piece];
  }

  void set_piece_parent(std::uint32_t p) {
    const Piece& piece = in_.pieces.pieces[p];
    std::uint32_t enclosing = piece.op;
    if (piece.kind == PieceKind::op) {
      const std::uint32_t caller = in_.tree.frames[piece.op].parent;
      enclosing = caller == no_row ? no_row : in_.tree.frames[caller].op;
    }
    set_parent(out_.node_of_piece[p], op_node(enclosing));
  }

  // A parent that has not ended yet (an op cut by nothing before) would delay the node.
  void set_parent(std::uint32_t node, std::uint32_t parent) {
    if (parent == no_row || parent == node) return;
    if (out_.nodes[parent].end_ns <= out_.nodes[node].start_ns) out_.nodes[node].parent = parent;
  }

  // Makes `node` wait for the sources: directly, or through a lag where they do not explain its start.
  void depend(std::uint32_t node, const std::vector<std::uint32_t>& sources, ExactKind lag_kind) {
    std::int64_t ready = 0;
    for (const std::uint32_t source : sources) ready = std::max(ready, out_.nodes[source].end_ns);
    const std::int64_t start = out_.nodes[node].start_ns;
    const std::int64_t lag = start - ready;
    std::uint32_t target = node;
    if (lag > lag_min_ns_) {
      target = add_node(ready, start, out_.nodes[node].index, lag_kind);
      out_.nodes[target].parent = no_row;
      add_edge(target, node);
      ++out_.lags;
      if (lag_kind == ExactKind::work_lag && lag > unexplained_lag_ns) {
        ++out_.unexplained_lags;
        out_.unexplained_lag_ns += lag;
      }
    }
    for (const std::uint32_t source : sources) add_edge(source, target);
  }

  void add_work_deps() {
    std::size_t next_wait = 0;
    std::vector<std::uint32_t> sources;
    const auto& waits = in_.stream_waits.waits;
    for (std::uint32_t w = 0; w < in_.launches.work.size(); ++w) {
      const DeviceWork& work = in_.launches.work[w];
      const std::uint32_t node = out_.node_of_work[w];
      sources.clear();
      if (const std::uint32_t release = in_.pieces.release_of_work[w]; release != no_row) {
        if (in_.pieces.pieces[release].end_ns <= work.start_ns) {
          sources.push_back(out_.node_of_piece[release]);
          ++out_.launch;
        }
      }
      if (work.previous != no_row && in_.launches.work[work.previous].end_ns <= work.start_ns) {
        sources.push_back(out_.node_of_work[work.previous]);
        ++out_.stream_order;
      }
      for (; next_wait < waits.size() && waits[next_wait].target == w; ++next_wait) {
        const std::uint32_t source = out_.node_of_work[waits[next_wait].source];
        if (std::find(sources.begin(), sources.end(), source) == sources.end()) sources.push_back(source);
      }
      depend(node, sources, ExactKind::work_lag);
      set_parent(node, op_node(work.parent_op));
    }
  }

  void add_comm_deps() {
    std::vector<std::uint32_t> sources;
    for (std::uint32_t c = 0; c < in_.comms.size(); ++c) {
      const BackendComm& comm = in_.comms[c];
      sources.clear();
      if (const std::uint32_t release = in_.pieces.release_of_comm[c]; release != no_row) {
        sources.push_back(out_.node_of_piece[release]);
        ++out_.comm_launch;
      }
      if (comm.previous != no_row) {
        sources.push_back(out_.node_of_comm[comm.previous]);
        ++out_.comm_worker_order;
      }
      depend(out_.node_of_comm[c], sources, ExactKind::comm_lag);
      set_parent(out_.node_of_comm[c], op_node(comm.op));
    }
  }

  static int place(ExactKind kind) { return kind == ExactKind::piece ? 0 : 1; }

  // New numbers by (start, end, CPU first, order of making).
  std::vector<std::uint32_t> order_by_time() const {
    std::vector<std::uint32_t> order(out_.nodes.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
      const ExactNode& x = out_.nodes[a];
      const ExactNode& y = out_.nodes[b];
      return std::make_tuple(x.start_ns, x.end_ns, place(x.kind), a) <
             std::make_tuple(y.start_ns, y.end_ns, place(y.kind), b);
    });
    return order;
  }

  bool ascends(const std::vector<std::uint32_t>& number) const {
    return std::all_of(edges_.begin(), edges_.end(),
                       [&number](const Edge& e) { return number[e.from] < number[e.to]; });
  }

  // Empty nodes at one time may have to swap places: smallest number first among the nodes that are ready.
  std::vector<std::uint32_t> order_by_dependency(const std::vector<std::uint32_t>& number) const {
    std::vector<std::uint32_t> open(out_.nodes.size(), 0);
    std::vector<std::uint32_t> first(out_.nodes.size() + 1, 0);
    for (const Edge& edge : edges_) {
      ++open[edge.to];
      ++first[edge.from + 1];
    }
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<std::uint32_t> children(edges_.size());
    std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
    for (const Edge& edge : edges_) children[next[edge.from]++] = edge.to;
    using Ready = std::pair<std::uint32_t, std::uint32_t>;
    std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
    for (std::uint32_t n = 0; n < open.size(); ++n) {
      if (open[n] == 0) ready.emplace(number[n], n);
    }
    std::vector<std::uint32_t> order;
    while (!ready.empty()) {
      const std::uint32_t node = ready.top().second;
      ready.pop();
      order.push_back(node);
      for (std::uint32_t c = first[node]; c < first[node + 1]; ++c) {
        if (--open[children[c]] == 0) ready.emplace(number[children[c]], children[c]);
      }
    }
    return order;
  }

  static std::vector<std::uint32_t> inverse(const std::vector<std::uint32_t>& order) {
    std::vector<std::uint32_t> number(order.size());
    for (std::uint32_t n = 0; n < order.size(); ++n) number[order[n]] = n;
    return number;
  }

  void number() {
    std::vector<std::uint32_t> order = order_by_time();
    std::vector<std::uint32_t> number = inverse(order);
    if (!ascends(number)) {
      order = order_by_dependency(number);
      number = inverse(order);
    }
    std::vector<ExactNode> nodes;
    nodes.reserve(order.size());
    for (const std::uint32_t n : order) {
      nodes.push_back(out_.nodes[n]);
      std::uint32_t& parent = nodes.back().parent;
      if (parent != no_row) parent = number[parent] < nodes.size() - 1 ? number[parent] : no_row;
    }
    out_.nodes = std::move(nodes);
    for (auto* map : {&out_.node_of_piece, &out_.node_of_work, &out_.node_of_comm}) {
      for (std::uint32_t& node : *map) node = number[node];
    }
    out_.first_dep.assign(order.size() + 1, 0);
    for (const Edge& edge : edges_) ++out_.first_dep[number[edge.to] + 1];
    std::partial_sum(out_.first_dep.begin(), out_.first_dep.end(), out_.first_dep.begin());
    out_.deps.resize(edges_.size());
    std::vector<std::uint32_t> next(out_.first_dep.begin(), out_.first_dep.end() - 1);
    for (const Edge& edge : edges_) out_.deps[next[number[edge.to]]++] = number[edge.from];
    remove_duplicates();
  }

  // The edges of a node keep their order: first the thread or launch, then the stream, then waits.
  void remove_duplicates() {
    std::uint32_t kept = 0;
    for (std::uint32_t n = 0; n + 1 < out_.first_dep.size(); ++n) {
      const std::uint32_t begin = out_.first_dep[n];
      const std::uint32_t end = out_.first_dep[n + 1];
      out_.first_dep[n] = kept;
      const std::uint32_t own = kept;
      for (std::uint32_t d = begin; d < end; ++d) {
        const auto from = out_.deps.begin() + own;
        const auto to = out_.deps.begin() + kept;
        if (std::find(from, to, out_.deps[d]) == to) out_.deps[kept++] = out_.deps[d];
      }
    }
    out_.first_dep.back() = kept;
    out_.deps.resize(kept);
  }

  const ExactInputs& in_;
  std::int64_t lag_min_ns_;
  ExactGraph out_;
  std::vector<Edge> edges_;
};

}  // namespace

ExactGraph build_exact_graph(const ExactInputs& inputs, std::int64_t lag_min_ns) {
  return Builder(inputs, lag_min_ns).run();
}

}  // namespace chakra::pytorch
