// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "chakra_core/simulator.hpp"

namespace chakra::sim {

/// Adds up for how long which kinds of node ran on a rank, overlaps counted once.
class RankClock {
 public:
  void begin(Resource resource, std::uint64_t now) {
    advance(now);
    ++running_[index(resource)];
  }
  void end(Resource resource, std::uint64_t now) {
    advance(now);
    --running_[index(resource)];
  }

  std::uint64_t busy_ns(Resource resource) const noexcept { return busy_[index(resource)]; }
  std::uint64_t exposed_ns() const noexcept { return exposed_; }
  std::uint64_t idle_ns() const noexcept { return idle_; }

 private:
  static std::size_t index(Resource resource) noexcept { return static_cast<std::size_t>(resource); }

  void advance(std::uint64_t now) {
    const std::uint64_t passed = now - last_;
    if (passed == 0) return;
    last_ = now;
    bool any = false;
    for (std::size_t r = 1; r < running_.size(); ++r) {
      if (running_[r] == 0) continue;
      busy_[r] += passed;
      any = true;
    }
    if (!any) idle_ += passed;
    const bool communicates = running_[index(Resource::comm)] > 0;
    if (communicates && running_[index(Resource::compute)] == 0) exposed_ += passed;
  }

  std::array<std::uint32_t, 5> running_{};
  std::array<std::uint64_t, 5> busy_{};
  std::uint64_t last_ = 0;
  std::uint64_t exposed_ = 0;
  std::uint64_t idle_ = 0;
};

}  // namespace chakra::sim
