// SPDX-License-Identifier: MIT
#include "wire/append_attribute.hpp"

#include <algorithm>

#include <protozero/varint.hpp>

#include "wire/schema.hpp"

namespace chakra::wire {

namespace {

std::size_t length_of(std::uint64_t value) noexcept {
  return static_cast<std::size_t>(protozero::length_of_varint(value));
}

/// Writes to memory that was made large enough.
class Pen {
 public:
  Pen(std::string& message, std::size_t size) {
    const std::size_t before = message.size();
    message.resize(before + size);
    at_ = message.data() + before;
  }

  void number(std::uint64_t value) noexcept { at_ += protozero::write_varint(at_, value); }
  void key(std::uint32_t field, unsigned wire_type) noexcept { number(std::uint64_t{field} << 3 | wire_type); }
  void text(std::uint32_t field, std::string_view bytes) noexcept {
    key(field, schema::length_type);
    number(bytes.size());
    at_ = std::copy(bytes.begin(), bytes.end(), at_);  // bytes may be none, at no address
  }

 private:
  char* at_;
};

constexpr auto attribute_field = static_cast<std::uint32_t>(schema::Node::attr);
constexpr auto name_field = static_cast<std::uint32_t>(schema::AttributeProto::name);

std::size_t size_of_key(std::uint32_t field) noexcept { return length_of(std::uint64_t{field} << 3); }
std::size_t size_of_text(std::uint32_t field, std::string_view bytes) noexcept {
  return size_of_key(field) + length_of(bytes.size()) + bytes.size();
}

/// A message within the node: its key, its size, and room for it.
Pen begin_part(std::string& message, std::uint32_t field, std::size_t size) {
  Pen pen(message, size_of_key(field) + length_of(size) + size);
  pen.key(field, schema::length_type);
  pen.number(size);
  return pen;
}

void append_io(std::string& message, schema::Node which, const IoView& info) {
  struct Part {
    schema::IOInfo field;
    std::string_view text;
  };
  const Part parts[] = {{schema::IOInfo::values, info.values},
                        {schema::IOInfo::shapes, info.shapes},
                        {schema::IOInfo::types, info.types}};
  std::size_t size = 0;
  for (const Part& part : parts) {
    size += part.text.empty() ? 0 : size_of_text(static_cast<std::uint32_t>(part.field), part.text);
  }
  Pen pen = begin_part(message, static_cast<std::uint32_t>(which), size);
  for (const Part& part : parts) {
    if (!part.text.empty()) {
      pen.text(static_cast<std::uint32_t>(part.field), part.text);
    }
  }
}

}  // namespace

void append_integer_attribute(std::string& message, std::string_view name, AttributeKind kind, std::uint64_t bits) {
  const auto field = static_cast<std::uint32_t>(kind);
  Pen pen = begin_part(message, attribute_field, size_of_text(name_field, name) + size_of_key(field) + length_of(bits));
  pen.text(name_field, name);
  pen.key(field, schema::varint_type);
  pen.number(bits);
}

void append_string_attribute(std::string& message, std::string_view name, std::string_view text) {
  constexpr auto field = static_cast<std::uint32_t>(AttributeKind::string_value);
  Pen pen = begin_part(message, attribute_field, size_of_text(name_field, name) + size_of_text(field, text));
  pen.text(name_field, name);
  pen.text(field, text);
}

void append_inputs(std::string& message, const IoView& info) { append_io(message, schema::Node::inputs, info); }
void append_outputs(std::string& message, const IoView& info) { append_io(message, schema::Node::outputs, info); }

}  // namespace chakra::wire
