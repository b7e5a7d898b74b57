// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "pytorch/backend_comm.hpp"
#include "pytorch/call_tree.hpp"
#include "pytorch/hand_over.hpp"
#include "pytorch/launches.hpp"
#include "pytorch/synchronisation.hpp"

namespace chakra::pytorch {

enum class PieceKind : std::uint8_t {
  op,            ///< begins with an op: the op's node
  release,       ///< begins where a launch call has handed its work over
  wait,          ///< begins with a call that waits
  resume,        ///< begins where something that others depend on has ended
  start_offset,  ///< from the start of the trace to the thread's first event
};
std::string_view to_string(PieceKind kind) noexcept;

/// A stretch of a CPU thread's time. The pieces of a lane follow one another without gap or overlap.
struct Piece {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t busy_from_ns = 0;  ///< after the waiting in it: its own cost is end_ns - busy_from_ns
  std::uint32_t lane = 0;
  std::uint32_t op = no_row;     ///< frame of the op it belongs to, or no_row
  std::uint32_t frame = no_row;  ///< frame that names it: the op, or the call; no_row for a start offset
  PieceKind kind = PieceKind::op;
};

/// Why a CPU piece waits for something off its thread.
enum class PieceWaitKind : std::uint8_t { device, thread, comm, flow };

/// A dependency of a piece: on a device work, a piece of another thread, or a backend communication.
struct PieceWait {
  std::uint32_t piece = no_row;
  std::uint32_t source = no_row;  ///< index of work (device), piece (thread, flow) or communication (comm)
  PieceWaitKind kind = PieceWaitKind::device;
  CpuWaitKind call = CpuWaitKind::stream;  ///< device only
};

struct Pieces {
  std::vector<Piece> pieces;                   ///< by lane, then time
  std::vector<std::uint32_t> lane_begin;       ///< pieces of lane l: lane_begin[l] .. lane_begin[l + 1] - 1
  std::vector<std::uint32_t> piece_of_frame;   ///< first piece of an op; no_row for calls
  std::vector<std::uint32_t> release_of_work;  ///< piece that ends when the work is handed over; no_row for orphans
  std::vector<std::uint32_t> release_of_comm;  ///< likewise for backend communications
  std::vector<PieceWait> waits;                ///< by piece
  std::int64_t launch_latency_ns = 0;          ///< median from the call's start to the start of work that did not queue
  std::uint64_t dropped_waits = 0;             ///< the source ends after the piece
  std::uint64_t invisible_comm_waits = 0;      ///< communication whose end no idle piece holds
};

/// Everything that cuts the threads.
struct PieceInputs {
  const DeviceTrace& trace;
  const CallTree& tree;
  const Launches& launches;
  const CpuWaits& cpu_waits;
  const StreamWaits& stream_waits;
  const std::vector<HandOver>& hand_overs;
  const std::vector<BackendComm>& comms;
};

/// Rules of section 4: cuts the threads' time (layout C) and finds what each piece waits for.
Pieces cut_pieces(const PieceInputs& inputs);

}  // namespace chakra::pytorch
