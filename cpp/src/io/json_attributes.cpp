// SPDX-License-Identifier: MIT
#include "io/json_attributes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

#include "io/base64.hpp"
#include "io/json_text.hpp"

namespace chakra::io {

namespace {

constexpr std::array<std::string_view, 15> kind_names = {"double",   "float",    "int32",  "int64",   "uint32",
                                                         "uint64",   "sint32",   "sint64", "fixed32", "fixed64",
                                                         "sfixed32", "sfixed64", "bool",   "string",  "bytes"};
constexpr std::string_view value_suffix = "_val";
constexpr std::string_view list_suffix = "_list";
constexpr unsigned first_kind = 3;

bool is_list(AttributeKind kind) noexcept {
  return kind != AttributeKind::none && static_cast<unsigned>(kind) % 2 == 0;
}

/// The kind of the elements of a list, and a kind that is none itself.
AttributeKind element_kind(AttributeKind kind) noexcept {
  return is_list(kind) ? static_cast<AttributeKind>(static_cast<unsigned>(kind) - 1) : kind;
}

std::string arm_name(AttributeKind kind) {
  const auto name = kind_names[(static_cast<unsigned>(kind) - first_kind) / 2];
  return std::string(name) + std::string(is_list(kind) ? list_suffix : value_suffix);
}

std::optional<AttributeKind> arm_of(std::string_view name) {
  const bool list = name.ends_with(list_suffix);
  if (!list && !name.ends_with(value_suffix)) {
    return std::nullopt;
  }
  name.remove_suffix((list ? list_suffix : value_suffix).size());
  const auto found = std::find(kind_names.begin(), kind_names.end(), name);
  if (found == kind_names.end()) {
    return std::nullopt;
  }
  const auto number = first_kind + 2 * static_cast<unsigned>(found - kind_names.begin()) + (list ? 1 : 0);
  return static_cast<AttributeKind>(number);
}

/// Times of nodes, which every writer of them gives as uint64.
bool is_unsigned_by_name(std::string_view name) noexcept { return name == "start_ns" || name == "duration_ns"; }

// ---- writing

void append_value(std::string& out, AttributeKind /*kind*/, std::int64_t value) { out += std::to_string(value); }
void append_value(std::string& out, AttributeKind /*kind*/, std::uint64_t value) { out += std::to_string(value); }
void append_value(std::string& out, AttributeKind /*kind*/, bool value) { out += value ? "true" : "false"; }
void append_value(std::string& out, AttributeKind /*kind*/, double value) {
  if (std::isfinite(value)) {
    append_json_double(out, value);
  } else {
    out += std::isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  }
}
void append_value(std::string& out, AttributeKind kind, const std::string& value) {
  if (element_kind(kind) != AttributeKind::bytes_value) {
    append_json_string(out, value);
    return;
  }
  out += '"';
  append_base64(out, value);
  out += '"';
}

template <class Value>
void append_value(std::string& out, AttributeKind kind, const std::vector<Value>& values) {
  out += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    out += i > 0 ? ", " : "";
    append_value(out, kind, static_cast<const Value&>(values[i]));
  }
  out += ']';
}

void append_value(std::string& out, AttributeKind /*kind*/, std::monostate /*none*/) { out += "null"; }

void append_any_value(std::string& out, const Attribute& attribute) {
  std::visit([&](const auto& value) { append_value(out, attribute.kind, value); }, attribute.value);
}

// ---- reading

/// A number, also as a string, as protobuf's JSON writes those of 64 bits and those that are not finite.
template <class Convert>
auto read_as_number(JsonScanner& scanner, Convert&& convert) -> decltype(convert(JsonNumber{})) {
  switch (scanner.peek()) {
    case JsonKind::number:
      return convert(scanner.read_number());
    case JsonKind::string: {
      const std::string text(scanner.read_string());
      const JsonNumber number = parse_json_number(text.data(), text.data() + text.size());
      if (number.well_formed && number.text.size() == text.size()) {
        return convert(number);
      }
      return std::nullopt;
    }
    default:
      scanner.skip();
      return std::nullopt;
  }
}

std::optional<double> to_floating(const JsonNumber& number) {
  return number.well_formed ? std::optional(number.to_double()) : std::nullopt;
}

void read_element(JsonScanner& scanner, AttributeKind /*kind*/, std::optional<std::int64_t>& value) {
  value = read_as_number(scanner, [](const JsonNumber& number) { return number.to_int64(); });
}
void read_element(JsonScanner& scanner, AttributeKind /*kind*/, std::optional<std::uint64_t>& value) {
  value = read_as_number(scanner, [](const JsonNumber& number) { return number.to_uint64(); });
}
void read_element(JsonScanner& scanner, AttributeKind kind, std::optional<double>& value) {
  value = read_as_number(scanner, to_floating);
  if (value && element_kind(kind) == AttributeKind::float_value) {
    value = static_cast<double>(static_cast<float>(*value));
  }
}
void read_element(JsonScanner& scanner, AttributeKind /*kind*/, std::optional<bool>& value) {
  if (scanner.peek() == JsonKind::boolean) {
    value = scanner.read_boolean();
  } else {
    scanner.skip();
  }
}
void read_element(JsonScanner& scanner, AttributeKind kind, std::optional<std::string>& value) {
  if (scanner.peek() != JsonKind::string) {
    scanner.skip();
    return;
  }
  const std::string_view text = scanner.read_string();
  value = element_kind(kind) == AttributeKind::bytes_value ? decode_base64(text) : std::string(text);
}

/// Whether all elements are what the kind demands.
template <class Value>
bool read_elements(JsonScanner& scanner, AttributeKind kind, AttributeValue& into) {
  bool fits = true;
  std::vector<Value> values;
  scanner.enter_array();
  while (scanner.next_element()) {
    std::optional<Value> value;
    read_element(scanner, kind, value);
    fits = fits && value.has_value();
    if (value) {
      values.push_back(std::move(*value));
    }
  }
  into = std::move(values);
  return fits;
}

/// A list is `{"values": [..]}`, as protobuf has it, or the array alone.
template <class Value>
bool read_list(JsonScanner& scanner, AttributeKind kind, AttributeValue& into) {
  if (scanner.peek() == JsonKind::array) {
    return read_elements<Value>(scanner, kind, into);
  }
  if (scanner.peek() != JsonKind::object) {
    scanner.skip();
    return false;
  }
  bool fits = true;
  into = std::vector<Value>();
  scanner.enter_object();
  std::string_view key;
  while (scanner.next_key(key)) {
    if (key == "values" && scanner.peek() == JsonKind::array) {
      fits = read_elements<Value>(scanner, kind, into) && fits;
    } else {
      fits = false;
      scanner.skip();
    }
  }
  return fits;
}

template <class Value>
bool read_typed(JsonScanner& scanner, Attribute& attribute) {
  if (is_list(attribute.kind)) {
    return read_list<Value>(scanner, attribute.kind, attribute.value);
  }
  std::optional<Value> value;
  read_element(scanner, attribute.kind, value);
  if (value) {
    attribute.value = std::move(*value);
  }
  return value.has_value();
}

/// Reads the value that comes next as one of the attribute's kind.
bool read_arm(JsonScanner& scanner, Attribute& attribute) {
  switch (element_kind(attribute.kind)) {
    case AttributeKind::double_value:
    case AttributeKind::float_value:
      return read_typed<double>(scanner, attribute);
    case AttributeKind::int32_value:
    case AttributeKind::int64_value:
    case AttributeKind::sint32_value:
    case AttributeKind::sint64_value:
    case AttributeKind::sfixed32_value:
    case AttributeKind::sfixed64_value:
      return read_typed<std::int64_t>(scanner, attribute);
    case AttributeKind::bool_value:
      return read_typed<bool>(scanner, attribute);
    case AttributeKind::string_value:
    case AttributeKind::bytes_value:
      return read_typed<std::string>(scanner, attribute);
    default:
      return read_typed<std::uint64_t>(scanner, attribute);
  }
}

void set_number(Attribute& attribute, const JsonNumber& number) {
  const auto as_signed = number.integer ? number.to_int64() : std::nullopt;
  const auto as_unsigned = number.integer ? number.to_uint64() : std::nullopt;
  if (as_unsigned && (!as_signed || is_unsigned_by_name(attribute.name))) {
    attribute.kind = AttributeKind::uint64_value;
    attribute.value = *as_unsigned;
  } else if (as_signed) {
    attribute.kind = AttributeKind::int64_value;
    attribute.value = *as_signed;
  } else {
    attribute.kind = AttributeKind::double_value;
    attribute.value = number.to_double();
  }
}

/// Elements of a plain list, as every kind that they could be.
struct PlainList {
  std::size_t count = 0;
  std::vector<std::int64_t> integers;
  std::vector<std::uint64_t> naturals;
  std::vector<double> numbers;
  std::vector<bool> booleans;
  std::vector<std::string> strings;
  std::string text = "[";  ///< for when they are not all of one kind

