// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include <pybind11/pybind11.h>

#include "chakra_core/trace.hpp"

namespace chakra::bindings {

/// Rows from a bool mask of the trace's length (masked entries are false), or from row numbers. Throws IndexError,
/// TypeError.
std::vector<NodeIndex> rows_from_python(const Trace& trace, const pybind11::object& rows);

}  // namespace chakra::bindings
