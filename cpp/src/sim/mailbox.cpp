// SPDX-License-Identifier: MIT
#include "sim/mailbox.hpp"

namespace chakra::sim {

namespace {

constexpr std::size_t initial_places = 1024;

std::uint64_t hash(const MatchKey& key) noexcept {
  const std::uint64_t ends = (std::uint64_t{key.src} << 32) | key.dst;
  const std::uint64_t h =
      key.tag * 0x9e3779b97f4a7c15ULL + key.bytes * 0xd6e8feb86659fd93ULL + ends * 0xff51afd7ed558ccdULL;
  return (h ^ (h >> 32)) * 0x9fb21c651e98df25ULL >> 20;
}

}  // namespace

Mailbox::Mailbox() : table_(initial_places) {}

/// Place of the key, or the free place where it belongs.
std::size_t Mailbox::find(const MatchKey& key) const noexcept {
  const std::size_t mask = table_.size() - 1;
  std::size_t place = hash(key) & mask;
  while (table_[place].state != State::free && !(table_[place].key == key)) place = (place + 1) & mask;
  return place;
}

std::optional<Continuation> Mailbox::arrive(const MatchKey& key, const Continuation& sender) {
  const std::size_t place = find(key);
  if (table_[place].state == State::posted) return take_first(place);
  append(place, key, sender, State::arrived);
  return std::nullopt;
}

bool Mailbox::post(const MatchKey& key, const Continuation& receiver) {
  const std::size_t place = find(key);
  if (table_[place].state == State::arrived) {
    take_first(place);
    return true;
  }
  append(place, key, receiver, State::posted);
  return false;
}

void Mailbox::append(std::size_t place, const MatchKey& key, const Continuation& continuation, State state) {
  Entry& entry = table_[place];
  if (entry.state == State::free) {
    entry = {key, continuation, state, none, none};
    if (2 * ++used_ > table_.size()) grow();
    return;
  }
  const std::uint32_t item = items_.take({continuation, none});
  if (entry.head == none) {
    entry.head = item;
  } else {
    items_[entry.tail].next = item;
  }
  entry.tail = item;
}

Continuation Mailbox::take_first(std::size_t place) {
  Entry& entry = table_[place];
  const Continuation continuation = entry.first;
  if (entry.head == none) {
    erase(place);
    return continuation;
  }
  const std::uint32_t item = entry.head;
  entry.first = items_[item].continuation;
  entry.head = items_[item].next;
  items_.release(item);
  return continuation;
}

/// Closes the gap by moving later entries of the run back, so that no tombstones pile up.
void Mailbox::erase(std::size_t place) {
  const std::size_t mask = table_.size() - 1;
  --used_;
  std::size_t gap = place;
  for (std::size_t next = (gap + 1) & mask; table_[next].state != State::free; next = (next + 1) & mask) {
    const std::size_t home = hash(table_[next].key) & mask;
    if (((next - home) & mask) < ((next - gap) & mask)) continue;
    table_[gap] = table_[next];
    gap = next;
  }
  table_[gap].state = State::free;
}

void Mailbox::grow() {
  std::vector<Entry> old(table_.size() * 2);
  old.swap(table_);
  for (const Entry& entry : old) {
    if (entry.state != State::free) table_[find(entry.key)] = entry;
  }
}

std::vector<Mailbox::Waiting> Mailbox::unmatched() const {
  std::vector<Waiting> result;
  for (const Entry& entry : table_) {
    if (entry.state == State::free) continue;
    Waiting waiting{entry.key, entry.state == State::arrived, {entry.first}};
    for (std::uint32_t item = entry.head; item != none; item = items_[item].next) {
      waiting.entries.push_back(items_[item].continuation);
    }
    result.push_back(std::move(waiting));
  }
  return result;
}

}  // namespace chakra::sim
