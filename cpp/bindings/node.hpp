// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include <pybind11/pybind11.h>

#include "chakra_core/trace.hpp"

namespace chakra::bindings {

/// One node of a trace, which it keeps alive.
struct Node {
  TracePtr trace;
  NodeIndex row;
};

/// Binds Node; part of bind_trace.
void bind_node(pybind11::module_& module);

/// First value of each name.
pybind11::dict attribute_dict(const std::vector<Attribute>& attributes);

/// numpy masked array of an attribute's values by row.
pybind11::object attribute_column(const Trace& trace, const std::string& name);

/// numpy masked array of the process groups' interned strings by row.
pybind11::object pg_ids(const Trace& trace);

/// From "data", "control" or "both". Throws ValueError.
DependencyKind dependency_kind(const std::string& name);

}  // namespace chakra::bindings
