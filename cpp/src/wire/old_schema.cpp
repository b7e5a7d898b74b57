// SPDX-License-Identifier: MIT
#include "wire/old_schema.hpp"

#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>

namespace chakra::wire {

namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

/// Attributes were a name and then the number of their type, where doc_string is now.
bool is_old_attribute(pbf_reader attribute) {
  return attribute.next() && attribute.tag_and_type() == protozero::tag_and_type(1, pbf_wire_type::length_delimited) &&
         (attribute.skip(), attribute.next()) &&
         attribute.tag_and_type() == protozero::tag_and_type(2, pbf_wire_type::varint);
}

/// What the fields of a record say.
struct Signs {
  bool node = false;           ///< begins with an id, so it is no metadata
  bool old_attribute = false;  ///< 0.0.2 and 0.0.3
  bool flat = false;           ///< 0.0.1: numbers where attributes and lists of strings came later
};

Signs look_at(std::string_view record) {
  constexpr protozero::pbf_tag_type last_flat = 20;
  Signs signs;
  pbf_reader reader(record.data(), record.size());
  for (bool begin = true; reader.next(); begin = false) {
    const bool is_number = reader.wire_type() == pbf_wire_type::varint;
    const bool is_bytes = reader.wire_type() == pbf_wire_type::length_delimited;
    signs.node = signs.node || (begin && is_number && reader.tag() == 1);
    signs.flat = signs.flat || (is_number && reader.tag() >= 8 && reader.tag() <= last_flat);
    if (is_bytes && (reader.tag() == 11 || (begin && reader.tag() == 1))) {
      signs.old_attribute = signs.old_attribute || is_old_attribute(reader.get_message());
    } else {
      reader.skip();
    }
  }
  return signs;
}

}  // namespace

std::string_view recognise_old_schema(std::string_view record, bool first) {
  Signs signs;
  try {
    signs = look_at(record);
  } catch (const protozero::exception&) {
    return {};
  }
  if (signs.old_attribute) {
    return "the file is of schema 0.0.2 or 0.0.3 (2023), which numbers fields and attributes differently";
  }
  if (first && signs.node) {
    return signs.flat ? "the file is of schema 0.0.1 (2023), which has no metadata record and other fields in its nodes"
                      : "the first record is a Node where a GlobalMetadata belongs; files of the schemas 0.0.1 to "
                        "0.0.3 (2023) begin like this, and their fields are numbered differently";
  }
  return {};
}

}  // namespace chakra::wire
