// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Protobuf bytes written out by hand, so that tests do not check the encoder with itself.
namespace chakra::test {

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  while (value >= 0x80) {
    bytes += static_cast<char>((value & 0x7f) | 0x80);
    value >>= 7;
  }
  return bytes + static_cast<char>(value);
}

inline std::string key(std::uint32_t field, unsigned wire_type) {
  return varint((std::uint64_t{field} << 3) | wire_type);
}

inline std::string number_field(std::uint32_t field, std::uint64_t value) { return key(field, 0) + varint(value); }

inline std::string bytes_field(std::uint32_t field, std::string_view bytes) {
  return key(field, 2) + varint(bytes.size()) + std::string(bytes);
}

inline std::string little_endian(std::uint64_t value, int size) {
  std::string bytes;
  for (int i = 0; i < size; ++i) {
    bytes += static_cast<char>(value >> (8 * i));
  }
  return bytes;
}

inline std::string fixed32_field(std::uint32_t field, std::uint32_t value) {
  return key(field, 5) + little_endian(value, 4);
}
inline std::string fixed64_field(std::uint32_t field, std::uint64_t value) {
  return key(field, 1) + little_endian(value, 8);
}

/// An AttributeProto field of a Node: a name and whatever value fields.
inline std::string attribute(std::string_view name, std::string_view value_fields) {
  return bytes_field(10, bytes_field(1, name) + std::string(value_fields));
}

/// A record of a file: the length and the message.
inline std::string record(std::string_view message) { return varint(message.size()) + std::string(message); }

}  // namespace chakra::test
