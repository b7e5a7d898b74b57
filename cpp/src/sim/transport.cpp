// SPDX-License-Identifier: MIT
#include "sim/transport.hpp"

#include <map>

#include "network/whole_ns.hpp"

namespace chakra::sim {

namespace {

constexpr std::uint64_t control_bytes = 8192;

/// In ASTRA-sim the size of a message passes through a signed 32-bit integer behind a rendezvous.
std::uint64_t narrowed(std::uint64_t bytes) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(bytes)));
}

}  // namespace

Transport::Transport(const Network& network, const TransportOptions& options, Kernel& kernel,
                     CompletionListener& listener)
    : network_(network), options_(options), kernel_(kernel), listener_(listener) {
  if (options.congestion) router_ = network.router();
}

void Transport::send(const MatchKey& key, const Continuation& sent) {
  if (!options_.rendezvous) return start(key, sent);
  MatchKey real = key;
  if (options_.parity) real.bytes = narrowed(key.bytes);
  const std::uint32_t held = held_.take({real, sent});
  post({key.tag | control_bit, control_bytes, key.dst, key.src}, {Then::start_send, held, 0});
}

void Transport::receive(const MatchKey& key, const Continuation& received) {
  if (!options_.rendezvous) return post(key, received);
  MatchKey real = key;
  if (options_.parity) real.bytes = narrowed(key.bytes);
  const std::uint32_t held = held_.take({real, received});
  start({key.tag | control_bit, control_bytes, key.dst, key.src}, {Then::post_receive, held, 0});
}

void Transport::start(const MatchKey& key, const Continuation& sent) {
  ++messages_;
  const std::uint32_t message = in_flight_.take();
  Message& started = in_flight_[message];
  // Field by field: a copy of a temporary waits for the temporary to be written.
  started.key.tag = key.tag;
  started.key.bytes = key.bytes;
  started.key.src = started.node = key.src;
  started.key.dst = key.dst;
  started.sent = sent;
  started.next = none;
  if (options_.congestion) return forward(message);
  kernel_.schedule(EventKind::landing, delay(key), message);
}

std::uint64_t Transport::delay(const MatchKey& key) {
  if (last_sent_.empty()) last_sent_.resize(network_.npus());
  Sent& last = last_sent_[key.src];
  if (last.dst != key.dst || last.bytes != key.bytes) {
    const DelayRule rule = options_.parity ? DelayRule::first_dimension : DelayRule::cut_through;
    last = {key.bytes, network_.delay(key.src, key.dst, key.bytes, rule), key.dst};
  }
  return last.delay;
}

void Transport::post(const MatchKey& key, const Continuation& received) {
  if (mailbox_.post(key, received)) kernel_.schedule(EventKind::late_receive, 0, late_.take(received));
}

void Transport::landing(std::uint32_t message) {
  const Message landed = in_flight_[message];
  in_flight_.release(message);
  complete(landed.sent);
  if (const auto receiver = mailbox_.arrive(landed.key, landed.sent)) complete(*receiver);
}

void Transport::late_receive(std::uint32_t receive) {
  const Continuation received = late_[receive];
  late_.release(receive);
  complete(received);
}

void Transport::complete(const Continuation& continuation) {
  if (continuation.then != Then::start_send && continuation.then != Then::post_receive) {
    if (continuation.then != Then::nothing) listener_.completed(continuation);
    return;
  }
  const Held held = held_[continuation.a];
  held_.release(continuation.a);
  if (continuation.then == Then::start_send) {
    start(held.key, held.continuation);
  } else {
    post(held.key, held.continuation);
  }
}

void Transport::hop_arrival(std::uint32_t message) { forward(message); }

/// Hands a message to the next link of its way, or lands it.
void Transport::forward(std::uint32_t message) {
  const Message& moving = in_flight_[message];
  if (moving.node == moving.key.dst) {
    if (moving.key.src == moving.key.dst) return kernel_.schedule(EventKind::landing, 0, message);
    return landing(message);
  }
  const Hop hop = router_->next(moving.node, moving.key.dst);
  const auto [place, idle] = busy_.try_emplace(hop.link, none);
  if (idle) {
    place->second = links_.take({hop, {moving.node, hop.node, hop.dimension}, none, none});
    return occupy(place->second, message);
  }
  Link& link = links_[place->second];
  if (link.head == none) {
    link.head = message;
  } else {
    in_flight_[link.tail].next = message;
  }
  link.tail = message;
}

void Transport::occupy(std::uint32_t link, std::uint32_t message) {
  const Hop& hop = links_[link].hop;
  LinkUse& use = links_[link].use;
  Message& moving = in_flight_[message];
  moving.node = hop.node;
  moving.next = none;
  const double transfer = static_cast<double>(moving.key.bytes) / hop.bytes_per_ns;
  kernel_.schedule(EventKind::hop_arrival, whole_ns(hop.latency_ns + transfer), message);
  kernel_.schedule(EventKind::link_free, whole_ns(transfer), link);
  ++use.messages;
  use.bytes += moving.key.bytes;
  use.busy_ns += whole_ns(transfer);
}

void Transport::link_free(std::uint32_t link) {
  const std::uint32_t message = links_[link].head;
  if (message == none) {
    add_use(links_[link].hop.link, links_[link].use);
    busy_.erase(links_[link].hop.link);
    return links_.release(link);
  }
  links_[link].head = in_flight_[message].next;
  occupy(link, message);
}

void Transport::add_use(std::uint64_t link, const LinkUse& use) {
  const auto [place, is_new] = link_uses_.try_emplace(link, use);
  if (is_new) return;
  place->second.messages += use.messages;
  place->second.bytes += use.bytes;
  place->second.busy_ns += use.busy_ns;
}

void Transport::collect_links(LinkColumns& columns) const {
  for (const auto& [link, use] : std::map(link_uses_.begin(), link_uses_.end())) {
    columns.dimension.push_back(use.dimension);
    columns.source.push_back(use.source);
    columns.destination.push_back(use.destination);
    columns.messages.push_back(use.messages);
    columns.bytes.push_back(use.bytes);
    columns.busy_ns.push_back(use.busy_ns);
  }
}

}  // namespace chakra::sim
