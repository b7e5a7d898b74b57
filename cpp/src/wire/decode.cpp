// SPDX-License-Identifier: MIT
#include "wire/decode.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include <protozero/varint.hpp>

#include "wire/decode_usual.hpp"
#include "wire/encode.hpp"
#include "wire/known_attribute.hpp"
#include "wire/schema.hpp"
#include "wire/utf8.hpp"

namespace chakra::wire {

namespace {

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, length = 2, group_begin = 3, group_end = 4, fixed32 = 5 };

/// One field of a message: its number, how it is encoded, and its value (`number` or `bytes`).
struct Field {
  std::uint32_t tag;
  WireType type;
  std::uint64_t number;
  std::string_view bytes;
};

constexpr std::uint32_t largest_field_number = (std::uint32_t{1} << 29) - 1;
constexpr std::size_t longest_key = 5;
/// Nested groups are legal but nobody writes them; protobuf's own limit is 100 too.
constexpr int deepest_group = 100;

/// Walks over the fields of one message.
class Cursor {
 public:
  explicit Cursor(std::string_view message) noexcept
      : begin_(message.data()), at_(message.data()), end_(message.data() + message.size()) {}

  bool more() const noexcept { return at_ != end_; }
  std::size_t offset() const noexcept { return static_cast<std::size_t>(at_ - begin_); }

  std::uint64_t varint() {
    if (at_ != end_ && static_cast<unsigned char>(*at_) < 0x80) {
      return static_cast<unsigned char>(*at_++);
    }
    try {
      return protozero::decode_varint(&at_, end_);
    } catch (const protozero::varint_too_long_exception&) {
      throw Malformed(offset(), "a varint of more than 10 bytes");
    } catch (const protozero::end_of_buffer_exception&) {
      throw Malformed(offset(), "the message ends inside a varint");
    }
  }

  std::string_view take(std::uint64_t size) {
    if (size > static_cast<std::uint64_t>(end_ - at_)) {
      throw Malformed(offset(), "a field is longer than the message around it");
    }
    const std::string_view taken(at_, static_cast<std::size_t>(size));
    at_ += size;
    return taken;
  }

  /// The next field; groups are skipped whole and come back with the type group_begin.
  Field next() {
    Field field = read_one();
    if (field.type == WireType::group_begin) {
      skip_group(field.tag);
    } else if (field.type == WireType::group_end) {
      throw Malformed(offset(), "the end of a group that never began");
    }
    return field;
  }

 private:
  Field read_one() {
    const std::size_t start = offset();
    const std::uint64_t key = varint();
    if (offset() - start > longest_key) {
      throw Malformed(start, "a field key of more than 5 bytes");
    }
    Field field{static_cast<std::uint32_t>(key >> 3), static_cast<WireType>(key & 7), 0, {}};
    if ((key >> 3) == 0 || (key >> 3) > largest_field_number) {
      throw Malformed(start, "a field number outside of 1 to 536870911");
    }
    switch (field.type) {
      case WireType::varint:
        field.number = varint();
        break;
      case WireType::fixed64:
        field.number = fixed<std::uint64_t>();
        break;
      case WireType::fixed32:
        field.number = fixed<std::uint32_t>();
        break;
      case WireType::length:
        field.bytes = take(varint());
        break;
      case WireType::group_begin:
      case WireType::group_end:
        break;
      default:
        throw Malformed(start, "an unknown wire type");
    }
    return field;
  }

  void skip_group(std::uint32_t tag) {
    std::array<std::uint32_t, deepest_group> open{};
    int depth = 0;
    open[0] = tag;
    while (depth >= 0) {
      if (!more()) {
        throw Malformed(offset(), "the message ends inside a group");
      }
      const Field field = read_one();
      if (field.type == WireType::group_begin) {
        if (++depth == deepest_group) {
          throw Malformed(offset(), "groups nested more than 100 deep");
        }
        open[static_cast<std::size_t>(depth)] = field.tag;
      } else if (field.type == WireType::group_end) {
        if (open[static_cast<std::size_t>(depth)] != field.tag) {
          throw Malformed(offset(), "the end of a group that is not the open one");
        }
        --depth;
      }
    }
  }