  void read_element(JsonScanner& scanner) {
    text += count++ > 0 ? "," : "";
    switch (scanner.peek()) {
      case JsonKind::number:
        return add(scanner.read_number());
      case JsonKind::boolean:
        booleans.push_back(scanner.read_boolean());
        text += booleans.back() ? "true" : "false";
        return;
      case JsonKind::string:
        strings.emplace_back(scanner.read_string());
        return append_json_string(text, strings.back());
      default:
        return append_json_value(scanner, text);
    }
  }

  void add(const JsonNumber& number) {
    text += number.text;
    if (const auto value = number.integer ? number.to_int64() : std::nullopt) {
      integers.push_back(*value);
    }
    if (const auto value = number.integer ? number.to_uint64() : std::nullopt) {
      naturals.push_back(*value);
    }
    numbers.push_back(number.to_double());
  }

  void give_to(Attribute& attribute) {
    const auto take = [&](auto& values, AttributeKind kind) {
      if (values.size() != count) {
        return false;
      }
      attribute.kind = kind;
      attribute.value = std::move(values);
      return true;
    };
    if (!take(integers, AttributeKind::int64_list) && !take(naturals, AttributeKind::uint64_list) &&
        !take(numbers, AttributeKind::double_list) && !take(booleans, AttributeKind::bool_list) &&
        !take(strings, AttributeKind::string_list)) {
      attribute.kind = AttributeKind::string_value;
      attribute.value = std::move(text) + "]";
    }
  }
};

bool is_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

/// Some value is too large for int64, which is what plain numbers are first taken for.
bool is_beyond_signed(const std::vector<std::uint64_t>& values) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return std::any_of(values.begin(), values.end(), [](std::uint64_t value) { return value > most; });
}

}  // namespace

