// SPDX-License-Identifier: MIT
#include "pytorch/pieces.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "pytorch/release_times.hpp"

namespace chakra::pytorch {

namespace {

// An idle piece shorter than this before a communication ends shows no wait for it.
constexpr std::int64_t visible_wait_ns = 20'000;

// A point where a lane's time is cut. The order of cuts at one time is that of `key`: an op's start, then the cuts that
// belong inside the op, then the start of the next op.
struct Cut {
  std::int64_t time_ns = 0;
  std::uint64_t key = 0;
  std::uint32_t frame = no_row;  // that names the piece which begins here
  std::uint32_t op = no_row;
  PieceKind kind = PieceKind::op;
  std::uint32_t slot = no_row;  // where to note the pieces on both sides
};

// The pieces on both sides of a cut.
struct Sides {
  std::uint32_t ends = no_row;
  std::uint32_t begins = no_row;
};

class Cutter {
 public:
  explicit Cutter(const PieceInputs& inputs) : in_(inputs), releases_(find_release_times(inputs)) {}

  Pieces run() {
    out_.launch_latency_ns = releases_.launch_latency_ns;
    out_.piece_of_frame.assign(in_.tree.frames.size(), no_row);
    lanes_.resize(in_.tree.lane_count());
    mark_active_lanes();
    cut_at_ops();
    cut_at_calls();
    cut_at_hand_overs();
    cut_at_comms();
    for (std::uint32_t lane = 0; lane < in_.tree.lane_count(); ++lane) lay_out(lane);
    out_.lane_begin.push_back(count());
    note_releases();
    wait_for_devices();
    wait_for_threads();
    wait_for_comms();
    wait_for_flows();
    settle_waits();
    return std::move(out_);
  }

 private:
  std::uint32_t count() const { return static_cast<std::uint32_t>(out_.pieces.size()); }

  // A lane that neither runs ops nor launches anything (a watchdog that polls) has no part in the order of things.
  void mark_active_lanes() {
    active_.assign(in_.tree.lane_count(), 0);
    for (std::uint32_t f = 0; f < in_.tree.frames.size(); ++f) {
      const Frame& frame = in_.tree.frames[f];
      if (frame.is_op || !in_.launches.launched_by(f).empty()) active_[frame.lane] = 1;
    }
  }

  std::uint32_t add_cut(std::uint32_t lane, std::int64_t time_ns, std::uint32_t frame, PieceKind kind) {
    const auto slot = static_cast<std::uint32_t>(sides_.size());
    sides_.emplace_back();
    const std::uint32_t op = frame == no_row ? no_row : in_.tree.frames[frame].op;
    const std::uint64_t owner = op != no_row ? op : frame;
    lanes_[lane].push_back({time_ns, 2 * owner + 1, frame, op, kind, slot});
    return slot;
  }

  void cut_at_ops() {
    for (std::uint32_t lane = 0; lane < in_.tree.lane_count(); ++lane) {
      if (active_[lane] == 0) continue;
      const std::uint32_t first = in_.tree.lane_begin[lane];
      const Frame& frame = in_.tree.frames[first];
      if (frame.start_ns > 0) lanes_[lane].push_back({0, 0, no_row, no_row, PieceKind::start_offset, no_row});
      if (!frame.is_op) lanes_[lane].push_back({frame.start_ns, 0, first, no_row, PieceKind::resume, no_row});
      for (std::uint32_t f = first; f < in_.tree.lane_begin[lane + 1]; ++f) {
        if (!in_.tree.frames[f].is_op) continue;
        lanes_[lane].push_back({in_.tree.frames[f].start_ns, 2 * std::uint64_t{f}, f, f, PieceKind::op, no_row});
      }
    }
  }

  void cut_at_calls() {
    release_slot_.assign(in_.tree.frames.size(), no_row);
    wait_slot_.assign(in_.tree.frames.size(), no_row);
    for (std::uint32_t f = 0; f < in_.tree.frames.size(); ++f) {
      if (releases_.of_frame[f] < 0) continue;
      release_slot_[f] = add_cut(in_.tree.frames[f].lane, releases_.of_frame[f], f, PieceKind::release);
    }
    for (const CpuWait& wait : in_.cpu_waits.waits) {
      const Frame& frame = in_.tree.frames[wait.frame];
      if (active_[frame.lane] == 0 || wait_slot_[wait.frame] != no_row) continue;
      if (release_slot_[wait.frame] != no_row) {
        wait_slot_[wait.frame] = release_slot_[wait.frame];  // a launch that waits does so after its release
      } else {
        wait_slot_[wait.frame] = add_cut(frame.lane, frame.start_ns, wait.frame, PieceKind::wait);
      }
    }
  }

