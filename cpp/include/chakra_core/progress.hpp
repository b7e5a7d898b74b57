// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

#include "chakra_core/errors.hpp"

namespace chakra {

/// Thrown by a long call whose Progress was told to cancel. Nothing has been left half done.
class Cancelled : public ChakraError {
 public:
  Cancelled();
};

/// Shared between a long call and whoever watches it from another thread. The unit of `done` and
/// `total` is the call's to say. Setting `cancel` makes the call throw Cancelled at its next look.
struct Progress {
  std::atomic<std::uint64_t> done{0};
  std::atomic<std::uint64_t> total{0};
  std::atomic<bool> cancel{false};
};

}  // namespace chakra
