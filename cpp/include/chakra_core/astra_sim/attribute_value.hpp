// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "chakra_core/astra_sim/messages.hpp"

namespace Chakra {

/// An attribute that does not convert to what was asked for: float to integer, text to number and so on.
class AttributeCastError : public std::bad_cast {
 public:
  explicit AttributeCastError(std::string message) : message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

namespace detail {

template <class Wanted, class Held>
constexpr bool converts() {
  return (std::is_integral<Wanted>::value && std::is_integral<Held>::value) ||
         (std::is_floating_point<Wanted>::value && std::is_arithmetic<Held>::value) ||
         (std::is_enum<Wanted>::value && std::is_integral<Held>::value);
}

template <class Wanted, class Held>
Wanted convert_value(const std::string& name, const Held& held, bool strict) {
  if constexpr (std::is_same<Wanted, Held>::value) {
    return held;
  } else {
    if constexpr (converts<Wanted, Held>()) {
      if (!strict) {
        return static_cast<Wanted>(held);
      }
    }
    throw AttributeCastError("attribute '" + name + "' does not convert to the type that was asked for");
  }
}

/// The value of an attribute. Any integer arm, and bool, converts to any integer, and any number to floating point;
/// `strict` takes the arm's own type only. Throws AttributeCastError (a std::bad_cast) for all else, and
/// std::invalid_argument for lists and attributes without a value.
template <class Wanted>
Wanted attribute_value(const ChakraProtoMsg::AttributeProto& attribute, bool strict = false) {
  using Attribute = ChakraProtoMsg::AttributeProto;
  if constexpr (std::is_same<Wanted, Attribute>::value) {
    return attribute;
  } else {
    const auto convert = [&](const auto& held) { return convert_value<Wanted>(attribute.name(), held, strict); };
    switch (attribute.value_case()) {
      case Attribute::kDoubleVal:
        return convert(attribute.double_val());
      case Attribute::kFloatVal:
        return convert(attribute.float_val());
      case Attribute::kInt32Val:
        return convert(attribute.int32_val());
      case Attribute::kInt64Val:
        return convert(attribute.int64_val());
      case Attribute::kUint32Val:
        return convert(attribute.uint32_val());
      case Attribute::kUint64Val:
        return convert(attribute.uint64_val());
      case Attribute::kSint32Val:
        return convert(attribute.sint32_val());
      case Attribute::kSint64Val:
        return convert(attribute.sint64_val());
      case Attribute::kFixed32Val:
        return convert(attribute.fixed32_val());
      case Attribute::kFixed64Val:
        return convert(attribute.fixed64_val());
      case Attribute::kSfixed32Val:
        return convert(attribute.sfixed32_val());
      case Attribute::kSfixed64Val:
        return convert(attribute.sfixed64_val());
      case Attribute::kBoolVal:
        return convert(attribute.bool_val());
      case Attribute::kStringVal:
        return convert(attribute.string_val());
      case Attribute::kBytesVal:
        return convert(attribute.bytes_val());
      default:
        throw std::invalid_argument("attribute '" + attribute.name() +
                                    "' is a list or has no value; ask for its message instead");
    }
  }
}

/// The first attribute of a name in a message that has attributes; nullptr if there is none.
template <class Message>
const ChakraProtoMsg::AttributeProto* find_attribute(const Message& message, const std::string& name) {
  for (const auto& attribute : message.attr()) {
    if (attribute.name() == name) {
      return &attribute;
    }
  }
  return nullptr;
}

}  // namespace detail
}  // namespace Chakra
