// SPDX-License-Identifier: MIT
#include "c_api/value.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace chakra::c_api {

namespace {

template <class Held>
constexpr bool holds_list = false;
template <class Element>
constexpr bool holds_list<std::vector<Element>> = true;

template <class Held>
Value as_value(const Held& held) {
  if constexpr (std::is_same_v<Held, std::string>) {
    return std::string_view(held);
  } else {
    return held;
  }
}

}  // namespace

std::size_t count_values(const Attribute& attribute) {
  return std::visit(
      [](const auto& held) -> std::size_t {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (holds_list<Held>) {
          return held.size();
        } else {
          return std::is_same_v<Held, std::monostate> ? 0 : 1;
        }
      },
      attribute.value);
}

Value value_at(const Attribute& attribute, std::size_t element) {
  const std::size_t count = count_values(attribute);
  if (element >= count) {
    throw Failure(CHAKRA_ERROR_ARGUMENT, "attribute '" + attribute.name + "' has " + std::to_string(count) +
                                             " values; number " + std::to_string(element) + " was asked for");
  }
  return std::visit(
      [&](const auto& held) -> Value {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::vector<bool>>) {
          return static_cast<bool>(held[element]);
        } else if constexpr (holds_list<Held>) {
          return as_value(held[element]);
        } else if constexpr (std::is_same_v<Held, std::monostate>) {
          throw Failure(CHAKRA_ERROR_INTERNAL, "no value");  // counted as 0 above
        } else {
          return as_value(held);
        }
      },
      attribute.value);
}

void throw_not_convertible(std::string_view attribute, const char* wanted) {
  throw Failure(CHAKRA_ERROR_TYPE, "attribute '" + std::string(attribute) + "' is not " + wanted);
}

double as_double(const Value& value, std::string_view attribute) {
  return std::visit(
      [&](const auto& held) -> double {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::string_view>) {
          throw_not_convertible(attribute, "a number");
        } else {
          return static_cast<double>(held);
        }
      },
      value);
}

std::string_view as_text(const Value& value, std::string_view attribute) {
  if (const auto* text = std::get_if<std::string_view>(&value)) {
    return *text;
  }
  throw_not_convertible(attribute, "text");
}

void copy_text(std::string_view text, char* buffer, std::size_t capacity, std::size_t* size) {
  if (capacity != 0) {
    need(buffer, "buffer");
    const std::size_t copied = std::min(text.size(), capacity - 1);
    std::memcpy(buffer, text.data(), copied);
    buffer[copied] = '\0';
  }
  if (size != nullptr) {
    *size = text.size();
  }
}

}  // namespace chakra::c_api
