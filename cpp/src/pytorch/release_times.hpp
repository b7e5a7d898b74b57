// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "pytorch/pieces.hpp"

namespace chakra::pytorch {

/// When each launching call hands its work over.
struct ReleaseTimes {
  std::vector<std::int64_t> of_frame;  ///< -1 for frames that launch nothing
  std::int64_t launch_latency_ns = 0;  ///< median of work that did not queue
};

/// Rule 4.3.
ReleaseTimes find_release_times(const PieceInputs& inputs);

}  // namespace chakra::pytorch
