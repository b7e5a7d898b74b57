// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "c_api/failure.hpp"
#include "chakra_core/attribute.hpp"

namespace chakra::c_api {

/// A single value of an attribute, or one element of a list.
using Value = std::variant<std::int64_t, std::uint64_t, double, bool, std::string_view>;

/// List kinds have the even numbers.
constexpr bool is_list(AttributeKind kind) noexcept {
  return kind != AttributeKind::none && static_cast<unsigned>(kind) % 2 == 0;
}

/// Number of values: 1 unless the attribute is a list or has none.
std::size_t count_values(const Attribute& attribute);

/// Throws Failure if there is no such element. Text is a view into the attribute.
Value value_at(const Attribute& attribute, std::size_t element);

[[noreturn]] void throw_not_convertible(std::string_view attribute, const char* wanted);

/// A value as another type, as c_api.h says what converts; throws Failure otherwise. `attribute` is named in it.
template <std::integral Integer>
Integer as_integer(const Value& value, std::string_view attribute) {
  return std::visit(
      [&](const auto& held) -> Integer {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, bool>) {
          return held ? 1 : 0;
        } else if constexpr (std::is_integral_v<Held>) {
          if (std::in_range<Integer>(held)) {
            return static_cast<Integer>(held);
          }
        }
        throw_not_convertible(attribute, std::is_signed_v<Integer> ? "an int64" : "an uint64");
      },
      value);
}
double as_double(const Value& value, std::string_view attribute);
std::string_view as_text(const Value& value, std::string_view attribute);

/// Writes text as snprintf does, and its whole size if `size` is there.
void copy_text(std::string_view text, char* buffer, std::size_t capacity, std::size_t* size);

inline chakra_string c_string(std::string_view text) noexcept { return {text.data(), text.size()}; }

}  // namespace chakra::c_api
