// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "chakra_core/attribute.hpp"
#include "chakra_core/trace.hpp"
#include "wire/attribute_heads.hpp"
#include "wire/id_list.hpp"
#include "wire/short_text.hpp"

/// Protobuf bytes to values. Together with encode.cpp the only place that sees protozero.
///
/// Follows protobuf's own parsers where a message is unusual: repeated scalars packed or not, the last
/// value of a singular field or oneof wins, unknown fields (also groups) are skipped, a known field
/// with another wire type counts as unknown.
namespace chakra::wire {

/// Bytes that are no protobuf message; `offset` counts from the start of the message given.
class Malformed : public std::runtime_error {
 public:
  Malformed(std::size_t offset, const char* what) : std::runtime_error(what), offset_(offset) {}
  std::size_t offset() const noexcept { return offset_; }

 private:
  std::size_t offset_;
};

/// An attribute or a time that is there but whose value cannot go into its column.
struct AttributeProblem {
  std::uint32_t field;  ///< of Node: attr, start_time_micros or duration_micros
  std::string_view name;
  const char* what;    ///< "holds a string where an integer belongs"
  std::size_t offset;  ///< of the AttributeProto in the message, 0 for a time
};

/// The fields of one Node that become columns. Views point into the message.
struct DecodedNode {
  NodeId id;
  std::string_view name;
  bool name_is_utf8;  ///< also true of every earlier value of the field
  /// The name again, where it is ASCII and short.
  std::optional<ShortText> short_name;
  std::int32_t type;
  std::uint64_t start_ns;
  std::uint64_t duration_ns;
  std::uint32_t integers_present;  ///< bit i: integers[i] is there, i as in IntegerAttribute
  std::array<std::int64_t, integer_attribute_count> integers;
  std::optional<bool> is_cpu_op;
  std::optional<std::string_view> pg_name;
  std::optional<std::string> involved_dim;  ///< one '0' or '1' a dimension
  IdList data_deps;
  IdList ctrl_deps;
  std::vector<AttributeProblem> problems;
  AttributeHeads heads;  ///< what earlier messages taught; no part of the node
};

/// Empties `node` and keeps the capacity of its lists.
void clear(DecodedNode& node);

/// Decodes a whole Node message into `node`, replacing what it held. Throws Malformed.
void decode_node(std::string_view message, DecodedNode& node);
/// The same without the short cut for messages as all known writers make them (decode_usual.hpp).
void decode_any(std::string_view message, DecodedNode& node);

/// Throws Malformed.
Metadata decode_metadata(std::string_view message);
std::vector<Attribute> decode_attributes(std::string_view node_message);
std::optional<Attribute> decode_attribute(std::string_view node_message, std::string_view name);
/// One attribute of a Node without copies of its text; views point into the message.
struct AttributeView {
  std::string_view name;
  AttributeKind kind = AttributeKind::none;
  /// Of a scalar kind; a list must be decoded from `message`.
  std::variant<std::monostate, std::int64_t, std::uint64_t, double, bool, std::string_view> scalar;
  std::string_view message;  ///< the AttributeProto
};

/// Throws Malformed, whose offset counts from the start of the AttributeProto.
AttributeView view_attribute(std::string_view attribute_message);
Attribute decode_attribute_message(std::string_view attribute_message);

/// Inputs or outputs without copies.
struct IoView {
  std::string_view values;
  std::string_view shapes;
  std::string_view types;
};

/// What has no column, in views of the record.
struct ColdParts {
  IoView inputs;
  IoView outputs;
  std::vector<std::string_view> attributes;  ///< AttributeProto messages in the order of the record
};

/// Replaces what `parts` held. Throws Malformed.
void find_cold_parts(std::string_view node_message, ColdParts& parts);

IoInfo decode_inputs(std::string_view node_message);
IoInfo decode_outputs(std::string_view node_message);

/// Appends a Node message without its dependencies; everything else stays byte for byte. Throws Malformed.
void append_without_dependencies(std::string& copy, std::string_view node_message);

/// The same without the id too.
void append_without_id_and_dependencies(std::string& copy, std::string_view node_message);

/// Appends a Node message without the fields that `problems` name, and with what is not UTF-8 in its name replaced.
/// Everything else stays byte for byte. Throws Malformed.
void append_mended(std::string& copy, std::string_view node_message, std::span<const AttributeProblem> problems);

/// Length prefix of a record at `bytes[offset]`.
struct Frame {
  std::size_t begin;  ///< offset of the message
  std::size_t size;   ///< of the message
};

/// read_frame() for lengths of more than two bytes and for what is no frame.
Frame read_unusual_frame(std::string_view bytes, std::size_t offset);

/// Reads the frame at `offset`, which must be before the end. Throws Malformed (offset 0 is the prefix)
/// if the prefix is no varint or the message would end after the bytes.
inline Frame read_frame(std::string_view bytes, std::size_t offset) {
  const std::size_t left = bytes.size() - offset;
  if (left >= 2) {
    const auto first = static_cast<unsigned char>(bytes[offset]);
    const auto second = static_cast<unsigned char>(bytes[offset + 1]);
    if (first < 0x80 && first < left) {
      return {offset + 1, first};
    }
    const std::size_t size = (first & 0x7FU) | std::size_t{second} << 7;
    if (first >= 0x80 && second < 0x80 && size <= left - 2) {
      return {offset + 2, size};
    }
  }
  return read_unusual_frame(bytes, offset);
}

}  // namespace chakra::wire