  template <class Value>
  std::uint64_t fixed() {
    const std::string_view bytes = take(sizeof(Value));
    std::uint64_t value = 0;
    for (std::size_t i = sizeof(Value); i-- > 0;) {
      value = (value << 8) | static_cast<unsigned char>(bytes[i]);
    }
    return value;
  }

  const char* begin_;
  const char* at_;
  const char* end_;
};

std::size_t offset_of(std::string_view part, std::string_view whole) noexcept {
  return static_cast<std::size_t>(part.data() - whole.data());
}

/// Runs `decode` on an embedded message and makes the offset of a Malformed count from the outer one.
template <class Decode>
auto nested(std::string_view part, std::string_view whole, Decode&& decode) {
  try {
    return decode(part);
  } catch (const Malformed& error) {
    throw Malformed(offset_of(part, whole) + error.offset(), error.what());
  }
}

// ---- scalar kinds -----------------------------------------------------------------------------------------------

/// The wire type that a scalar kind is written with, and how its bits become a value.
WireType wire_type(AttributeKind scalar) noexcept {
  switch (scalar) {
    case AttributeKind::double_value:
    case AttributeKind::fixed64_value:
    case AttributeKind::sfixed64_value:
      return WireType::fixed64;
    case AttributeKind::float_value:
    case AttributeKind::fixed32_value:
    case AttributeKind::sfixed32_value:
      return WireType::fixed32;
    case AttributeKind::string_value:
    case AttributeKind::bytes_value:
      return WireType::length;
    default:
      return WireType::varint;
  }
}

std::int64_t zigzag(std::uint64_t bits) noexcept { return static_cast<std::int64_t>((bits >> 1) ^ (~(bits & 1) + 1)); }

std::int64_t to_signed(AttributeKind scalar, std::uint64_t bits) noexcept {
  switch (scalar) {
    case AttributeKind::int32_value:
    case AttributeKind::sfixed32_value:
      return static_cast<std::int32_t>(static_cast<std::uint32_t>(bits));
    case AttributeKind::sint32_value:
      return static_cast<std::int32_t>(zigzag(static_cast<std::uint32_t>(bits)));
    case AttributeKind::sint64_value:
      return zigzag(bits);
    default:
      return static_cast<std::int64_t>(bits);
  }
}

std::uint64_t to_unsigned(AttributeKind scalar, std::uint64_t bits) noexcept {
  return scalar == AttributeKind::uint32_value ? static_cast<std::uint32_t>(bits) : bits;
}

double to_double(AttributeKind scalar, std::uint64_t bits) noexcept {
  if (scalar == AttributeKind::float_value) {
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  return std::bit_cast<double>(bits);
}

bool is_signed(AttributeKind scalar) noexcept {
  return scalar == AttributeKind::int32_value || scalar == AttributeKind::int64_value ||
         scalar == AttributeKind::sint32_value || scalar == AttributeKind::sint64_value ||
         scalar == AttributeKind::sfixed32_value || scalar == AttributeKind::sfixed64_value;
}

bool is_unsigned(AttributeKind scalar) noexcept {
  return scalar == AttributeKind::uint32_value || scalar == AttributeKind::uint64_value ||
         scalar == AttributeKind::fixed32_value || scalar == AttributeKind::fixed64_value;
}

/// Lists have the even field numbers, each after the scalar of its kind.
bool is_list(AttributeKind kind) noexcept {
  return kind != AttributeKind::none && static_cast<unsigned>(kind) % 2 == 0;
}

AttributeKind scalar_of(AttributeKind list) noexcept {
  return static_cast<AttributeKind>(static_cast<unsigned>(list) - 1);
}

// ---- attributes, whole ------------------------------------------------------------------------------------------

std::string checked_string(AttributeKind scalar, std::string_view bytes, std::string_view message) {
  if (scalar == AttributeKind::string_value && !is_utf8(bytes)) {
    throw Malformed(offset_of(bytes, message), "a string attribute that is not UTF-8");
  }
  return std::string(bytes);
}

/// Calls `take` with the bits of every element of a list message, packed or not.
template <class Take>
void for_each_number(std::string_view list, WireType element, Take&& take) {
  Cursor cursor(list);
  while (cursor.more()) {
    const Field field = cursor.next();
    if (field.tag != schema::list_values) {
      continue;
    }
    if (field.type == element) {
      take(field.number);
    } else if (field.type == WireType::length) {
      nested(field.bytes, list, [&](std::string_view packed) {
        Cursor inner(packed);
        while (inner.more()) {
          if (element == WireType::varint) {
            take(inner.varint());
          } else {
            const std::string_view raw = inner.take(element == WireType::fixed64 ? 8 : 4);
            std::uint64_t bits = 0;
            for (std::size_t i = raw.size(); i-- > 0;) {
              bits = (bits << 8) | static_cast<unsigned char>(raw[i]);
            }
            take(bits);
          }
        }
      });
    }
  }
}

AttributeValue decode_list(AttributeKind scalar, std::string_view list) {
  const WireType element = wire_type(scalar);
  if (element == WireType::length) {
    std::vector<std::string> values;
    Cursor cursor(list);
    while (cursor.more()) {
      const Field field = cursor.next();
      if (field.tag == schema::list_values && field.type == WireType::length) {
        values.push_back(checked_string(scalar, field.bytes, list));
      }
    }
    return values;
  }
  if (is_signed(scalar)) {
    std::vector<std::int64_t> values;
    for_each_number(list, element, [&](std::uint64_t bits) { values.push_back(to_signed(scalar, bits)); });
    return values;
  }
  if (is_unsigned(scalar)) {
    std::vector<std::uint64_t> values;
    for_each_number(list, element, [&](std::uint64_t bits) { values.push_back(to_unsigned(scalar, bits)); });
    return values;
  }
  if (scalar == AttributeKind::bool_value) {
    std::vector<bool> values;
    for_each_number(list, element, [&](std::uint64_t bits) { values.push_back(bits != 0); });
    return values;
  }
  std::vector<double> values;
  for_each_number(list, element, [&](std::uint64_t bits) { values.push_back(to_double(scalar, bits)); });
  return values;
}

AttributeValue decode_scalar(AttributeKind scalar, const Field& field, std::string_view message) {
  if (field.type == WireType::length) {
    return checked_string(scalar, field.bytes, message);
  }
  if (is_signed(scalar)) {
    return to_signed(scalar, field.number);
  }
  if (is_unsigned(scalar)) {
    return to_unsigned(scalar, field.number);
  }
  if (scalar == AttributeKind::bool_value) {
    return field.number != 0;
  }
  return to_double(scalar, field.number);
}

/// A value field of AttributeProto with the wire type that its kind asks for.
std::optional<AttributeKind> value_kind(const Field& field) noexcept {
  if (field.tag < static_cast<std::uint32_t>(schema::AttributeProto::first_value) ||
      field.tag > static_cast<std::uint32_t>(schema::AttributeProto::last_value)) {
    return std::nullopt;
  }
  const auto kind = static_cast<AttributeKind>(field.tag);
  const WireType expected = is_list(kind) ? WireType::length : wire_type(kind);
  return field.type == expected ? std::optional(kind) : std::nullopt;
}

/// Two occurrences of one list field are one list, as protobuf merges messages.
void append_list(AttributeValue& into, AttributeValue more) {
  std::visit(
      [&]<class List>(List& list) {
        if constexpr (requires { list.insert(list.end(), list.begin(), list.end()); } &&
                      !std::is_same_v<List, std::string>) {
          auto& tail = std::get<List>(more);
          list.insert(list.end(), tail.begin(), tail.end());
        }
      },
      into);
}

Attribute decode_one_attribute(std::string_view message) {
  Attribute attribute;
  Cursor cursor(message);
  while (cursor.more()) {
    const Field field = cursor.next();
    if (const auto kind = value_kind(field)) {
      AttributeValue value =
          is_list(*kind)
              ? nested(field.bytes, message, [&](std::string_view part) { return decode_list(scalar_of(*kind), part); })
              : decode_scalar(*kind, field, message);
      if (is_list(*kind) && attribute.kind == *kind) {
        append_list(attribute.value, std::move(value));
      } else {
        attribute.value = std::move(value);
      }
      attribute.kind = *kind;
    } else if (field.type == WireType::length) {
      if (field.tag == static_cast<std::uint32_t>(schema::AttributeProto::name)) {
        attribute.name = checked_string(AttributeKind::string_value, field.bytes, message);
      } else if (field.tag == static_cast<std::uint32_t>(schema::AttributeProto::doc_string)) {
        attribute.doc_string = checked_string(AttributeKind::string_value, field.bytes, message);
      }
    }
  }
  return attribute;
}

// ---- attributes that are columns --------------------------------------------------------------------------------

/// Name and last value of an AttributeProto, without decoding lists.
struct RawAttribute {
  std::string_view name;
  AttributeKind kind = AttributeKind::none;
  Field value{};
};

RawAttribute scan_attribute(std::string_view message) {
  RawAttribute attribute;
  Cursor cursor(message);
  while (cursor.more()) {
    const Field field = cursor.next();
    if (field.tag == static_cast<std::uint32_t>(schema::AttributeProto::name)) {
      if (field.type == WireType::length) {
        attribute.name = field.bytes;
      }
    } else if (const auto kind = value_kind(field)) {
      attribute.kind = *kind;
      attribute.value = field;
    }
  }
  return attribute;
}

std::string_view checked_text(std::string_view bytes, std::string_view message) {
  if (!is_utf8(bytes)) {
    throw Malformed(offset_of(bytes, message), "text that is not UTF-8");
  }
  return bytes;
}

constexpr const char* not_an_integer = "holds no integer where an integer belongs";
constexpr const char* too_large = "holds an integer beyond 9223372036854775807";

/// The value as int64 from any integer arm; otherwise the reason why there is none.
const char* integer_value(const RawAttribute& attribute, std::int64_t& value) noexcept {
  if (is_signed(attribute.kind)) {
    value = to_signed(attribute.kind, attribute.value.number);
    return nullptr;
  }
  if (attribute.kind == AttributeKind::bool_value) {
    value = attribute.value.number != 0 ? 1 : 0;
    return nullptr;
  }
  if (!is_unsigned(attribute.kind)) {
    return not_an_integer;
  }
  const std::uint64_t wide = to_unsigned(attribute.kind, attribute.value.number);
  if (wide > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return too_large;
  }
  value = static_cast<std::int64_t>(wide);
  return nullptr;
}

/// Times may use the whole unsigned range.
const char* time_value(const RawAttribute& attribute, std::uint64_t& value) noexcept {
  if (is_unsigned(attribute.kind)) {
    value = to_unsigned(attribute.kind, attribute.value.number);
    return nullptr;
  }
  std::int64_t number = 0;
  if (const char* problem = integer_value(attribute, number)) {
    return problem;
  }
  value = static_cast<std::uint64_t>(number);
  return number < 0 ? "holds a negative time" : nullptr;
}

struct ExactTimes {
  std::optional<std::uint64_t> start;
  std::optional<std::uint64_t> duration;
};

/// Puts an attribute into its column; of several with one name the first that has a value stays.
const char* take_known(const RawAttribute& attribute, std::string_view message, DecodedNode& node, ExactTimes& times) {
  const KnownAttribute target = known(attribute.name);
  if (is_integer_column(target)) {
    const auto column = static_cast<std::size_t>(target);
    const std::uint32_t bit = std::uint32_t{1} << column;
    if ((node.integers_present & bit) != 0) {
      return nullptr;
    }
    const char* problem = integer_value(attribute, node.integers[column]);
    node.integers_present |= problem == nullptr ? bit : 0;
    return problem;
  }
  switch (target) {
    case KnownAttribute::is_cpu_op: {
      std::int64_t value = 0;
      const char* problem = integer_value(attribute, value);
      if (problem == nullptr && !node.is_cpu_op) {
        node.is_cpu_op = value != 0;
      }
      return problem;
    }
    case KnownAttribute::pg_name:
      if (attribute.kind != AttributeKind::string_value) {
        return "holds no string where a process group's name belongs";
      }
      if (!is_utf8(attribute.value.bytes)) {
        return "holds a string that is not UTF-8";
      }
      if (!node.pg_name) {
        node.pg_name = attribute.value.bytes;
      }
      return nullptr;
    case KnownAttribute::involved_dim: {
      if (attribute.kind != AttributeKind::bool_list) {
        return "holds no list of booleans";
      }
      if (!node.involved_dim) {
        const Attribute whole = decode_one_attribute(message);
        std::string& pattern = node.involved_dim.emplace();
        for (const bool involved : std::get<std::vector<bool>>(whole.value)) {
          pattern += involved ? '1' : '0';
        }
      }
      return nullptr;
    }
    case KnownAttribute::start_ns:
    case KnownAttribute::duration_ns: {
      auto& time = target == KnownAttribute::start_ns ? times.start : times.duration;
      std::uint64_t value = 0;
      const char* problem = time_value(attribute, value);
      if (problem == nullptr && !time) {
        time = value;
      }
      return problem;
    }
    default:
      return nullptr;
  }
}

void take_attribute(std::string_view message, std::string_view whole, DecodedNode& node, ExactTimes& times) {
  const RawAttribute attribute = scan_attribute(message);
  if (attribute.kind == AttributeKind::none) {
    return;
  }
  if (const char* problem = take_known(attribute, message, node, times)) {
    node.problems.push_back(
        {static_cast<std::uint32_t>(schema::Node::attr), attribute.name, problem, offset_of(message, whole)});
  }
}

// ---- nodes ------------------------------------------------------------------------------------------------------

void take_dependencies(const Field& field, std::string_view message, IdList& deps) {
  if (field.type == WireType::varint) {
    deps.push_back(field.number);
  } else if (field.type == WireType::length) {
    nested(field.bytes, message, [&](std::string_view packed) {
      Cursor cursor(packed);
      while (cursor.more()) {
        deps.push_back(cursor.varint());
      }
    });
  }
}

/// Exact ns where the attribute gives them, otherwise whole microseconds.
std::uint64_t exact_time(std::optional<std::uint64_t> exact, std::uint64_t micros, schema::Node field,
                         DecodedNode& node) {
  if (exact) {
    return *exact;
  }
  if (micros > std::numeric_limits<std::uint64_t>::max() / 1000) {
    const char* const name = field == schema::Node::start_time_micros ? "start_time_micros" : "duration_micros";
    node.problems.push_back(
        {static_cast<std::uint32_t>(field), name, "is more than 18446744073709551 microseconds", 0});
    return 0;
  }
  return micros * 1000;
}

bool is_dependency(const Field& field) noexcept {
  return field.tag == static_cast<std::uint32_t>(schema::Node::ctrl_deps) ||
         field.tag == static_cast<std::uint32_t>(schema::Node::data_deps);
}

/// Copies the fields that `wanted` says, byte for byte.
template <class Wanted>
void append_fields(std::string& copy, std::string_view message, Wanted&& wanted) {
  Cursor cursor(message);
  while (cursor.more()) {
    const std::size_t begin = cursor.offset();
    if (wanted(cursor.next())) {
      copy.append(message, begin, cursor.offset() - begin);
    }
  }
}

template <class Visit>
void for_each_field(std::string_view message, schema::Node wanted, Visit&& visit) {
  Cursor cursor(message);
  while (cursor.more()) {
    const Field field = cursor.next();
    if (field.tag == static_cast<std::uint32_t>(wanted) && field.type == WireType::length) {
      visit(field.bytes);
    }
  }
}

/// Takes what an IOInfo message says into `info`; strings that it does not have stay.
template <class Info>
void take_io(std::string_view part, std::string_view whole, Info& info) {
  nested(part, whole, [&](std::string_view bytes) {
    Cursor cursor(bytes);
    while (cursor.more()) {
      const Field field = cursor.next();
      if (field.type != WireType::length) {
        continue;
      }
      switch (static_cast<schema::IOInfo>(field.tag)) {
        case schema::IOInfo::values:
          info.values = field.bytes;
          break;
        case schema::IOInfo::shapes:
          info.shapes = field.bytes;
          break;
        case schema::IOInfo::types:
          info.types = field.bytes;
          break;
      }
    }
  });
}

IoInfo decode_io(std::string_view message, schema::Node which) {
  IoInfo info;
  for_each_field(message, which, [&](std::string_view part) { take_io(part, message, info); });
  return info;
}

}  // namespace

void clear(DecodedNode& node) {
  node.id = 0;
  node.name = {};
  node.name_is_utf8 = true;
  node.short_name.reset();
  node.type = 0;
  node.start_ns = 0;
  node.duration_ns = 0;
  node.integers_present = 0;
  node.is_cpu_op.reset();
  node.pg_name.reset();
  node.involved_dim.reset();
  node.data_deps.clear();
  node.ctrl_deps.clear();
  node.problems.clear();
}

void decode_node(std::string_view message, DecodedNode& node) {
  if (!decode_usual(message, node)) {
    decode_any(message, node);
  }
}

void decode_any(std::string_view message, DecodedNode& node) {
  clear(node);
  std::uint64_t start_micros = 0;
  std::uint64_t duration_micros = 0;
  ExactTimes exact;
  Cursor cursor(message);
  while (cursor.more()) {
    const Field field = cursor.next();
    const bool is_number = field.type == WireType::varint;
    switch (static_cast<schema::Node>(field.tag)) {
      case schema::Node::id:
        node.id = is_number ? field.number : node.id;
        break;
      case schema::Node::name:
        if (field.type == WireType::length) {
          node.name = field.bytes;
          node.name_is_utf8 = node.name_is_utf8 && is_utf8(node.name);
        }
        break;
      case schema::Node::type:
        node.type = is_number ? static_cast<std::int32_t>(static_cast<std::uint32_t>(field.number)) : node.type;
        break;
      case schema::Node::ctrl_deps:
        take_dependencies(field, message, node.ctrl_deps);
        break;
      case schema::Node::data_deps:
        take_dependencies(field, message, node.data_deps);
        break;
      case schema::Node::start_time_micros:
        start_micros = is_number ? field.number : start_micros;
        break;
      case schema::Node::duration_micros:
        duration_micros = is_number ? field.number : duration_micros;
        break;
      case schema::Node::attr:
        if (field.type == WireType::length) {
          nested(field.bytes, message, [&](std::string_view part) { take_attribute(part, message, node, exact); });
        }
        break;
      case schema::Node::inputs:
      case schema::Node::outputs:
        break;
    }
  }
  node.start_ns = exact_time(exact.start, start_micros, schema::Node::start_time_micros, node);
  node.duration_ns = exact_time(exact.duration, duration_micros, schema::Node::duration_micros, node);
}

Metadata decode_metadata(std::string_view message) {
  Metadata metadata;
  Cursor cursor(message);
  while (cursor.more()) {
    const Field field = cursor.next();
    if (field.type != WireType::length) {
      continue;
    }
    if (field.tag == static_cast<std::uint32_t>(schema::GlobalMetadata::version)) {
      metadata.version = checked_string(AttributeKind::string_value, field.bytes, message);
    } else if (field.tag == static_cast<std::uint32_t>(schema::GlobalMetadata::attr)) {
      metadata.attributes.push_back(nested(field.bytes, message, decode_one_attribute));
    }
  }
  return metadata;
}

std::vector<Attribute> decode_attributes(std::string_view node_message) {
  std::vector<Attribute> attributes;
  for_each_field(node_message, schema::Node::attr, [&](std::string_view part) {
    attributes.push_back(nested(part, node_message, decode_one_attribute));
  });
  return attributes;
}

std::optional<Attribute> decode_attribute(std::string_view node_message, std::string_view name) {
  std::optional<Attribute> found;
  for_each_field(node_message, schema::Node::attr, [&](std::string_view part) {
    if (!found && nested(part, node_message, scan_attribute).name == name) {
      found = nested(part, node_message, decode_one_attribute);
    }
  });
  return found;
}

AttributeView view_attribute(std::string_view message) {
  const RawAttribute raw = scan_attribute(message);
  AttributeView view{checked_text(raw.name, message), raw.kind, {}, message};
  if (raw.kind == AttributeKind::none || is_list(raw.kind)) {
    return view;
  }
  if (raw.kind == AttributeKind::string_value) {
    view.scalar = checked_text(raw.value.bytes, message);
  } else if (raw.kind == AttributeKind::bytes_value) {
    view.scalar = raw.value.bytes;
  } else if (is_signed(raw.kind)) {
    view.scalar = to_signed(raw.kind, raw.value.number);
  } else if (is_unsigned(raw.kind)) {
    view.scalar = to_unsigned(raw.kind, raw.value.number);
  } else if (raw.kind == AttributeKind::bool_value) {
    view.scalar = raw.value.number != 0;
  } else {
    view.scalar = to_double(raw.kind, raw.value.number);
  }
  return view;
}

void find_cold_parts(std::string_view node_message, ColdParts& parts) {
  parts.inputs = {};
  parts.outputs = {};
  parts.attributes.clear();
  Cursor cursor(node_message);
  while (cursor.more()) {
    const Field field = cursor.next();
    if (field.type != WireType::length) {
      continue;
    }
    switch (static_cast<schema::Node>(field.tag)) {
      case schema::Node::inputs:
        take_io(field.bytes, node_message, parts.inputs);
        break;
      case schema::Node::outputs:
        take_io(field.bytes, node_message, parts.outputs);
        break;
      case schema::Node::attr:
        parts.attributes.push_back(field.bytes);
        break;
      default:
        break;
    }
  }
}

Attribute decode_attribute_message(std::string_view attribute_message) {
  return decode_one_attribute(attribute_message);
}

IoInfo decode_inputs(std::string_view node_message) { return decode_io(node_message, schema::Node::inputs); }
IoInfo decode_outputs(std::string_view node_message) { return decode_io(node_message, schema::Node::outputs); }

void append_without_dependencies(std::string& copy, std::string_view node_message) {
  append_fields(copy, node_message, [](const Field& field) { return !is_dependency(field); });
}

void append_without_id_and_dependencies(std::string& copy, std::string_view node_message) {
  append_fields(copy, node_message, [](const Field& field) {
    const bool is_id = field.tag == static_cast<std::uint32_t>(schema::Node::id) && field.type == WireType::varint;
    return !is_id && !is_dependency(field);
  });
}

void append_mended(std::string& copy, std::string_view node_message, std::span<const AttributeProblem> problems) {
  // Problems come in the order of the message, those of times last.
  const auto is_time = [](const AttributeProblem& problem) {
    return problem.field != static_cast<std::uint32_t>(schema::Node::attr);
  };
  const auto times = std::span(std::find_if(problems.begin(), problems.end(), is_time), problems.end());
  auto next = problems.begin();
  Cursor cursor(node_message);
  while (cursor.more()) {
    const std::size_t begin = cursor.offset();
    const Field field = cursor.next();
    const bool is_text = field.type == WireType::length;
    if (next != problems.end() && !is_time(*next) && next->field == field.tag && is_text &&
        next->offset == offset_of(field.bytes, node_message)) {
      ++next;
    } else if (is_text && field.tag == static_cast<std::uint32_t>(schema::Node::name) && !is_utf8(field.bytes)) {
      append_name(copy, replace_invalid_utf8(field.bytes));
    } else if (std::none_of(times.begin(), times.end(), [&](const auto& time) { return time.field == field.tag; })) {
      copy.append(node_message, begin, cursor.offset() - begin);
    }
  }
}

Frame read_unusual_frame(std::string_view bytes, std::size_t offset) {
  Cursor cursor(bytes.substr(offset));
  const std::uint64_t size = cursor.varint();
  const std::size_t begin = offset + cursor.offset();
  if (size > bytes.size() - begin) {
    throw Malformed(0, "the file ends inside this record");
  }
  return {begin, static_cast<std::size_t>(size)};
}

}  // namespace chakra::wire
