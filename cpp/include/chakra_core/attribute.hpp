// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace chakra {

/// Arm of AttributeProto's oneof; the numbers are the field numbers of schema/et_def.proto.
/// Even numbers are the list form of the kind before them.
enum class AttributeKind : std::uint8_t {
  none = 0,  ///< an attribute without any value, as real files have
  double_value = 3,
  double_list = 4,
  float_value = 5,
  float_list = 6,
  int32_value = 7,
  int32_list = 8,
  int64_value = 9,
  int64_list = 10,
  uint32_value = 11,
  uint32_list = 12,
  uint64_value = 13,
  uint64_list = 14,
  sint32_value = 15,
  sint32_list = 16,
  sint64_value = 17,
  sint64_list = 18,
  fixed32_value = 19,
  fixed32_list = 20,
  fixed64_value = 21,
  fixed64_list = 22,
  sfixed32_value = 23,
  sfixed32_list = 24,
  sfixed64_value = 25,
  sfixed64_list = 26,
  bool_value = 27,
  bool_list = 28,
  string_value = 29,
  string_list = 30,
  bytes_value = 31,
  bytes_list = 32,
};

/// Value of an attribute. Signed kinds hold int64, unsigned kinds uint64, both floating kinds double
/// (a float_value converts exactly), string and bytes kinds std::string.
using AttributeValue =
    std::variant<std::monostate, std::int64_t, std::uint64_t, double, bool, std::string, std::vector<std::int64_t>,
                 std::vector<std::uint64_t>, std::vector<double>, std::vector<bool>, std::vector<std::string>>;

/// One AttributeProto: the kind says which arm of the oneof carries the value on the wire.
struct Attribute {
  std::string name;
  AttributeKind kind = AttributeKind::none;
  AttributeValue value;
  std::string doc_string;

  bool operator==(const Attribute&) const = default;
};

/// The value's alternative fits the kind (an int64 for int32_value, and so on) and its range, and all text is UTF-8.
bool is_consistent(const Attribute& attribute) noexcept;

/// Convenience constructors, with the arms that the widespread writers use.
Attribute make_bool(std::string name, bool value);
Attribute make_int64(std::string name, std::int64_t value);
Attribute make_uint64(std::string name, std::uint64_t value);
Attribute make_double(std::string name, double value);
Attribute make_string(std::string name, std::string value);
Attribute make_bool_list(std::string name, std::vector<bool> values);

}  // namespace chakra
