// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "chakra_core/astra_sim/messages.hpp"
#include "chakra_core/c_api.h"

namespace Chakra {
namespace detail {

/// Turns a failed call of the C face into std::runtime_error with the text of its error, which is freed. The error is
/// taken by reference because the call that sets it stands in the same argument list.
inline void check(chakra_status status, chakra_error*& error) {
  if (status == CHAKRA_OK || status == CHAKRA_ABSENT) {
    return;
  }
  std::string message = chakra_error_message(error);
  chakra_error_free(error);
  throw std::runtime_error(message);
}

/// The same for a call that returns a handle.
template <class Handle>
Handle* checked(Handle* handle, chakra_error*& error) {
  if (handle == nullptr) {
    check(chakra_error_status(error), error);
  }
  return handle;
}

inline std::string text(chakra_string view) { return std::string(view.data, view.size); }

#ifdef CHAKRA_CORE_ASTRA_SIM_PROTOBUF

/// The record of a node or of the whole trace as a message.
template <class Message>
Message parse_record(const chakra_record* record) {
  const chakra_string bytes = chakra_record_bytes(record);
  Message message;
  if (!message.ParseFromArray(bytes.data, static_cast<int>(bytes.size))) {
    throw std::runtime_error("a record that protobuf does not parse");
  }
  return message;
}

#else

/// One value of an attribute, of the type that its arm has.
template <class Element>
Element record_value(const chakra_record* record, std::size_t index, std::size_t element) {
  chakra_error* error = nullptr;
  if constexpr (std::is_same<Element, std::string>::value) {
    chakra_string value = {};
    check(chakra_record_string(record, index, element, &value, &error), error);
    return text(value);
  } else if constexpr (std::is_floating_point<Element>::value) {
    double value = 0;
    check(chakra_record_double(record, index, element, &value, &error), error);
    return static_cast<Element>(value);
  } else if constexpr (std::is_signed<Element>::value) {
    std::int64_t value = 0;
    check(chakra_record_int64(record, index, element, &value, &error), error);
    return static_cast<Element>(value);
  } else {
    std::uint64_t value = 0;
    check(chakra_record_uint64(record, index, element, &value, &error), error);
    return static_cast<Element>(value);
  }
}

template <class List, class Element>
List record_list(const chakra_record* record, std::size_t index, std::size_t count) {
  std::vector<Element> values;
  values.reserve(count);
  for (std::size_t element = 0; element < count; ++element) {
    values.push_back(record_value<Element>(record, index, element));
  }
  return List(std::move(values));
}

inline ChakraProtoMsg::AttributeProto::Value record_any(const chakra_record* record, std::size_t index,
                                                        const chakra_attribute& attribute) {
  using namespace ChakraProtoMsg;
  switch (attribute.kind) {
    case CHAKRA_KIND_NONE:
      return {};
    case CHAKRA_KIND_DOUBLE:
      return record_value<double>(record, index, 0);
    case CHAKRA_KIND_FLOAT:
      return record_value<float>(record, index, 0);
    case CHAKRA_KIND_INT32:
    case CHAKRA_KIND_SINT32:
    case CHAKRA_KIND_SFIXED32:
      return record_value<std::int32_t>(record, index, 0);
    case CHAKRA_KIND_INT64:
    case CHAKRA_KIND_SINT64:
    case CHAKRA_KIND_SFIXED64:
      return record_value<std::int64_t>(record, index, 0);
    case CHAKRA_KIND_UINT32:
    case CHAKRA_KIND_FIXED32:
      return record_value<std::uint32_t>(record, index, 0);
    case CHAKRA_KIND_UINT64:
    case CHAKRA_KIND_FIXED64:
      return record_value<std::uint64_t>(record, index, 0);
    case CHAKRA_KIND_BOOL:
      return record_value<bool>(record, index, 0);
    case CHAKRA_KIND_STRING:
    case CHAKRA_KIND_BYTES:
      return record_value<std::string>(record, index, 0);
    case CHAKRA_KIND_DOUBLE_LIST:
      return record_list<DoubleList, double>(record, index, attribute.count);
    case CHAKRA_KIND_FLOAT_LIST:
      return record_list<FloatList, float>(record, index, attribute.count);
    case CHAKRA_KIND_INT32_LIST:
    case CHAKRA_KIND_SINT32_LIST:
    case CHAKRA_KIND_SFIXED32_LIST:
      return record_list<Int32List, std::int32_t>(record, index, attribute.count);
    case CHAKRA_KIND_INT64_LIST:
    case CHAKRA_KIND_SINT64_LIST:
    case CHAKRA_KIND_SFIXED64_LIST:
      return record_list<Int64List, std::int64_t>(record, index, attribute.count);
    case CHAKRA_KIND_UINT32_LIST:
    case CHAKRA_KIND_FIXED32_LIST:
      return record_list<Uint32List, std::uint32_t>(record, index, attribute.count);
    case CHAKRA_KIND_UINT64_LIST:
    case CHAKRA_KIND_FIXED64_LIST:
      return record_list<Uint64List, std::uint64_t>(record, index, attribute.count);
    case CHAKRA_KIND_BOOL_LIST:
      return record_list<BoolList, bool>(record, index, attribute.count);
    case CHAKRA_KIND_STRING_LIST:
    case CHAKRA_KIND_BYTES_LIST:
      return record_list<StringList, std::string>(record, index, attribute.count);
  }
  return {};
}

inline std::vector<ChakraProtoMsg::AttributeProto> record_attributes(const chakra_record* record) {
  using ChakraProtoMsg::AttributeProto;
  std::vector<AttributeProto> attributes;
  attributes.reserve(chakra_record_size(record));
  for (std::size_t index = 0; index < chakra_record_size(record); ++index) {
    const chakra_attribute attribute = chakra_record_attribute(record, index);
    attributes.emplace_back(text(attribute.name), text(attribute.doc_string),
                            static_cast<AttributeProto::ValueCase>(attribute.kind),
                            record_any(record, index, attribute));
  }
  return attributes;
}

inline ChakraProtoMsg::IOInfo io_info(const chakra_io_info& info) {
  return ChakraProtoMsg::IOInfo(text(info.values), text(info.shapes), text(info.types));
}

#endif

}  // namespace detail
}  // namespace Chakra
