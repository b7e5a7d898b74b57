// SPDX-License-Identifier: MIT
#include "sim/mailbox.hpp"

namespace chakra::sim {

namespace {

constexpr std::size_t initial_places = 1024;

std::uint64_t hash(const MatchKey& key) noexcept {
  std::uint64_t h = key.tag * 0x9e3779b97f4a7c15ULL ^ ((std::uint64_t{key.src} << 32) | key.dst);
  h = (h ^ (h >> 32)) * 0xd6e8feb86659fd93ULL;
  h = (h ^ key.bytes ^ (h >> 29)) * 0xff51afd7ed558ccdULL;
  return h ^ (h >> 32);
}

}  // namespace

Mailbox::Mailbox() : table_(initial_places) {}

/// Place of the key, or the free place where it belongs.
std::size_t Mailbox::find(const MatchKey& key) const noexcept {
  const std::size_t mask = table_.size() - 1;
  std::size_t place = hash(key) & mask;
  while (table_[place].head != none && !(table_[place].key == key)) place = (place + 1) & mask;
  return place;
}

std::optional<Continuation> Mailbox::arrive(const MatchKey& key, const Continuation& sender) {
  const std::size_t place = find(key);
  if (table_[place].head != none && !table_[place].arrived) return take_first(place);
  append(place, key, sender, true);
  return std::nullopt;
}

bool Mailbox::post(const MatchKey& key, const Continuation& receiver) {
  const std::size_t place = find(key);
  if (table_[place].head != none && table_[place].arrived) {
    take_first(place);
    return true;
  }
  append(place, key, receiver, false);
  return false;
}

void Mailbox::append(std::size_t place, const MatchKey& key, const Continuation& continuation, bool arrived) {
  const std::uint32_t item = items_.take({continuation, none});
  Entry& entry = table_[place];
  if (entry.head != none) {
    items_[entry.tail].next = item;
    entry.tail = item;
    return;
  }
  entry = {key, item, item, arrived};
  ++used_;
  if (2 * used_ > table_.size()) grow();
}

Continuation Mailbox::take_first(std::size_t place) {
  Entry& entry = table_[place];
  const std::uint32_t item = entry.head;
  const Continuation continuation = items_[item].continuation;
  entry.head = items_[item].next;
  items_.release(item);
  if (entry.head == none) erase(place);
  return continuation;
}

/// Closes the gap by moving later entries of the run back, so that no tombstones pile up.
void Mailbox::erase(std::size_t place) {
  const std::size_t mask = table_.size() - 1;
  --used_;
  std::size_t gap = place;
  for (std::size_t next = (gap + 1) & mask; table_[next].head != none; next = (next + 1) & mask) {
    const std::size_t home = hash(table_[next].key) & mask;
    if (((next - home) & mask) < ((next - gap) & mask)) continue;
    table_[gap] = table_[next];
    gap = next;
  }
  table_[gap].head = none;
}

void Mailbox::grow() {
  std::vector<Entry> old(table_.size() * 2);
  old.swap(table_);
  for (const Entry& entry : old) {
    if (entry.head != none) table_[find(entry.key)] = entry;
  }
}

std::vector<Mailbox::Waiting> Mailbox::unmatched() const {
  std::vector<Waiting> result;
  for (const Entry& entry : table_) {
    if (entry.head == none) continue;
    Waiting waiting{entry.key, entry.arrived, {}};
    for (std::uint32_t item = entry.head; item != none; item = items_[item].next) {
      waiting.entries.push_back(items_[item].continuation);
    }
    result.push_back(std::move(waiting));
  }
  return result;
}

}  // namespace chakra::sim