  // Last frame of the lane that starts by the time, then outwards to the one that is open at it.
  std::uint32_t innermost_at(std::uint32_t lane, std::int64_t time_ns) const {
    const auto begin = in_.tree.frames.begin() + in_.tree.lane_begin[lane];
    const auto end = in_.tree.frames.begin() + in_.tree.lane_begin[lane + 1];
    const auto after =
        std::upper_bound(begin, end, time_ns, [](std::int64_t t, const Frame& frame) { return t < frame.start_ns; });
    if (after == begin) return no_row;
    auto frame = static_cast<std::uint32_t>(after - in_.tree.frames.begin() - 1);
    while (frame != no_row && in_.tree.frames[frame].end_ns <= time_ns) frame = in_.tree.frames[frame].parent;
    return frame;
  }

  void cut_at_hand_overs() {
    for (const HandOver& hand_over : in_.hand_overs) {
      // The frame that is open just before the end, so that the cut comes after its start.
      const std::uint32_t frame = innermost_at(hand_over.source_lane, hand_over.source_end_ns - 1);
      hand_over_slot_.push_back(add_cut(hand_over.source_lane, hand_over.source_end_ns, frame, PieceKind::resume));
      if (hand_over.idle_from_ns > 0) {
        const std::uint32_t last = innermost_at(hand_over.lane, hand_over.idle_from_ns - 1);
        add_cut(hand_over.lane, hand_over.idle_from_ns, last, PieceKind::resume);
      }
    }
  }

  void cut_at_comms() {
    for (const BackendComm& comm : in_.comms) {
      if (comm.op == no_row) {
        comm_slot_.push_back(no_row);
        continue;
      }
      const Frame& op = in_.tree.frames[comm.op];
      comm_slot_.push_back(add_cut(op.lane, std::min(comm.start_ns, op.end_ns), comm.op, PieceKind::release));
      cut_where_idle(op.lane, comm);
    }
  }

  // The caller waits where it is idle when the communication ends: between frames, in an annotation, or in the
  // c10d op itself, but not in another op that happens to run.
  bool idle_at_end(std::uint32_t lane, const BackendComm& comm) const {
    const std::uint32_t open = innermost_at(lane, comm.end_ns);
    return open == no_row || open == comm.op || in_.tree.frames[open].is_annotation;
  }

  // What the caller did before it became idle must not be counted as waiting.
  void cut_where_idle(std::uint32_t lane, const BackendComm& comm) {
    if (!idle_at_end(lane, comm)) return;
    const auto begin = in_.tree.frames.begin() + in_.tree.lane_begin[lane];
    const auto end = in_.tree.frames.begin() + in_.tree.lane_begin[lane + 1];
    auto frame =
        std::upper_bound(begin, end, comm.end_ns, [](std::int64_t t, const Frame& f) { return t < f.start_ns; });
    if (frame == begin) return;
    // The last frame that has begun, or the outermost one around it that is over: it ended last.
    std::uint32_t last = static_cast<std::uint32_t>(frame - in_.tree.frames.begin() - 1);
    if (in_.tree.frames[last].end_ns > comm.end_ns) return;
    while (true) {
      const std::uint32_t parent = in_.tree.frames[last].parent;
      if (parent == no_row || in_.tree.frames[parent].end_ns > comm.end_ns) break;
      last = parent;
    }
    if (in_.tree.frames[last].end_ns > 0) add_cut(lane, in_.tree.frames[last].end_ns, last, PieceKind::resume);
  }

  std::int64_t lane_end(std::uint32_t lane) const {
    std::int64_t end = 0;
    for (std::uint32_t f = in_.tree.lane_begin[lane]; f < in_.tree.lane_begin[lane + 1]; ++f) {
      end = std::max(end, in_.tree.frames[f].end_ns);
    }
    return end;
  }

