// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace chakra::sim {

enum class EventKind : std::uint8_t {
  batch,         ///< subject: rank whose actions are due
  landing,       ///< subject: message that has reached its destination
  late_receive,  ///< subject: receive whose message was there before it
  hop_arrival,   ///< subject: message that has reached the next node of its way
  link_free,     ///< subject: index of a link in use
};

struct Event {
  std::uint64_t tick;
  std::uint32_t subject;
  EventKind kind;
};

/// Monotone priority queue: smallest tick first, first in first out within a tick.
///
/// A radix heap: bucket b holds the ticks whose highest bit that differs from the current tick is
/// bit b-1. Events of one tick are always in one bucket in their order of registration, and
/// emptying a bucket into the lower ones keeps it, so no sequence number is needed.
class EventQueue {
 public:
  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  /// Tick of the last popped event.
  std::uint64_t now() const noexcept { return now_; }

  /// Precondition: event.tick >= now().
  void push(const Event& event) {
    const auto bucket = static_cast<std::size_t>(std::bit_width(event.tick ^ now_));
    buckets_[bucket].push_back(event);
    occupied_ |= bucket == 0 ? 0 : std::uint64_t{1} << (bucket - 1);
    ++size_;
  }

  /// Precondition: not empty.
  Event pop() {
    if (next_ == buckets_[0].size()) advance();
    --size_;
    return buckets_[0][next_++];
  }

 private:
  void advance();

  std::array<std::vector<Event>, 65> buckets_;
  std::uint64_t occupied_ = 0;  ///< bit b-1: bucket b is not empty; bucket 0 is not counted
  std::size_t next_ = 0;        ///< first event of bucket 0 that was not popped
  std::size_t size_ = 0;
  std::uint64_t now_ = 0;
};

}  // namespace chakra::sim