void append_json_value(JsonScanner& scanner, std::string& out) {
  const std::size_t outside = scanner.depth();
  std::string_view key;
  do {
    switch (scanner.peek()) {
      case JsonKind::object:
        scanner.enter_object();
        out += '{';
        break;
      case JsonKind::array:
        scanner.enter_array();
        out += '[';
        break;
      case JsonKind::string:
        append_json_string(out, scanner.read_string());
        break;
      case JsonKind::number:
        out += scanner.read_number().text;
        break;
      case JsonKind::boolean:
        out += scanner.read_boolean() ? "true" : "false";
        break;
      default:
        scanner.skip();
        out += "null";
    }
    // Steps to the next value, out of containers that end here.
    while (scanner.depth() > outside) {
      const bool object = scanner.in_object();
      const std::string_view comma = scanner.at_first() ? "" : ",";
      if (object ? scanner.next_key(key) : scanner.next_element()) {
        out += comma;
        if (object) {
          append_json_string(out, key);
          out += ':';
        }
        break;
      }
      out += object ? '}' : ']';
    }
  } while (scanner.depth() > outside);
}

Attribute read_plain_attribute(JsonScanner& scanner, std::string name) {
  Attribute attribute{std::move(name), AttributeKind::none, {}, {}};
  switch (scanner.peek()) {
    case JsonKind::number:
      set_number(attribute, scanner.read_number());
      break;
    case JsonKind::boolean:
      attribute.kind = AttributeKind::bool_value;
      attribute.value = scanner.read_boolean();
      break;
    case JsonKind::string:
      attribute.kind = AttributeKind::string_value;
      attribute.value = std::string(scanner.read_string());
      break;
    case JsonKind::array: {
      PlainList list;
      scanner.enter_array();
      while (scanner.next_element()) {
        list.read_element(scanner);
      }
      list.give_to(attribute);
      break;
    }
    case JsonKind::object: {
      std::string text;
      append_json_value(scanner, text);
      attribute.kind = AttributeKind::string_value;
      attribute.value = std::move(text);
      break;
    }
    default:
      scanner.skip();
  }
  return attribute;
}