  void lay_out(std::uint32_t lane) {
    out_.lane_begin.push_back(count());
    std::vector<Cut>& cuts = lanes_[lane];
    std::stable_sort(cuts.begin(), cuts.end(), [](const Cut& a, const Cut& b) {
      return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.key < b.key;
    });
    const std::int64_t end = lane_end(lane);
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      const bool more_at_this_time = i + 1 < cuts.size() && cuts[i + 1].time_ns == cuts[i].time_ns;
      place(lane, cuts[i], more_at_this_time, end);
    }
    for (std::uint32_t p = out_.lane_begin.back(); p < count(); ++p) {
      out_.pieces[p].end_ns = p + 1 < count() ? out_.pieces[p + 1].start_ns : end;
    }
    cuts = {};
  }

  void begin_piece(std::uint32_t lane, const Cut& cut) {
    if (cut.kind == PieceKind::op) out_.piece_of_frame[cut.frame] = count();
    Piece piece;
    piece.start_ns = cut.time_ns;
    piece.lane = lane;
    piece.op = cut.op;
    piece.frame = cut.frame;
    piece.kind = cut.kind;
    out_.pieces.push_back(piece);
  }

  // Begins a piece at the cut, or finds that one begins there anyway.
  void place(std::uint32_t lane, const Cut& cut, bool more_at_this_time, std::int64_t end_ns) {
    if (cut.slot == no_row) {
      begin_piece(lane, cut);
      return;
    }
    const std::uint32_t current = count() - 1;
    Piece& piece = out_.pieces[current];
    Sides& sides = sides_[cut.slot];
    const bool begins_here = piece.start_ns == cut.time_ns;
    const bool is_first = current == out_.lane_begin.back();
    if (more_at_this_time && !(begins_here && piece.kind != PieceKind::op)) {
      sides = {current, current + 1};
    } else if (cut.time_ns >= end_ns) {
      sides = {current, current};
    } else if (begins_here && !is_first && piece.kind != PieceKind::op) {
      if (cut.kind == PieceKind::wait) {
        piece.kind = PieceKind::wait;
        piece.frame = cut.frame;
        piece.op = cut.op;
      }
      sides = {current - 1, current};
    } else if (begins_here && cut.kind == PieceKind::wait) {
      sides = {is_first ? no_row : current - 1, current};
    } else {
      begin_piece(lane, cut);
      sides = {current, current + 1};
    }
  }

  void note_releases() {
    out_.release_of_work.assign(in_.launches.work.size(), no_row);
    for (std::uint32_t w = 0; w < in_.launches.work.size(); ++w) {
      const std::uint32_t call = in_.launches.work[w].call;
      if (call != no_row && release_slot_[call] != no_row) out_.release_of_work[w] = sides_[release_slot_[call]].ends;
    }
    for (const std::uint32_t slot : comm_slot_) {
      out_.release_of_comm.push_back(slot == no_row ? no_row : sides_[slot].ends);
    }
  }

  // The piece of the lane with start <= time < end, or no_row.
  std::uint32_t piece_at(std::uint32_t lane, std::int64_t time_ns) const {
    const auto begin = out_.pieces.begin() + out_.lane_begin[lane];
    const auto end = out_.pieces.begin() + out_.lane_begin[lane + 1];
    const auto after =
        std::upper_bound(begin, end, time_ns, [](std::int64_t t, const Piece& piece) { return t < piece.start_ns; });
    if (after == begin || (after - 1)->end_ns <= time_ns) return no_row;
    return static_cast<std::uint32_t>(after - out_.pieces.begin() - 1);
  }

  void wait_for_devices() {
    for (const CpuWait& wait : in_.cpu_waits.waits) {
      if (wait_slot_[wait.frame] == no_row) continue;
      out_.waits.push_back({sides_[wait_slot_[wait.frame]].begins, wait.work, PieceWaitKind::device, wait.kind});
    }
  }

  void wait_for_threads() {
    for (std::size_t i = 0; i < in_.hand_overs.size(); ++i) {
      const HandOver& hand_over = in_.hand_overs[i];
      const std::uint32_t piece = piece_at(hand_over.lane, hand_over.source_end_ns);
      const std::uint32_t source = sides_[hand_over_slot_[i]].ends;
      if (piece == no_row || source == no_row) continue;
      out_.waits.push_back({piece, source, PieceWaitKind::thread, {}});
    }
  }

