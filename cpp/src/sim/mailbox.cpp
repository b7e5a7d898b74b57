// SPDX-License-Identifier: MIT
#include "sim/mailbox.hpp"

#include <utility>

namespace chakra::sim {

namespace {

constexpr std::size_t initial_chains = 1024;

std::uint64_t hash(const MatchKey& key) noexcept {
  const std::uint64_t ends = (std::uint64_t{key.src} << 32) | key.dst;
  const std::uint64_t h =
      key.tag * 0x9e3779b97f4a7c15ULL + key.bytes * 0xd6e8feb86659fd93ULL + ends * 0xff51afd7ed558ccdULL;
  return (h ^ (h >> 32)) * 0x9fb21c651e98df25ULL >> 20;
}

}  // namespace

Mailbox::Mailbox() : chains_(initial_chains, none) {}

std::uint32_t& Mailbox::link_to(const MatchKey& key) noexcept {
  std::uint32_t* link = &chains_[hash(key) & (chains_.size() - 1)];
  while (*link != none && !(entries_[*link].key == key)) link = &entries_[*link].next;
  return *link;
}

std::optional<Continuation> Mailbox::arrive(const MatchKey& key, const Continuation& sender) {
  std::uint32_t& link = link_to(key);
  if (link != none && !entries_[link].arrived) return take_first(link);
  append(link, key, sender, true);
  return std::nullopt;
}

bool Mailbox::post(const MatchKey& key, const Continuation& receiver) {
  std::uint32_t& link = link_to(key);
  if (link != none && entries_[link].arrived) {
    take_first(link);
    return true;
  }
  append(link, key, receiver, false);
  return false;
}

void Mailbox::append(std::uint32_t& link, const MatchKey& key, const Continuation& continuation, bool arrived) {
  if (link == none) {
    // The new entry goes to the front of its chain: taking it may move the entries that `link` points into.
    std::uint32_t& chain = chains_[hash(key) & (chains_.size() - 1)];
    const std::uint32_t index = entries_.take();
    Entry& entry = entries_[index];
    entry.key = key;
    entry.first = continuation;
    entry.arrived = arrived;
    entry.next = chain;
    entry.head = entry.tail = none;
    chain = index;
    if (++used_ > chains_.size()) grow();
    return;
  }
  Entry& entry = entries_[link];
  const std::uint32_t item = items_.take({continuation, none});
  (entry.head == none ? entry.head : items_[entry.tail].next) = item;
  entry.tail = item;
}

Continuation Mailbox::take_first(std::uint32_t& link) {
  const std::uint32_t index = link;
  Entry& entry = entries_[index];
  const Continuation continuation = entry.first;
  if (entry.head == none) {
    link = entry.next;
    entries_.release(index);
    --used_;
    return continuation;
  }
  const std::uint32_t item = entry.head;
  entry.first = items_[item].continuation;
  entry.head = items_[item].next;
  items_.release(item);
  return continuation;
}

void Mailbox::grow() {
  std::vector<std::uint32_t> old(chains_.size() * 2, none);
  old.swap(chains_);
  for (std::uint32_t index : old) {
    while (index != none) {
      Entry& entry = entries_[index];
      std::uint32_t& chain = chains_[hash(entry.key) & (chains_.size() - 1)];
      const std::uint32_t next = std::exchange(entry.next, chain);
      chain = std::exchange(index, next);
    }
  }
}

std::vector<Mailbox::Waiting> Mailbox::unmatched() const {
  std::vector<Waiting> result;
  for (const std::uint32_t chain : chains_) {
    for (std::uint32_t index = chain; index != none; index = entries_[index].next) {
      const Entry& entry = entries_[index];
      Waiting waiting{entry.key, entry.arrived, {entry.first}};
      for (std::uint32_t item = entry.head; item != none; item = items_[item].next) {
        waiting.entries.push_back(items_[item].continuation);
      }
      result.push_back(std::move(waiting));
    }
  }
  return result;
}

}  // namespace chakra::sim