bool is_plain(const Attribute& attribute) {
  if (!attribute.doc_string.empty() || !is_consistent(attribute)) {
    return false;
  }
  switch (attribute.kind) {
    case AttributeKind::none:
    case AttributeKind::bool_value:
    case AttributeKind::string_value:
    case AttributeKind::int64_list:
      return true;
    case AttributeKind::int64_value:
      return !is_unsigned_by_name(attribute.name) || std::get<std::int64_t>(attribute.value) < 0;
    case AttributeKind::uint64_value:
      return is_unsigned_by_name(attribute.name) || is_beyond_signed({std::get<std::uint64_t>(attribute.value)});
    case AttributeKind::double_value:
      return std::isfinite(std::get<double>(attribute.value));
    case AttributeKind::uint64_list:
      return is_beyond_signed(std::get<std::vector<std::uint64_t>>(attribute.value));
    case AttributeKind::double_list: {
      const auto& values = std::get<std::vector<double>>(attribute.value);
      return !values.empty() && is_finite(values);
    }
    case AttributeKind::bool_list:
      return !std::get<std::vector<bool>>(attribute.value).empty();
    case AttributeKind::string_list:
      return !std::get<std::vector<std::string>>(attribute.value).empty();
    default:
      return false;
  }
}

void append_plain_value(std::string& out, const Attribute& attribute) { append_any_value(out, attribute); }

std::optional<Attribute> read_listed_attribute(JsonScanner& scanner, std::string& problem) {
  if (scanner.peek() != JsonKind::object) {
    scanner.skip();
    problem = "an attribute that is no object";
    return std::nullopt;
  }
  Attribute attribute;
  scanner.enter_object();
  std::string_view key;
  while (scanner.next_key(key)) {
    if ((key == "name" || key == "doc_string") && scanner.peek() == JsonKind::string) {
      (key == "name" ? attribute.name : attribute.doc_string) = std::string(scanner.read_string());
    } else if (const auto arm = arm_of(key)) {
      const std::string arm_text(key);
      attribute.kind = *arm;
      if (!read_arm(scanner, attribute) || !is_consistent(attribute)) {
        problem = "an attribute whose " + arm_text + " is none";
      }
    } else {
      problem = "an attribute with the unknown member \"" + std::string(key) + "\"";
      scanner.skip();
    }
  }
  return problem.empty() ? std::optional(std::move(attribute)) : std::nullopt;
}

void append_listed_attribute(std::string& out, const Attribute& attribute) {
  out += "{\"name\": ";
  append_json_string(out, attribute.name);
  if (!attribute.doc_string.empty()) {
    out += ", \"doc_string\": ";
    append_json_string(out, attribute.doc_string);
  }
  if (attribute.kind != AttributeKind::none) {
    out += ", \"" + arm_name(attribute.kind) + "\": ";
    out += is_list(attribute.kind) ? "{\"values\": " : "";
    append_any_value(out, attribute);
    out += is_list(attribute.kind) ? "}" : "";
  }
  out += '}';
}

}  // namespace chakra::io
