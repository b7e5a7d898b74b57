// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "chakra_core/network.hpp"
#include "chakra_core/simulation_result.hpp"
#include "network/route.hpp"
#include "sim/kernel.hpp"
#include "sim/mailbox.hpp"
#include "sim/slot_pool.hpp"

namespace chakra::sim {

struct TransportOptions {
  bool parity = false;
  bool congestion = false;
  bool rendezvous = false;
};

/// Told when a send or a receive is over.
class CompletionListener {
 public:
  virtual void completed(const Continuation& continuation) = 0;

 protected:
  ~CompletionListener() = default;
};

/// Moves messages over the network and matches them with their receives.
class Transport {
 public:
  Transport(const Network& network, const TransportOptions& options, Kernel& kernel, CompletionListener& listener);

  /// `sent` happens when the message has landed, `received` when it has also been matched.
  void send(const MatchKey& key, const Continuation& sent);
  void receive(const MatchKey& key, const Continuation& received);

  /// Events of the kernel.
  void landing(std::uint32_t message);
  void late_receive(std::uint32_t receive);
  void hop_arrival(std::uint32_t message);
  void link_free(std::uint32_t link);

  std::uint64_t messages() const noexcept { return messages_; }
  /// What each link carried, by its number; none without congestion. Call it when no message is on its way.
  void collect_links(LinkColumns& columns) const;
  const Mailbox& mailbox() const noexcept { return mailbox_; }
  /// The transfer behind a start_send or post_receive continuation that was found unmatched.
  const MatchKey& held_key(std::uint32_t held) const noexcept { return held_[held].key; }
  const Continuation& held_continuation(std::uint32_t held) const noexcept { return held_[held].continuation; }

  /// Set in the tag of the control messages of the rendezvous protocol.
  static constexpr std::uint64_t control_bit = std::uint64_t{1} << 62;

 private:
  struct Message {
    MatchKey key;
    Continuation sent;
    std::uint32_t node;  ///< congestion: where it is, or where it is going next
    std::uint32_t next;  ///< congestion: behind it in the queue for a link
  };
  /// What an NPU's last message took. Its next one is nearly always alike.
  struct Sent {
    std::uint64_t bytes = 0;
    std::uint64_t delay = 0;
    std::uint32_t dst = ~std::uint32_t{0};
  };
  struct Held {
    MatchKey key;
    Continuation continuation;
  };
  struct LinkUse {
    std::uint32_t source = 0;
    std::uint32_t destination = 0;
    std::uint32_t dimension = 0;
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    std::uint64_t busy_ns = 0;
  };
  struct Link {
    Hop hop;
    LinkUse use;                ///< since it became busy
    std::uint32_t head = none;  ///< messages that wait
    std::uint32_t tail = none;
  };

  void start(const MatchKey& key, const Continuation& sent);
  std::uint64_t delay(const MatchKey& key);
  void post(const MatchKey& key, const Continuation& received);
  void complete(const Continuation& continuation);
  void forward(std::uint32_t message);
  void occupy(std::uint32_t link, std::uint32_t message);
  void add_use(std::uint64_t link, const LinkUse& use);

  const Network& network_;
  TransportOptions options_;
  Kernel& kernel_;
  CompletionListener& listener_;
  Mailbox mailbox_;
  SlotPool<Message> in_flight_;
  std::vector<Sent> last_sent_;  ///< by NPU
  SlotPool<Continuation> late_;
  SlotPool<Held> held_;
  std::shared_ptr<const Router> router_;
  SlotPool<Link> links_;                                   ///< busy links only
  std::unordered_map<std::uint64_t, std::uint32_t> busy_;  ///< number of a link to its place in links_
  std::unordered_map<std::uint64_t, LinkUse> link_uses_;   ///< by number of the link
  std::uint64_t messages_ = 0;
};

}  // namespace chakra::sim
