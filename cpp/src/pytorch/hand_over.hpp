// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "pytorch/call_tree.hpp"

namespace chakra::pytorch {

/// A thread without activity whose next activity waits for another thread to finish.
struct HandOver {
  std::uint32_t lane = no_row;         ///< who waits
  std::int64_t idle_from_ns = 0;       ///< end of its last activity
  std::int64_t resumes_ns = 0;         ///< start of its next one
  std::uint32_t source_lane = no_row;  ///< who is waited for
  std::int64_t source_end_ns = 0;      ///< end of its last activity before that
};

/// Rule 7.1: gaps of a thread that another thread's activity explains. By lane, then time.
std::vector<HandOver> find_hand_overs(const CallTree& tree);

}  // namespace chakra::pytorch
