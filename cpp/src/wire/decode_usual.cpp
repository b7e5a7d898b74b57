// SPDX-License-Identifier: MIT
#include "wire/decode_usual.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <type_traits>

#include "wire/attribute_heads.hpp"
#include "wire/known_attribute.hpp"
#include "wire/little_endian.hpp"
#include "wire/schema.hpp"
#include "wire/utf8.hpp"

namespace chakra::wire {

namespace {

/// First byte of a field: number and wire type. All fields of Node have numbers below 16, so that it is the only one.
constexpr unsigned char key(schema::Node field, unsigned wire_type) noexcept {
  return static_cast<unsigned char>(static_cast<std::uint32_t>(field) << 3 | wire_type);
}
using schema::length_type;
using schema::varint_type;

// Positions are plain pointers that functions take and give back, null for "not as usual": this is the innermost loop
// of loading, and in this form it stays in registers. Nothing reads at or beyond `end`.

constexpr std::uint64_t high_bits = 0x8080808080808080ULL;

/// Puts the low seven bits of eight bytes next to each other.
constexpr std::uint64_t join_sevens(std::uint64_t bytes) noexcept {
  bytes = (bytes & 0x7F007F007F007F00ULL) >> 1 | (bytes & 0x007F007F007F007FULL);
  bytes = (bytes & 0x3FFF00003FFF0000ULL) >> 2 | (bytes & 0x00003FFF00003FFFULL);
  return (bytes & 0x0FFFFFFF00000000ULL) >> 4 | (bytes & 0x000000000FFFFFFFULL);
}

const char* varint_by_bytes(const char* at, const char* end, std::uint64_t& value) noexcept {
  std::uint64_t bits = 0;
  constexpr unsigned longest = 70;  // ten bytes of seven bits
  for (unsigned shift = 0; shift < longest && at != end; shift += 7) {
    const auto next = static_cast<unsigned char>(*at++);
    bits |= std::uint64_t{next & 0x7FU} << (shift & 63);
    if (next < 0x80) {
      value = bits;
      // What does not fit into 64 bits is for the careful decoder.
      return shift < 63 || next <= 1 ? at : nullptr;
    }
  }
  return nullptr;
}

/// Without a branch for each byte: the lengths of numbers come in an order that the processor cannot foresee.
inline const char* varint(const char* at, const char* end, std::uint64_t& value) noexcept {
  if (end - at < 8) {
    return varint_by_bytes(at, end, value);
  }
  const std::uint64_t word = load_little_endian(at);
  const std::uint64_t last = ~word & high_bits;
  if (last == 0) {
    return varint_by_bytes(at, end, value);
  }
  value = join_sevens(word & (last ^ (last - 1)));
  return at + (std::countr_zero(last) + 1) / 8;
}

/// The length of something and then its bytes, which begin at the position given back; null if they would pass `end`.
inline const char* length(const char* at, const char* end, std::size_t& size) noexcept {
  const auto byte = [](const char* from) { return static_cast<unsigned char>(*from); };
  if (at != end && byte(at) < 0x80) {
    size = byte(at++);
  } else if (end - at >= 2 && byte(at + 1) < 0x80) {
    size = (byte(at) & 0x7FU) | std::size_t{byte(at + 1)} << 7;
    at += 2;
  } else {
    std::uint64_t wide = 0;
    at = varint_by_bytes(at, end, wide);
    size = wide;
  }
  if (at == nullptr || size > static_cast<std::size_t>(end - at)) [[unlikely]] {
    return nullptr;
  }
  return at;
}

inline const char* bytes(const char* at, const char* end, std::string_view& value) noexcept {
  std::size_t size = 0;
  at = length(at, end, size);
  if (at == nullptr) {
    return nullptr;
  }
  value = {at, size};
  return at + size;
}

/// The bytes from `at` to `end`, at most eight, as one word. Eight bytes before `end` must be readable.
inline std::uint64_t last_bytes(const char* at, const char* end) noexcept {
  return load_little_endian(end - 8) >> (8 * (8 - (end - at)));
}

/// By the size of a varint: the bits which say that more bytes follow.
constexpr std::array<std::uint64_t, 9> continuation_bits = [] {
  std::array<std::uint64_t, 9> bits{};
  for (std::size_t size = 1; size < bits.size(); ++size) {
    bits[size] = high_bits & low_bytes(size - 1);
  }
  return bits;
}();

/// Whether the bytes from `at` to `end`, more than eight, are one varint.
bool is_long_varint(const char* at, const char* end) noexcept {
  constexpr std::ptrdiff_t longest = 10;  // negative numbers
  if (end - at == longest) {
    return (load_little_endian(at) & high_bits) == high_bits && static_cast<unsigned char>(at[8]) >= 0x80 &&
           static_cast<unsigned char>(at[9]) <= 1;
  }
  std::uint64_t value = 0;
  return varint_by_bytes(at, end, value) == end;
}

/// What a record says in integers, before it is known which of its times win.
struct Integers {
  std::uint64_t start_micros = 0;
  std::uint64_t duration_micros = 0;
  std::uint32_t present = 0;  ///< bit i: attributes[i] is there, i as in KnownAttribute
  std::array<std::int64_t, known_integer_count> attributes;

