// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "chakra_core/attribute.hpp"
#include "io/json_scanner.hpp"

/// Attributes in the JSON form of an ET. A plain member of a node, `"name": value`, says no more than JSON's own types
/// do; an element of the list "attr" says which arm of AttributeProto holds the value, as protobuf's JSON does.
namespace chakra::io {

/// Appends the value that comes next, without white space.
void append_json_value(JsonScanner& scanner, std::string& out);

/// The attribute that a plain member is: int64 or else uint64, double, bool, string, or a list of those; null is an
/// attribute without value. What is none of these is kept as a string of its JSON text.
Attribute read_plain_attribute(JsonScanner& scanner, std::string name);
/// A plain member with this value reads back as the same attribute.
bool is_plain(const Attribute& attribute);
/// Appends the value alone. For attributes that are plain, and for integers and booleans of any kind.
void append_plain_value(std::string& out, const Attribute& attribute);

/// Reads an element of "attr". Where it is none, passes it, returns nothing and says why in `problem`.
std::optional<Attribute> read_listed_attribute(JsonScanner& scanner, std::string& problem);
void append_listed_attribute(std::string& out, const Attribute& attribute);

}  // namespace chakra::io
