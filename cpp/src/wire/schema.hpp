// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

/// Field numbers of schema/et_def.proto.
namespace chakra::wire::schema {

enum class GlobalMetadata : std::uint32_t { version = 1, attr = 2 };

enum class Node : std::uint32_t {
  id = 1,
  name = 2,
  type = 3,
  ctrl_deps = 4,
  data_deps = 5,
  start_time_micros = 6,
  duration_micros = 7,
  inputs = 8,
  outputs = 9,
  attr = 10,
};

enum class IOInfo : std::uint32_t { values = 1, shapes = 2, types = 3 };

enum class AttributeProto : std::uint32_t { name = 1, doc_string = 2, first_value = 3, last_value = 32 };

/// Wire types, the lowest three bits of a field's key.
inline constexpr unsigned varint_type = 0;
inline constexpr unsigned fixed64_type = 1;
inline constexpr unsigned length_type = 2;
inline constexpr unsigned fixed32_type = 5;

/// Every list message of the schema has this one field.
inline constexpr std::uint32_t list_values = 1;

}  // namespace chakra::wire::schema
