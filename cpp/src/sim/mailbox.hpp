// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/slot_pool.hpp"

namespace chakra::sim {

enum class Then : std::uint8_t {
  nothing,
  send_done,        ///< a = rank, b = row: the SEND node is complete
  receive_done,     ///< a = rank, b = row: the RECV node is complete
  chunk_received,   ///< a = chunk: a message of an exchange is there
  child_received,   ///< a = chunk: a message from a child in a tree
  parent_received,  ///< a = chunk: a message from the parent in a tree
  custom_step,      ///< a = chunk, b = step of a custom collective
  start_send,       ///< a = held message: the other side is ready for it
  post_receive,     ///< a = held receive: its announcement has arrived
};

/// What happens when a send or a receive completes.
struct Continuation {
  Then then = Then::nothing;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
};

/// What a send and a receive must agree on to meet.
struct MatchKey {
  std::uint64_t tag;
  std::uint64_t bytes;
  std::uint32_t src;
  std::uint32_t dst;

  bool operator==(const MatchKey&) const = default;
};

/// Matches arrived messages with posted receives: of each key, the k-th one with the k-th other.
class Mailbox {
 public:
  struct Waiting {
    MatchKey key;
    bool arrived;  ///< messages that arrived and were not received; otherwise receives posted
    std::vector<Continuation> entries;
  };

  Mailbox();

  /// A message has arrived: takes the receive that waits for it, or keeps it with what its sender was.
  std::optional<Continuation> arrive(const MatchKey& key, const Continuation& sender);
  /// A receive is posted: true if a message was there (and is taken), else the receive waits.
  bool post(const MatchKey& key, const Continuation& receiver);

  /// Everything unmatched, in no particular order.
  std::vector<Waiting> unmatched() const;

 private:
  /// Messages or receives that wait under one key; nearly always there is one.
  struct Entry {
    MatchKey key;
    Continuation first;
    bool arrived;
    std::uint32_t next;  ///< entry of the same chain
    std::uint32_t head;  ///< items behind the first
    std::uint32_t tail;
  };
  struct Item {
    Continuation continuation;
    std::uint32_t next;
  };

  /// The link that leads to the entry of the key: the head of a chain, or `next` of the entry before. It holds `none`
  /// where the entry belongs if there is none.
  std::uint32_t& link_to(const MatchKey& key) noexcept;
  void append(std::uint32_t& link, const MatchKey& key, const Continuation& continuation, bool arrived);
  Continuation take_first(std::uint32_t& link);
  void grow();

  std::vector<std::uint32_t> chains_;  ///< by hash: the first entry
  SlotPool<Entry> entries_;
  std::size_t used_ = 0;
  SlotPool<Item> items_;
};

}  // namespace chakra::sim
