// SPDX-License-Identifier: MIT
#pragma once

#include <pybind11/pybind11.h>

#include "chakra_core/feeder.hpp"

namespace chakra::bindings {

/// From "id", "start", "file", "attr:<name>", "attr:<name>:smallest", or a numpy array of a key for each of `rows`
/// rows, the smallest first. Throws ValueError, TypeError.
IssueOrder issue_order(const pybind11::object& order, std::size_t rows);

}  // namespace chakra::bindings
