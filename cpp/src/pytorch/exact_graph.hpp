// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pytorch/pieces.hpp"

namespace chakra::pytorch {

enum class ExactKind : std::uint8_t {
  piece,     ///< a CPU piece
  work,      ///< a device event
  work_lag,  ///< what no dependency explains of a work's start
  comm,      ///< a backend communication
  comm_lag,  ///< likewise for it
};

/// A node of the layout "exact". Times are relative to the start of the trace.
struct ExactNode {
  std::int64_t start_ns = 0;  ///< recorded end minus own cost
  std::int64_t end_ns = 0;
  std::uint32_t index = no_row;   ///< of the piece, work or communication
  std::uint32_t parent = no_row;  ///< node of the enclosing op's first piece (ctrl_deps), or no_row
  ExactKind kind = ExactKind::piece;
};

/// The layout "exact" as a graph: node numbers are the ids; every dependency and every parent has a smaller one.
struct ExactGraph {
  std::vector<ExactNode> nodes;
  std::vector<std::uint32_t> first_dep;  ///< deps of node n: deps[first_dep[n]] .. deps[first_dep[n + 1] - 1]
  std::vector<std::uint32_t> deps;
  std::vector<std::uint32_t> node_of_piece;
  std::vector<std::uint32_t> node_of_work;
  std::vector<std::uint32_t> node_of_comm;

  // Edges by kind.
  std::uint64_t cpu_order = 0;
  std::uint64_t launch = 0;
  std::uint64_t stream_order = 0;
  std::uint64_t comm_launch = 0;
  std::uint64_t comm_worker_order = 0;
  std::uint64_t lags = 0;
  std::uint64_t unexplained_lags = 0;  ///< lags of work over 20 us
  std::int64_t unexplained_lag_ns = 0;

  std::span<const std::uint32_t> deps_of(std::uint32_t node) const noexcept {
    return std::span(deps).subspan(first_dep[node], first_dep[node + 1] - first_dep[node]);
  }
};

struct ExactInputs {
  const CallTree& tree;
  const Launches& launches;
  const StreamWaits& stream_waits;
  const std::vector<BackendComm>& comms;
  const Pieces& pieces;
};

/// Rules 4.4 to 4.6 and 8. A lag longer than `lag_min_ns` becomes a node of its own.
ExactGraph build_exact_graph(const ExactInputs& inputs, std::int64_t lag_min_ns);

}  // namespace chakra::pytorch
