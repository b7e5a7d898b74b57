// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include <pybind11/pybind11.h>

#include "chakra_core/attribute.hpp"
#include "chakra_core/node_type.hpp"

namespace chakra::bindings {

/// The value as the Python object one would expect: int, float, bool, str, bytes, None, or a list of these.
pybind11::object to_python(const Attribute& attribute);

/// Schema name of the oneof arm ("int64_val", "bool_list"), "" for an attribute without value.
std::string kind_name(AttributeKind kind);
AttributeKind parse_kind(const std::string& name);

/// The integer arm that the widespread writers use for this name.
AttributeKind customary_kind(const std::string& name);

/// An attribute from a Python value. With an empty `kind` the arm is the one that the widespread writers use for
/// this name, else the natural one for the Python type. Throws TypeError, ValueError.
Attribute from_python(const std::string& name, const pybind11::object& value, const std::string& kind = {},
                      const std::string& doc_string = {});

/// From a dict of name to value (or Attribute), or a sequence of Attribute. None is no attributes.
std::vector<Attribute> attributes_from_python(const pybind11::object& attributes);

/// Text that may hold bytes which are not UTF-8: those read as U+FFFD.
pybind11::str text(std::string_view bytes);

/// A path as Python spells it (surrogateescape for bytes that are not UTF-8).
pybind11::str file_name(std::string_view path);

/// From a NodeType, a number or a schema name. Throws ValueError.
NodeType node_type_from_python(const pybind11::object& type);

}  // namespace chakra::bindings