  static constexpr std::uint32_t bit(KnownAttribute attribute) noexcept {
    return std::uint32_t{1} << static_cast<unsigned>(attribute);
  }
  bool has(KnownAttribute attribute) const noexcept { return (present & bit(attribute)) != 0; }
  /// False for an attribute that was there already.
  bool take(KnownAttribute attribute, std::int64_t value) noexcept {
    const bool is_first = !has(attribute);
    present |= bit(attribute);
    attributes[static_cast<std::size_t>(attribute)] = value;
    return is_first;
  }
  std::int64_t operator[](KnownAttribute attribute) const noexcept {
    return attributes[static_cast<std::size_t>(attribute)];
  }
};

bool take_text(const char* at, const char* end, DecodedNode& node) noexcept {
  std::string_view name;
  if (node.pg_name || bytes(at, end, name) != end || !is_utf8(name)) {
    return false;
  }
  node.pg_name = name;
  return true;
}

/// The integer in the bytes from `at` to `end`.
bool take_long_varint(const AttributeHead& head, const char* at, const char* end, Integers& integers) noexcept {
  std::uint64_t number = 0;
  if (varint_by_bytes(at, end, number) != end) {
    return false;
  }
  switch (head.action) {
    case AttributeAction::take_int64:
      return integers.take(head.target, static_cast<std::int64_t>(number));
    case AttributeAction::take_uint64:
      return static_cast<std::int64_t>(number) >= 0 && integers.take(head.target, static_cast<std::int64_t>(number));
    case AttributeAction::take_bool:
      return integers.take(head.target, number != 0 ? 1 : 0);
    case AttributeAction::take_int32:
      return integers.take(head.target, static_cast<std::int32_t>(static_cast<std::uint32_t>(number)));
    default:
      return integers.take(head.target, static_cast<std::uint32_t>(number));
  }
}

/// A number of at most 56 bits as the attribute's arm has it.
inline std::int64_t as_declared(AttributeAction action, std::uint64_t number) noexcept {
  switch (action) {
    case AttributeAction::take_bool:
      return number != 0 ? 1 : 0;
    case AttributeAction::take_int32:
      return static_cast<std::int32_t>(static_cast<std::uint32_t>(number));
    case AttributeAction::take_uint32:
      return static_cast<std::uint32_t>(number);
    default:
      return static_cast<std::int64_t>(number);
  }
}

/// The value of an attribute from `at` to `end`. Eight bytes before `end` must be readable.
inline bool take_value(const AttributeHead& head, const char* at, const char* end, DecodedNode& node,
                       Integers& integers) noexcept {
  if (at >= end) {
    return false;
  }
  const auto size = static_cast<std::size_t>(end - at);
  const bool is_short = size - 1 < 8;
  if (head.action == AttributeAction::check_varint) {
    return is_short ? (last_bytes(at, end) & high_bits) == continuation_bits[size] : is_long_varint(at, end);
  }
  if (takes_integer(head.action)) {
    if (!is_short) {
      return take_long_varint(head, at, end, integers);
    }
    const std::uint64_t word = last_bytes(at, end);
    return (word & high_bits) == continuation_bits[size] &&
           integers.take(head.target, as_declared(head.action, join_sevens(word)));
  }
  std::string_view text;
  switch (head.action) {
    case AttributeAction::check_bytes:
      return bytes(at, end, text) == end;
    case AttributeAction::check_fixed64:
      return size == 8;
    case AttributeAction::check_fixed32:
      return size == 4;
    case AttributeAction::take_text:
      return take_text(at, end, node);
    default:
      return false;
  }
}

const char* take_name(const char* at, const char* end, DecodedNode& node) noexcept {
  node.short_name.reset();
  at = bytes(at, end, node.name);
  if (at == nullptr) {
    return nullptr;
  }
  const auto readable = static_cast<std::size_t>(end - node.name.data());
  if (node.name.size() <= ShortText::most_bytes && readable >= ShortText::most_bytes) {
    node.short_name.emplace(node.name.data(), node.name.size());
    if (node.short_name->is_ascii()) {
      return at;
    }
    node.short_name.reset();
  }
  return is_utf8(node.name) ? at : nullptr;
}

/// A packed list of ids; a record that goes on behind it makes reading them quick.
const char* take_dependencies(const char* at, const char* record_end, IdList& deps) {
  std::string_view packed;
  const char* const end = bytes(at, record_end, packed);
  if (end == nullptr) {
    return nullptr;
  }
  NodeId* to = deps.room_for(packed.size());  // an id takes a byte or more
  for (at = packed.data(); at != end;) {
    at = varint(at, record_end, *to++);
    if (at == nullptr || at > end) {
      return nullptr;
    }
  }
  deps.grow_to(to);
  return end;
}

/// In ns: the attribute where it is there, otherwise the field. False for what is negative or too large.
bool exact_time(const Integers& integers, KnownAttribute exact, std::uint64_t micros, std::uint64_t& time) noexcept {
  if (integers.has(exact)) {
    time = static_cast<std::uint64_t>(integers[exact]);
    return integers[exact] >= 0;
  }
  time = micros * 1000;
  return micros <= std::numeric_limits<std::uint64_t>::max() / 1000;
}

bool finish(const Integers& integers, DecodedNode& node) noexcept {
  constexpr std::uint32_t columns = (std::uint32_t{1} << integer_attribute_count) - 1;
  node.integers_present = integers.present & columns;
  std::copy_n(integers.attributes.begin(), integer_attribute_count, node.integers.begin());
  if (integers.has(KnownAttribute::is_cpu_op)) {
    node.is_cpu_op = integers[KnownAttribute::is_cpu_op] != 0;
  }
  return exact_time(integers, KnownAttribute::start_ns, integers.start_micros, node.start_ns) &&
         exact_time(integers, KnownAttribute::duration_ns, integers.duration_micros, node.duration_ns);
}

/// Reads what follows a field's key; null if it is not as usual.
template <unsigned char field>
inline const char* take_field(const char* at, const char* end, DecodedNode& node, Integers& integers) {
  std::string_view text;
  std::uint64_t number = 0;
  if constexpr (field == key(schema::Node::id, varint_type)) {
    return varint(at, end, node.id);
  } else if constexpr (field == key(schema::Node::name, length_type)) {
    return take_name(at, end, node);
  } else if constexpr (field == key(schema::Node::type, varint_type)) {
    at = varint(at, end, number);
    node.type = static_cast<std::int32_t>(static_cast<std::uint32_t>(number));
    return at;
  } else if constexpr (field == key(schema::Node::ctrl_deps, varint_type) ||
                       field == key(schema::Node::data_deps, varint_type)) {
    at = varint(at, end, number);
    (field == key(schema::Node::ctrl_deps, varint_type) ? node.ctrl_deps : node.data_deps).push_back(number);
    return at;
  } else if constexpr (field == key(schema::Node::ctrl_deps, length_type)) {
    return take_dependencies(at, end, node.ctrl_deps);
  } else if constexpr (field == key(schema::Node::data_deps, length_type)) {
    return take_dependencies(at, end, node.data_deps);
  } else if constexpr (field == key(schema::Node::start_time_micros, varint_type)) {
    return varint(at, end, integers.start_micros);
  } else if constexpr (field == key(schema::Node::duration_micros, varint_type)) {
    return varint(at, end, integers.duration_micros);
  } else {
    static_assert(field == key(schema::Node::inputs, length_type) || field == key(schema::Node::outputs, length_type));
    return bytes(at, end, text);
  }
}

/// Fields in the order of their numbers, each at most once: as serialisers write them.
template <unsigned char... fields>
inline const char* take_in_order(const char* at, const char* end, DecodedNode& node, Integers& integers) {
  const auto take = [&]<unsigned char field>(std::integral_constant<unsigned char, field>) {
    if (at != end && static_cast<unsigned char>(*at) == field) {
      at = take_field<field>(at + 1, end, node, integers);
    }
    return at != nullptr;
  };
  return (take(std::integral_constant<unsigned char, fields>{}) && ...) ? at : nullptr;
}

/// Any one field of those given.
template <unsigned char... fields>
inline const char* take_one_of(const char* at, const char* end, DecodedNode& node, Integers& integers) {
  const auto found = static_cast<unsigned char>(*at++);
  const char* after = nullptr;
  (void)((found == fields && (after = take_field<fields>(at, end, node, integers), true)) || ...);
  return after;
}

constexpr unsigned char attribute_key = key(schema::Node::attr, length_type);

const char* take_fields(const char* at, const char* end, DecodedNode& node, Integers& integers) {
  return take_in_order<key(schema::Node::id, varint_type), key(schema::Node::name, length_type),
                       key(schema::Node::type, varint_type), key(schema::Node::ctrl_deps, length_type),
                       key(schema::Node::data_deps, length_type), key(schema::Node::start_time_micros, varint_type),
                       key(schema::Node::duration_micros, varint_type), key(schema::Node::inputs, length_type),
                       key(schema::Node::outputs, length_type)>(at, end, node, integers);
}

const char* take_field_out_of_order(const char* at, const char* end, DecodedNode& node, Integers& integers) {
  return take_one_of<key(schema::Node::id, varint_type), key(schema::Node::name, length_type),
                     key(schema::Node::type, varint_type), key(schema::Node::ctrl_deps, length_type),
                     key(schema::Node::ctrl_deps, varint_type), key(schema::Node::data_deps, length_type),
                     key(schema::Node::data_deps, varint_type), key(schema::Node::start_time_micros, varint_type),
                     key(schema::Node::duration_micros, varint_type), key(schema::Node::inputs, length_type),
                     key(schema::Node::outputs, length_type)>(at, end, node, integers);
}

}  // namespace

bool decode_usual(std::string_view message, DecodedNode& node) {
  clear(node);
  Integers integers;
  // The value of an attribute is read as the eight bytes that end with it.
  constexpr std::ptrdiff_t readable_before = 8;
  const char* const begin = message.data();
  const char* const end = begin + message.size();
  const char* at = take_fields(begin, end, node, integers);
  AttributeHead* head = node.heads.before_first();
  while (at != end) {
    if (at == nullptr) {
      return false;
    }
    if (static_cast<unsigned char>(*at) != attribute_key) {
      at = take_field_out_of_order(at, end, node, integers);
      continue;
    }
    std::size_t size = 0;
    const char* const attribute = length(at + 1, end, size);
    if (attribute == nullptr || attribute + size - begin < readable_before) {
      return false;
    }
    const char* const after = attribute + size;
    head = node.heads.find(head, attribute, after, end);
    if (head == nullptr || !take_value(*head, attribute + head->size, after, node, integers)) {
      return false;
    }
    at = head->whole.step(at, after);
  }
  return finish(integers, node);
}

}  // namespace chakra::wire
