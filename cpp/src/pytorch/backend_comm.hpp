// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pytorch/call_tree.hpp"

namespace chakra::pytorch {

/// A communication that a CPU backend (gloo, mpi, ucc) ran: the interval of its annotation.
struct BackendComm {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t event = no_row;     ///< the annotation
  std::uint32_t op = no_row;        ///< frame of the c10d op that asked for it, or no_row
  std::uint32_t previous = no_row;  ///< the one before it on the same worker thread, if that has ended by then
};

/// All backend communications, by start; each paired with its c10d op: the i-th op with the i-th annotation of the
/// same name and sizes, as long as the op starts first.
std::vector<BackendComm> find_backend_comms(const DeviceTrace& trace, const CallTree& tree);

/// "c10d::_allgather_base_" and "gloo:_all_gather_base" are both "allgatherbase".
std::string plain_comm_name(std::string_view name);

}  // namespace chakra::pytorch
