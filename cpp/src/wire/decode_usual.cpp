// SPDX-License-Identifier: MIT
#include "wire/decode_usual.hpp"

#include <limits>

#include "wire/known_attribute.hpp"
#include "wire/schema.hpp"
#include "wire/utf8.hpp"

namespace chakra::wire {

namespace {

/// First byte of a field: number and wire type. All fields of Node have numbers below 16, so that it is the only one.
constexpr unsigned char key(schema::Node field, unsigned wire_type) noexcept {
  return static_cast<unsigned char>(static_cast<std::uint32_t>(field) << 3 | wire_type);
}
constexpr unsigned varint_type = 0;
constexpr unsigned fixed64_type = 1;
constexpr unsigned length_type = 2;
constexpr unsigned fixed32_type = 5;
constexpr unsigned char attribute_name_key = 1U << 3 | length_type;

/// A position in bytes that never passes their end. Functions return false where the bytes end too soon.
struct Position {
  const char* at;
  const char* end;

  bool more() const noexcept { return at != end; }
  std::size_t left() const noexcept { return static_cast<std::size_t>(end - at); }
  unsigned char byte() noexcept { return static_cast<unsigned char>(*at++); }

  bool varint(std::uint64_t& value) noexcept {
    if (!more()) {
      return false;
    }
    std::uint64_t bits = byte();
    if (bits < 0x80) {
      value = bits;
      return true;
    }
    bits &= 0x7F;
    constexpr unsigned longest = 70;  // ten bytes of seven bits
    for (unsigned shift = 7; shift < longest && more(); shift += 7) {
      const std::uint64_t next = byte();
      bits |= (next & 0x7F) << (shift & 63);
      if (next < 0x80) {
        value = bits;
        // What does not fit into 64 bits is for the careful decoder.
        return shift < 63 || next <= 1;
      }
    }
    return false;
  }

  bool skip(std::uint64_t size) noexcept {
    if (size > left()) {
      return false;
    }
    at += size;
    return true;
  }

