// SPDX-License-Identifier: MIT
#include "rows.hpp"

#include <string>

#include <pybind11/numpy.h>

namespace py = pybind11;

namespace chakra::bindings {

namespace {

std::vector<NodeIndex> rows_of_mask(const Trace& trace, const py::array& mask) {
  const auto flags = py::array_t<bool, py::array::c_style>::ensure(mask);
  if (!flags) {
    throw py::error_already_set();
  }
  if (static_cast<std::size_t>(flags.size()) != trace.size()) {
    throw py::index_error("a mask of " + std::to_string(flags.size()) + " for a trace of " +
                          std::to_string(trace.size()) + " nodes");
  }
  std::vector<NodeIndex> rows;
  for (NodeIndex row = 0; row < trace.size(); ++row) {
    if (flags.data()[row]) {
      rows.push_back(row);
    }
  }
  return rows;
}

std::vector<NodeIndex> rows_of_numbers(const Trace& trace, const py::array& numbers) {
  const auto wide = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>::ensure(numbers);
  if (!wide) {
    throw py::error_already_set();
  }
  std::vector<NodeIndex> rows;
  rows.reserve(static_cast<std::size_t>(wide.size()));
  for (py::ssize_t i = 0; i < wide.size(); ++i) {
    const std::int64_t row = wide.data()[i];
    if (row < 0 || static_cast<std::size_t>(row) >= trace.size()) {
      throw py::index_error("row " + std::to_string(row) + " is not in a trace of " + std::to_string(trace.size()) +
                            " nodes");
    }
    rows.push_back(static_cast<NodeIndex>(row));
  }
  return rows;
}

}  // namespace

std::vector<NodeIndex> rows_from_python(const Trace& trace, const py::object& rows) {
  const auto numpy = py::module_::import("numpy");
  py::object plain = rows;
  if (py::isinstance(rows, numpy.attr("ma").attr("MaskedArray")) &&
      py::cast<py::array>(rows.attr("data")).dtype().kind() == 'b') {
    plain = rows.attr("filled")(false);
  }
  const auto array = py::array(numpy.attr("asarray")(plain));
  if (array.ndim() != 1) {
    throw py::type_error("rows must be one-dimensional: a bool mask or row numbers");
  }
  const char kind = array.dtype().kind();
  if (kind == 'b') {
    return rows_of_mask(trace, array);
  }
  if (kind == 'i' || kind == 'u' || array.size() == 0) {
    return rows_of_numbers(trace, array);
  }
  throw py::type_error("rows must be a bool mask or row numbers, not " +
                       std::string(py::str(py::object(array.dtype()))));
}

}  // namespace chakra::bindings
