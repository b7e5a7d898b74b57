// SPDX-License-Identifier: MIT
#include "wire/encode.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>

#include "wire/schema.hpp"

namespace chakra::wire {

namespace {

using protozero::pbf_tag_type;
using protozero::pbf_writer;

pbf_tag_type tag(schema::Node field) { return static_cast<pbf_tag_type>(field); }

// For what every node of a builder's trace has, straight to memory that is large enough.

using schema::length_type;
using schema::varint_type;

char* write_varint(char* at, std::uint64_t value) noexcept { return at + protozero::write_varint(at, value); }

/// All fields of Node have numbers below 16.
char* write_key(char* at, schema::Node field, unsigned wire_type) noexcept {
  *at++ = static_cast<char>(static_cast<unsigned>(field) << 3 | wire_type);
  return at;
}

/// Nothing for 0, as proto3 does.
char* write_number(char* at, schema::Node field, std::uint64_t value) noexcept {
  return value == 0 ? at : write_varint(write_key(at, field, varint_type), value);
}

char* write_packed(char* at, schema::Node field, std::span<const NodeId> values) noexcept {
  if (values.empty()) {
    return at;
  }
  std::size_t size = 0;
  for (const NodeId value : values) {
    size += static_cast<std::size_t>(protozero::length_of_varint(value));
  }
  at = write_varint(write_key(at, field, length_type), size);
  for (const NodeId value : values) {
    at = write_varint(at, value);
  }
  return at;
}

void add_scalar(pbf_writer& writer, AttributeKind kind, const AttributeValue& value) {
  const auto field = static_cast<pbf_tag_type>(kind);
  switch (kind) {
    case AttributeKind::double_value:
      return writer.add_double(field, std::get<double>(value));
    case AttributeKind::float_value:
      return writer.add_float(field, static_cast<float>(std::get<double>(value)));
    case AttributeKind::int32_value:
      return writer.add_int32(field, static_cast<std::int32_t>(std::get<std::int64_t>(value)));
    case AttributeKind::int64_value:
      return writer.add_int64(field, std::get<std::int64_t>(value));
    case AttributeKind::uint32_value:
      return writer.add_uint32(field, static_cast<std::uint32_t>(std::get<std::uint64_t>(value)));
    case AttributeKind::uint64_value:
      return writer.add_uint64(field, std::get<std::uint64_t>(value));
    case AttributeKind::sint32_value:
      return writer.add_sint32(field, static_cast<std::int32_t>(std::get<std::int64_t>(value)));
    case AttributeKind::sint64_value:
      return writer.add_sint64(field, std::get<std::int64_t>(value));
    case AttributeKind::fixed32_value:
      return writer.add_fixed32(field, static_cast<std::uint32_t>(std::get<std::uint64_t>(value)));
    case AttributeKind::fixed64_value:
      return writer.add_fixed64(field, std::get<std::uint64_t>(value));
    case AttributeKind::sfixed32_value:
      return writer.add_sfixed32(field, static_cast<std::int32_t>(std::get<std::int64_t>(value)));
    case AttributeKind::sfixed64_value:
      return writer.add_sfixed64(field, std::get<std::int64_t>(value));
    case AttributeKind::bool_value:
      return writer.add_bool(field, std::get<bool>(value));
    case AttributeKind::string_value:
    case AttributeKind::bytes_value:
      return writer.add_bytes(field, std::get<std::string>(value));
    default:
      return;
  }
}

template <class Wire, class List>
std::vector<Wire> narrowed(const List& values) {
  std::vector<Wire> wire;
  wire.reserve(values.size());
  for (const auto value : values) {
    wire.push_back(static_cast<Wire>(value));
  }
  return wire;
}

void add_list_values(pbf_writer& list, AttributeKind kind, const AttributeValue& value) {
  using Signed = std::vector<std::int64_t>;
  using Unsigned = std::vector<std::uint64_t>;
  constexpr pbf_tag_type field = schema::list_values;
  switch (kind) {
    case AttributeKind::double_list: {
      const auto& values = std::get<std::vector<double>>(value);
      return list.add_packed_double(field, values.begin(), values.end());
    }
    case AttributeKind::float_list: {
      const auto values = narrowed<float>(std::get<std::vector<double>>(value));
      return list.add_packed_float(field, values.begin(), values.end());
    }
    case AttributeKind::int32_list: {
      const auto values = narrowed<std::int32_t>(std::get<Signed>(value));
      return list.add_packed_int32(field, values.begin(), values.end());
    }
    case AttributeKind::int64_list: {
      const auto& values = std::get<Signed>(value);
      return list.add_packed_int64(field, values.begin(), values.end());
    }
    case AttributeKind::uint32_list: {
      const auto values = narrowed<std::uint32_t>(std::get<Unsigned>(value));
      return list.add_packed_uint32(field, values.begin(), values.end());
    }
    case AttributeKind::uint64_list: {
      const auto& values = std::get<Unsigned>(value);
      return list.add_packed_uint64(field, values.begin(), values.end());
    }
    case AttributeKind::sint32_list: {
      const auto values = narrowed<std::int32_t>(std::get<Signed>(value));
      return list.add_packed_sint32(field, values.begin(), values.end());
    }
    case AttributeKind::sint64_list: {
      const auto& values = std::get<Signed>(value);
      return list.add_packed_sint64(field, values.begin(), values.end());
    }
    case AttributeKind::fixed32_list: {
      const auto values = narrowed<std::uint32_t>(std::get<Unsigned>(value));
      return list.add_packed_fixed32(field, values.begin(), values.end());
    }
    case AttributeKind::fixed64_list: {
      const auto& values = std::get<Unsigned>(value);
      return list.add_packed_fixed64(field, values.begin(), values.end());
    }
    case AttributeKind::sfixed32_list: {
      const auto values = narrowed<std::int32_t>(std::get<Signed>(value));
      return list.add_packed_sfixed32(field, values.begin(), values.end());
    }
    case AttributeKind::sfixed64_list: {
      const auto& values = std::get<Signed>(value);
      return list.add_packed_sfixed64(field, values.begin(), values.end());
    }
    case AttributeKind::bool_list: {
      const auto& values = std::get<std::vector<bool>>(value);
      return list.add_packed_bool(field, values.begin(), values.end());
    }
    case AttributeKind::string_list:
    case AttributeKind::bytes_list:
      for (const std::string& text : std::get<std::vector<std::string>>(value)) {
        list.add_bytes(field, text);
      }
      return;
    default:
      return;
  }
}

// Embedded messages are made on their own: protozero takes an embedded message back if nothing was written to it, but
// an empty list still says which list it is.
void add_attribute(pbf_writer& parent, pbf_tag_type field, const Attribute& attribute) {
  std::string message;
  pbf_writer writer(message);
  if (!attribute.name.empty()) {
    writer.add_string(static_cast<pbf_tag_type>(schema::AttributeProto::name), attribute.name);
  }
  if (!attribute.doc_string.empty()) {
    writer.add_string(static_cast<pbf_tag_type>(schema::AttributeProto::doc_string), attribute.doc_string);
  }
  const bool is_list = attribute.kind != AttributeKind::none && static_cast<unsigned>(attribute.kind) % 2 == 0;
  if (is_list) {
    std::string values;
    pbf_writer list(values);
    add_list_values(list, attribute.kind, attribute.value);
    writer.add_message(static_cast<pbf_tag_type>(attribute.kind), values);
  } else {
    add_scalar(writer, attribute.kind, attribute.value);
  }
  parent.add_message(field, message);
}

void append_io(std::string& message, schema::Node which, const IoInfo& info) {
  std::string part;
  pbf_writer writer(part);
  const auto add = [&](schema::IOInfo field, const std::string& text) {
    if (!text.empty()) {
      writer.add_string(static_cast<pbf_tag_type>(field), text);
    }
  };
  add(schema::IOInfo::values, info.values);
  add(schema::IOInfo::shapes, info.shapes);
  add(schema::IOInfo::types, info.types);
  pbf_writer(message).add_message(tag(which), part);
}

}  // namespace

void append_id(std::string& message, NodeId id) {
  if (id != 0) {
    pbf_writer(message).add_uint64(tag(schema::Node::id), id);
  }
}

void append_name(std::string& message, std::string_view name) {
  pbf_writer(message).add_string(tag(schema::Node::name), name.data(), name.size());
}

void append_dependencies(std::string& message, std::span<const NodeId> ctrl_deps, std::span<const NodeId> data_deps) {
  pbf_writer writer(message);
  writer.add_packed_uint64(tag(schema::Node::ctrl_deps), ctrl_deps.begin(), ctrl_deps.end());
  writer.add_packed_uint64(tag(schema::Node::data_deps), data_deps.begin(), data_deps.end());
}

std::size_t head_bound(const NodeHead& head) noexcept {
  constexpr std::size_t fields = 7;
  constexpr std::size_t longest_field = 1 + protozero::max_varint_length;
  return fields * longest_field + head.name.size() +
         (head.ctrl_deps.size() + head.data_deps.size()) * protozero::max_varint_length;
}

char* write_head(char* at, const NodeHead& head) noexcept {
  at = write_number(at, schema::Node::id, head.id);
  if (!head.name.empty()) {
    at = write_key(at, schema::Node::name, length_type);
    at = write_varint(at, head.name.size());
    at = std::copy(head.name.begin(), head.name.end(), at);
  }
  // Negative numbers of an enum go out as 64 bits.
  at = write_number(at, schema::Node::type,
                    static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(head.type)}));
  at = write_packed(at, schema::Node::ctrl_deps, head.ctrl_deps);
  at = write_packed(at, schema::Node::data_deps, head.data_deps);
  at = write_number(at, schema::Node::start_time_micros, head.start_micros);
  return write_number(at, schema::Node::duration_micros, head.duration_micros);
}

