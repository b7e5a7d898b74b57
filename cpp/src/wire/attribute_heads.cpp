// SPDX-License-Identifier: MIT
#include "wire/attribute_heads.hpp"

#include <optional>
#include <string_view>

#include "chakra_core/attribute.hpp"
#include "wire/schema.hpp"

namespace chakra::wire {

namespace {

using schema::fixed32_type;
using schema::fixed64_type;
using schema::length_type;
using schema::varint_type;

constexpr unsigned char name_key = static_cast<unsigned char>(schema::AttributeProto::name) << 3 | length_type;

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

AttributeAction check(unsigned wire_type) noexcept {
  switch (wire_type) {
    case varint_type:
      return AttributeAction::check_varint;
    case fixed64_type:
      return AttributeAction::check_fixed64;
    case fixed32_type:
      return AttributeAction::check_fixed32;
    default:
      return AttributeAction::check_bytes;
  }
}

/// Of an attribute that has a column: the arms that writers use.
AttributeAction take(KnownAttribute target, AttributeKind kind) noexcept {
  if (target == KnownAttribute::pg_name) {
    return kind == AttributeKind::string_value ? AttributeAction::take_text : AttributeAction::leave;
  }
  if (target == KnownAttribute::involved_dim) {
    return AttributeAction::leave;
  }
  switch (kind) {
    case AttributeKind::int64_value:
      return AttributeAction::take_int64;
    case AttributeKind::uint64_value:
      return AttributeAction::take_uint64;
    case AttributeKind::bool_value:
      return AttributeAction::take_bool;
    case AttributeKind::int32_value:
      return AttributeAction::take_int32;
    case AttributeKind::uint32_value:
      return AttributeAction::take_uint32;
    default:
      return AttributeAction::leave;
  }
}

/// Key and size of the name, the name, key of the value. None if something else stands there or the bytes end.
std::optional<AttributeHead> take_apart(const char* const begin, const char* const end) noexcept {
  const auto byte = [](const char* at) { return static_cast<unsigned char>(*at); };
  if (end - begin < 3 || byte(begin) != name_key || byte(begin + 1) >= end - begin - 2) {
    return std::nullopt;
  }
  const std::string_view name(begin + 2, byte(begin + 1));
  const char* at = name.data() + name.size();
  unsigned key = byte(at++);
  if (key >= 0x80) {
    if (at == end) {
      return std::nullopt;
    }
    key = (key & 0x7F) | unsigned{byte(at++)} << 7;
  }
  const unsigned number = key >> 3;
  if (name.size() >= 0x80 || number < static_cast<unsigned>(AttributeKind::double_value) ||
      number > static_cast<unsigned>(AttributeKind::bytes_list)) {
    return std::nullopt;
  }
  const auto kind = static_cast<AttributeKind>(number);
  const unsigned wire_type = key & 7;
  if (wire_type != usual_wire_type(kind)) {
    return std::nullopt;
  }
  AttributeHead head;
  head.size = static_cast<std::uint8_t>(at - begin);
  head.target = known(name);
  head.action = head.target == KnownAttribute::other ? check(wire_type) : take(head.target, kind);
  return head;
}

/// Writes down the bytes of a head that is short enough.
void remember_bytes(AttributeHead& head, const char* begin) noexcept {
  std::array<char, AttributeHead::most_bytes> bytes{};
  std::memcpy(bytes.data(), begin, head.size);
  head.mask = low_bytes(head.size);
  head.last_begin = static_cast<std::uint8_t>(head.size > 8 ? head.size - 8 : 0);
  head.first = load_little_endian(bytes.data()) & head.mask;
  head.last = load_little_endian(bytes.data() + head.last_begin) & head.mask;
}

std::uint8_t hash(const AttributeHead& head) noexcept {
  const std::uint64_t mixed = (head.first ^ std::rotl(head.last, 23)) * 0x9E3779B97F4A7C15ULL;
  return static_cast<std::uint8_t>(mixed >> 56);
}

}  // namespace

/// Where the head is remembered, from now on if it was not.
AttributeHead* AttributeHeads::place_of(const AttributeHead& head) noexcept {
  std::uint8_t& place = by_hash_[hash(head)];
  if (AttributeHead& known = heads_[place];
      place != 0 && known.size == head.size && known.first == head.first && known.last == head.last) {
    return &known;
  }
  if (remembered_ == most_remembered) {
    *this = AttributeHeads();
  }
  place = static_cast<std::uint8_t>(++remembered_);
  heads_[place] = head;
  return &heads_[place];
}

AttributeHead* AttributeHeads::look_up(AttributeHead* latest, const char* at, const char* end) noexcept {
  auto found = take_apart(at, end);
  if (!found) {
    return nullptr;
  }
  if (found->size > AttributeHead::most_bytes) {
    heads_[too_long] = *found;
    return &heads_[too_long];
  }
  remember_bytes(*found, at);
  AttributeHead* const head = place_of(*found);
  if (head != latest + 1) {
    latest->other = static_cast<std::uint8_t>(head - heads_.data());
  }
  return head;
}

}  // namespace chakra::wire
