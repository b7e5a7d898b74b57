// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "chakra_core/trace.hpp"

namespace chakra::wire {

/// Attributes that decode_node looks at. The first have the numbers of IntegerAttribute.
enum class KnownAttribute : std::uint8_t {
  num_ops,
  tensor_size,
  comm_type,
  comm_size,
  comm_priority,
  comm_src,
  comm_dst,
  comm_tag,
  stream,
  tid,
  is_cpu_op,
  start_ns,
  duration_ns,
  pg_name,
  involved_dim,
  other,
};

/// Known attributes whose values are integers come first.
inline constexpr std::size_t known_integer_count = static_cast<std::size_t>(KnownAttribute::pg_name);

constexpr bool is_integer_column(KnownAttribute attribute) noexcept {
  return static_cast<std::size_t>(attribute) < integer_attribute_count;
}

namespace detail {

inline constexpr std::array<std::string_view, static_cast<std::size_t>(KnownAttribute::other)> known_names = {
    "num_ops", "tensor_size", "comm_type", "comm_size", "comm_priority", "comm_src", "comm_dst",    "comm_tag",
    "stream",  "tid",         "is_cpu_op", "start_ns",  "duration_ns",   "pg_name",  "involved_dim"};

inline constexpr std::size_t shortest_known = 3;
inline constexpr std::size_t longest_known = 13;

/// A name of 3 to 16 bytes as two words, which may overlap; with its size they tell it from all others.
struct NameWords {
  std::uint64_t head = 0;
  std::uint64_t tail = 0;
  std::size_t size = 0;

  constexpr bool operator==(const NameWords&) const = default;
};

template <class Word>
constexpr Word load(const char* at) noexcept {
  if (!std::is_constant_evaluated()) {
    Word word = 0;
    std::memcpy(&word, at, sizeof(Word));
    return word;
  }
  Word word = 0;
  for (std::size_t i = 0; i < sizeof(Word); ++i) {
    const std::size_t byte = std::endian::native == std::endian::little ? i : sizeof(Word) - 1 - i;
    word = static_cast<Word>(word | static_cast<Word>(static_cast<unsigned char>(at[i])) << (8 * byte));
  }
  return word;
}

constexpr NameWords words_of(std::string_view name) noexcept {
  const char* const begin = name.data();
  const char* const end = begin + name.size();
  if (name.size() >= 8) {
    return {load<std::uint64_t>(begin), load<std::uint64_t>(end - 8), name.size()};
  }
  if (name.size() >= 4) {
    return {load<std::uint32_t>(begin), load<std::uint32_t>(end - 4), name.size()};
  }
  return {load<std::uint16_t>(begin), load<std::uint16_t>(end - 2), name.size()};
}

inline constexpr unsigned slot_bits = 6;

constexpr std::size_t slot_of(const NameWords& words, std::uint64_t multiplier) noexcept {
  return static_cast<std::size_t>((words.head ^ std::rotl(words.tail, 29)) * multiplier >> (64 - slot_bits));
}

/// A table in which every known name has a slot of its own, so that looking one up needs no branch by its size or its
/// letters: those come in an order that the processor cannot foresee, and this runs for every attribute of every node.
struct KnownTable {
  struct Slot {
    NameWords words;
    KnownAttribute attribute = KnownAttribute::other;
  };
  std::uint64_t multiplier = 0;
  std::array<Slot, std::size_t{1} << slot_bits> slots{};
};

consteval bool fill(KnownTable& table, std::uint64_t multiplier) {
  table = {multiplier, {}};
  for (std::size_t i = 0; i < known_names.size(); ++i) {
    const NameWords words = words_of(known_names[i]);
    KnownTable::Slot& slot = table.slots[slot_of(words, multiplier)];
    if (slot.words.size != 0) {
      return false;
    }
    slot = {words, static_cast<KnownAttribute>(i)};
  }
  return true;
}

consteval KnownTable make_known_table() {
  KnownTable table;
  for (std::uint64_t multiplier = 0x9E3779B97F4A7C15ULL; !fill(table, multiplier); multiplier += 2) {
  }
  return table;
}

inline constexpr KnownTable known_table = make_known_table();

}  // namespace detail

inline KnownAttribute known(std::string_view name) noexcept {
  if (name.size() < detail::shortest_known || name.size() > detail::longest_known) {
    return KnownAttribute::other;
  }
  const detail::NameWords words = detail::words_of(name);
  const auto& slot = detail::known_table.slots[detail::slot_of(words, detail::known_table.multiplier)];
  return slot.words == words ? slot.attribute : KnownAttribute::other;
}

}  // namespace chakra::wire