void append_head(std::string& message, const NodeHead& head) {
  const std::size_t before = message.size();
  message.resize(before + head_bound(head));
  const char* const end = write_head(message.data() + before, head);
  message.resize(static_cast<std::size_t>(end - message.data()));
}

void append_inputs(std::string& message, const IoInfo& info) { append_io(message, schema::Node::inputs, info); }
void append_outputs(std::string& message, const IoInfo& info) { append_io(message, schema::Node::outputs, info); }

void append_node_attribute(std::string& message, const Attribute& attribute) {
  pbf_writer writer(message);
  add_attribute(writer, tag(schema::Node::attr), attribute);
}

std::string encode_metadata(const Metadata& metadata) {
  std::string message;
  pbf_writer writer(message);
  if (!metadata.version.empty()) {
    writer.add_string(static_cast<pbf_tag_type>(schema::GlobalMetadata::version), metadata.version);
  }
  for (const Attribute& attribute : metadata.attributes) {
    add_attribute(writer, static_cast<pbf_tag_type>(schema::GlobalMetadata::attr), attribute);
  }
  return message;
}

std::string with_version(std::string_view metadata_message, std::string_view version) {
  std::string message;
  pbf_writer(message).add_string(static_cast<pbf_tag_type>(schema::GlobalMetadata::version), version.data(),
                                 version.size());
  protozero::pbf_reader reader(metadata_message.data(), metadata_message.size());
  try {
    while (true) {
      const std::size_t begin = metadata_message.size() - reader.length();
      if (!reader.next()) {
        break;
      }
      const bool is_version = reader.tag() == static_cast<pbf_tag_type>(schema::GlobalMetadata::version);
      reader.skip();
      if (!is_version) {
        message.append(metadata_message, begin, metadata_message.size() - reader.length() - begin);
      }
    }
  } catch (const protozero::exception&) {
    return message;
  }
  return message;
}

std::size_t write_frame(char* at, std::size_t message_size) {
  static_assert(longest_frame == protozero::max_varint_length);
  return static_cast<std::size_t>(protozero::write_varint(at, message_size));
}

}  // namespace chakra::wire
