// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

namespace chakra {

/// Shared between a long call and whoever watches it from another thread. The unit of `done` and
/// `total` is the call's to say. Setting `cancel` makes the call throw Cancelled at its next look.
struct Progress {
  std::atomic<std::uint64_t> done{0};
  std::atomic<std::uint64_t> total{0};
  std::atomic<bool> cancel{false};
};

}  // namespace chakra