  bool bytes(std::string_view& value) noexcept {
    std::uint64_t size = 0;
    const bool fits = varint(size) && size <= left();
    if (fits) {
      value = {at, static_cast<std::size_t>(size)};
      at += size;
    }
    return fits;
  }
};

/// Name and value of an attribute; `kind` is none where it has no value.
struct UsualAttribute {
  std::string_view name;
  AttributeKind kind = AttributeKind::none;
  std::uint64_t number = 0;
  std::string_view bytes;
};

unsigned usual_wire_type(AttributeKind kind) noexcept {
  switch (kind) {
    case AttributeKind::double_value:
    case AttributeKind::fixed64_value:
    case AttributeKind::sfixed64_value:
      return fixed64_type;
    case AttributeKind::float_value:
    case AttributeKind::fixed32_value:
    case AttributeKind::sfixed32_value:
      return fixed32_type;
    case AttributeKind::int32_value:
    case AttributeKind::int64_value:
    case AttributeKind::uint32_value:
    case AttributeKind::uint64_value:
    case AttributeKind::sint32_value:
    case AttributeKind::sint64_value:
    case AttributeKind::bool_value:
      return varint_type;
    default:
      return length_type;
  }
}

bool read_attribute(Position in, UsualAttribute& attribute) noexcept {
  if (!in.more() || in.byte() != attribute_name_key || !in.bytes(attribute.name)) {
    return false;
  }
  if (!in.more()) {
    return true;
  }
  std::uint64_t value_key = 0;
  if (!in.varint(value_key)) {
    return false;
  }
  const std::uint64_t number = value_key >> 3;
  if (number < static_cast<std::uint64_t>(AttributeKind::double_value) ||
      number > static_cast<std::uint64_t>(AttributeKind::bytes_list)) {
    return false;
  }
  attribute.kind = static_cast<AttributeKind>(number);
  const unsigned wire_type = value_key & 7;
  if (wire_type != usual_wire_type(attribute.kind)) {
    return false;
  }
  const bool whole = wire_type == varint_type    ? in.varint(attribute.number)
                     : wire_type == length_type  ? in.bytes(attribute.bytes)
                     : wire_type == fixed64_type ? in.skip(8)
                                                 : in.skip(4);
  return whole && !in.more();
}

/// The value as a non-negative int64 or a signed one, from the arms that writers use for integers.
bool integer_value(const UsualAttribute& attribute, std::int64_t& value) noexcept {
  switch (attribute.kind) {
    case AttributeKind::int32_value:
      value = static_cast<std::int32_t>(static_cast<std::uint32_t>(attribute.number));
      return true;
    case AttributeKind::int64_value:
      value = static_cast<std::int64_t>(attribute.number);
      return true;
    case AttributeKind::uint32_value:
      value = static_cast<std::uint32_t>(attribute.number);
      return true;
    case AttributeKind::uint64_value:
      value = static_cast<std::int64_t>(attribute.number);
      return value >= 0;
    case AttributeKind::bool_value:
      value = attribute.number != 0 ? 1 : 0;
      return true;
    default:
      return false;
  }
}

/// Times that the node's own fields or attributes give.
struct Times {
  std::uint64_t start_micros = 0;
  std::uint64_t duration_micros = 0;
  std::int64_t start_ns = -1;  ///< negative: no such attribute
  std::int64_t duration_ns = -1;
};

bool take_attribute(const UsualAttribute& attribute, DecodedNode& node, Times& times) noexcept {
  const Known target = known(attribute.name);
  if (target.what == KnownAttribute::other || attribute.kind == AttributeKind::none) {
    return true;
  }
  if (target.what == KnownAttribute::pg_name) {
    if (node.pg_name || attribute.kind != AttributeKind::string_value || !is_utf8(attribute.bytes)) {
      return false;
    }
    node.pg_name = attribute.bytes;
    return true;
  }
  std::int64_t value = 0;
  if (target.what == KnownAttribute::involved_dim || !integer_value(attribute, value)) {
    return false;
  }
  if (target.what == KnownAttribute::integer) {
    const std::uint32_t bit = std::uint32_t{1} << target.integer;
    const bool is_first = (node.integers_present & bit) == 0;
    node.integers_present |= bit;
    node.integers[target.integer] = value;
    return is_first;
  }
  if (target.what == KnownAttribute::is_cpu_op) {
    const bool is_first = !node.is_cpu_op.has_value();
    node.is_cpu_op = value != 0;
    return is_first;
  }
  std::int64_t& time = target.what == KnownAttribute::start_ns ? times.start_ns : times.duration_ns;
  const bool is_first = time < 0;
  time = value;
  return is_first && value >= 0;
}

bool take_dependencies(std::string_view packed, std::vector<NodeId>& deps) {
  Position in{packed.data(), packed.data() + packed.size()};
  std::uint64_t id = 0;
  while (in.more()) {
    if (!in.varint(id)) {
      return false;
    }
    deps.push_back(id);
  }
  return true;
}

bool exact_time(std::int64_t exact, std::uint64_t micros, std::uint64_t& time) noexcept {
  time = exact >= 0 ? static_cast<std::uint64_t>(exact) : micros * 1000;
  return exact >= 0 || micros <= std::numeric_limits<std::uint64_t>::max() / 1000;
}

bool take_field(unsigned char field, Position& in, DecodedNode& node, Times& times) {
  std::string_view bytes;
  std::uint64_t number = 0;
  switch (field) {
    case key(schema::Node::attr, length_type): {
      UsualAttribute attribute;
      return in.bytes(bytes) && read_attribute({bytes.data(), bytes.data() + bytes.size()}, attribute) &&
             take_attribute(attribute, node, times);
    }
    case key(schema::Node::id, varint_type):
      return in.varint(node.id);
    case key(schema::Node::name, length_type):
      return in.bytes(node.name) && is_utf8(node.name);
    case key(schema::Node::type, varint_type):
      if (!in.varint(number)) {
        return false;
      }
      node.type = static_cast<std::int32_t>(static_cast<std::uint32_t>(number));
      return true;
    case key(schema::Node::ctrl_deps, varint_type):
    case key(schema::Node::data_deps, varint_type): {
      const bool is_number = in.varint(number);
      (field == key(schema::Node::ctrl_deps, varint_type) ? node.ctrl_deps : node.data_deps).push_back(number);
      return is_number;
    }
    case key(schema::Node::ctrl_deps, length_type):
      return in.bytes(bytes) && take_dependencies(bytes, node.ctrl_deps);
    case key(schema::Node::data_deps, length_type):
      return in.bytes(bytes) && take_dependencies(bytes, node.data_deps);
    case key(schema::Node::start_time_micros, varint_type):
      return in.varint(times.start_micros);
    case key(schema::Node::duration_micros, varint_type):
      return in.varint(times.duration_micros);
    case key(schema::Node::inputs, length_type):
    case key(schema::Node::outputs, length_type):
      return in.bytes(bytes);
    default:
      return false;
  }
}

}  // namespace

bool decode_usual(std::string_view message, DecodedNode& node) {
  clear(node);
  Times times;
  Position in{message.data(), message.data() + message.size()};
  while (in.more()) {
    if (!take_field(in.byte(), in, node, times)) {
      return false;
    }
  }
  return exact_time(times.start_ns, times.start_micros, node.start_ns) &&
         exact_time(times.duration_ns, times.duration_micros, node.duration_ns);
}

}  // namespace chakra::wire