  void wait_for_comms() {
    for (std::uint32_t c = 0; c < in_.comms.size(); ++c) {
      const BackendComm& comm = in_.comms[c];
      if (comm.op == no_row) continue;
      const std::uint32_t lane = in_.tree.frames[comm.op].lane;
      const std::uint32_t piece = idle_at_end(lane, comm) ? piece_at(lane, comm.end_ns) : no_row;
      if (piece == no_row || comm.end_ns - out_.pieces[piece].start_ns < visible_wait_ns) {
        ++out_.invisible_comm_waits;
        continue;
      }
      out_.waits.push_back({piece, c, PieceWaitKind::comm, {}});
    }
  }

  std::uint32_t op_at(const FlowPoint& point, const std::unordered_map<std::uint32_t, std::uint32_t>& lanes) const {
    const auto lane = lanes.find(point.thread);
    const bool in_record =
        point.time_ns >= in_.tree.origin_ns && point.time_ns <= in_.tree.origin_ns + in_.tree.span_ns;
    if (lane == lanes.end() || !in_record) return no_row;
    const std::uint32_t frame = innermost_at(lane->second, point.time_ns - in_.tree.origin_ns);
    return frame == no_row ? no_row : in_.tree.frames[frame].op;
  }

  void wait_for_flows() {
    std::unordered_map<std::uint32_t, std::uint32_t> lanes;
    for (std::uint32_t lane = 0; lane < in_.tree.lane_count(); ++lane) lanes.emplace(in_.tree.lane_thread[lane], lane);
    std::unordered_map<std::uint64_t, std::uint32_t> starts;
    for (const FlowPoint& point : in_.trace.flows) {
      if (!point.finish) starts[point.id] = op_at(point, lanes);
    }
    for (const FlowPoint& point : in_.trace.flows) {
      const auto start = point.finish ? starts.find(point.id) : starts.end();
      if (start == starts.end() || start->second == no_row) continue;
      const std::uint32_t target = op_at(point, lanes);
      if (target == no_row || in_.tree.frames[target].lane == in_.tree.frames[start->second].lane) continue;
      const std::uint32_t source = out_.piece_of_frame[start->second];
      const std::uint32_t piece = out_.piece_of_frame[target];
      if (source == no_row || piece == no_row || out_.pieces[source].end_ns > out_.pieces[piece].start_ns) continue;
      out_.waits.push_back({piece, source, PieceWaitKind::flow, {}});
    }
  }

  std::int64_t source_end(const PieceWait& wait) const {
    switch (wait.kind) {
      case PieceWaitKind::device:
        return in_.launches.work[wait.source].end_ns;
      case PieceWaitKind::comm:
        return in_.comms[wait.source].end_ns;
      default:
        return out_.pieces[wait.source].end_ns;
    }
  }

  // Drops what the record contradicts, and charges to each piece only what comes after its waiting.
  void settle_waits() {
    const auto contradicted = [this](const PieceWait& wait) {
      return source_end(wait) > out_.pieces[wait.piece].end_ns;
    };
    const std::size_t before = out_.waits.size();
    std::erase_if(out_.waits, contradicted);
    out_.dropped_waits = before - out_.waits.size();
    std::stable_sort(out_.waits.begin(), out_.waits.end(),
                     [](const PieceWait& a, const PieceWait& b) { return a.piece < b.piece; });
    for (Piece& piece : out_.pieces) piece.busy_from_ns = piece.start_ns;
    for (const PieceWait& wait : out_.waits) {
      std::int64_t& busy_from = out_.pieces[wait.piece].busy_from_ns;
      busy_from = std::max(busy_from, source_end(wait));
    }
  }

  const PieceInputs& in_;
  ReleaseTimes releases_;
  Pieces out_;
  std::vector<std::vector<Cut>> lanes_;
  std::vector<std::uint8_t> active_;
  std::vector<Sides> sides_;
  std::vector<std::uint32_t> release_slot_;  // of launching frames
  std::vector<std::uint32_t> wait_slot_;     // of waiting frames
  std::vector<std::uint32_t> hand_over_slot_;
  std::vector<std::uint32_t> comm_slot_;
};

}  // namespace

std::string_view to_string(PieceKind kind) noexcept {
  constexpr std::array<std::string_view, 5> names = {"op", "release", "wait", "resume", "start offset"};
  return names[static_cast<std::size_t>(kind)];
}

Pieces cut_pieces(const PieceInputs& inputs) { return Cutter(inputs).run(); }

}  // namespace chakra::pytorch
