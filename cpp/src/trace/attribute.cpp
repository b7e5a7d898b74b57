// SPDX-License-Identifier: MIT
#include "chakra_core/attribute.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "wire/utf8.hpp"

namespace chakra {

namespace {

template <class Narrow>
bool fits(std::int64_t value) noexcept {
  return value >= std::numeric_limits<Narrow>::min() && value <= std::numeric_limits<Narrow>::max();
}

bool is_signed_32(AttributeKind kind) noexcept {
  return kind == AttributeKind::int32_value || kind == AttributeKind::sint32_value ||
         kind == AttributeKind::sfixed32_value || kind == AttributeKind::int32_list ||
         kind == AttributeKind::sint32_list || kind == AttributeKind::sfixed32_list;
}

bool is_unsigned_32(AttributeKind kind) noexcept {
  return kind == AttributeKind::uint32_value || kind == AttributeKind::fixed32_value ||
         kind == AttributeKind::uint32_list || kind == AttributeKind::fixed32_list;
}

bool fits_float(double value) noexcept {
  return !std::isfinite(value) || std::fabs(value) <= static_cast<double>(std::numeric_limits<float>::max());
}

/// Index of the variant alternative that a kind carries.
std::size_t alternative(AttributeKind kind) noexcept {
  switch (kind) {
    case AttributeKind::none:
      return 0;
    case AttributeKind::int32_value:
    case AttributeKind::int64_value:
    case AttributeKind::sint32_value:
    case AttributeKind::sint64_value:
    case AttributeKind::sfixed32_value:
    case AttributeKind::sfixed64_value:
      return 1;
    case AttributeKind::uint32_value:
    case AttributeKind::uint64_value:
    case AttributeKind::fixed32_value:
    case AttributeKind::fixed64_value:
      return 2;
    case AttributeKind::double_value:
    case AttributeKind::float_value:
      return 3;
    case AttributeKind::bool_value:
      return 4;
    case AttributeKind::string_value:
    case AttributeKind::bytes_value:
      return 5;
    case AttributeKind::int32_list:
    case AttributeKind::int64_list:
    case AttributeKind::sint32_list:
    case AttributeKind::sint64_list:
    case AttributeKind::sfixed32_list:
    case AttributeKind::sfixed64_list:
      return 6;
    case AttributeKind::uint32_list:
    case AttributeKind::uint64_list:
    case AttributeKind::fixed32_list:
    case AttributeKind::fixed64_list:
      return 7;
    case AttributeKind::double_list:
    case AttributeKind::float_list:
      return 8;
    case AttributeKind::bool_list:
      return 9;
    case AttributeKind::string_list:
    case AttributeKind::bytes_list:
      return 10;
  }
  return std::variant_npos;
}

}  // namespace

bool is_consistent(const Attribute& attribute) noexcept {
  if (attribute.value.index() != alternative(attribute.kind) || !wire::is_utf8(attribute.name) ||
      !wire::is_utf8(attribute.doc_string)) {
    return false;
  }
  const auto fits_signed = [&](std::int64_t value) {
    return !is_signed_32(attribute.kind) || fits<std::int32_t>(value);
  };
  const auto fits_unsigned = [&](std::uint64_t value) {
    return !is_unsigned_32(attribute.kind) || value <= std::numeric_limits<std::uint32_t>::max();
  };
  const auto fits_floating = [&](double value) {
    return (attribute.kind != AttributeKind::float_value && attribute.kind != AttributeKind::float_list) ||
           fits_float(value);
  };
  const auto fits_text = [&](const std::string& value) {
    return attribute.kind == AttributeKind::bytes_value || attribute.kind == AttributeKind::bytes_list ||
           wire::is_utf8(value);
  };
  if (const auto* value = std::get_if<std::int64_t>(&attribute.value)) {
    return fits_signed(*value);
  }
  if (const auto* value = std::get_if<std::uint64_t>(&attribute.value)) {
    return fits_unsigned(*value);
  }
  if (const auto* values = std::get_if<std::vector<std::int64_t>>(&attribute.value)) {
    return std::all_of(values->begin(), values->end(), fits_signed);
  }
  if (const auto* values = std::get_if<std::vector<std::uint64_t>>(&attribute.value)) {
    return std::all_of(values->begin(), values->end(), fits_unsigned);
  }
  if (const auto* value = std::get_if<double>(&attribute.value)) {
    return fits_floating(*value);
  }
  if (const auto* values = std::get_if<std::vector<double>>(&attribute.value)) {
    return std::all_of(values->begin(), values->end(), fits_floating);
  }
  if (const auto* value = std::get_if<std::string>(&attribute.value)) {
    return fits_text(*value);
  }
  if (const auto* values = std::get_if<std::vector<std::string>>(&attribute.value)) {
    return std::all_of(values->begin(), values->end(), fits_text);
  }
  return true;
}

Attribute make_bool(std::string name, bool value) { return {std::move(name), AttributeKind::bool_value, value, {}}; }

Attribute make_int64(std::string name, std::int64_t value) {
  return {std::move(name), AttributeKind::int64_value, value, {}};
}

Attribute make_uint64(std::string name, std::uint64_t value) {
  return {std::move(name), AttributeKind::uint64_value, value, {}};
}

Attribute make_double(std::string name, double value) {
  return {std::move(name), AttributeKind::double_value, value, {}};
}

Attribute make_string(std::string name, std::string value) {
  return {std::move(name), AttributeKind::string_value, std::move(value), {}};
}

Attribute make_bool_list(std::string name, std::vector<bool> values) {
  return {std::move(name), AttributeKind::bool_list, std::move(values), {}};
}

}  // namespace chakra
