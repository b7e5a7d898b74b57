// SPDX-License-Identifier: MIT
#include "issue_order.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pybind11/numpy.h>

namespace py = pybind11;

namespace chakra::bindings {

namespace {

constexpr const char* choices =
    R"(order must be "id", "start", "file", "attr:<name>", "attr:<name>:smallest" or an array of a key a row)";

IssueOrder order_by_name(const std::string& name) {
  constexpr std::string_view prefix = "attr:";
  constexpr std::string_view smallest = ":smallest";
  if (name == "id") {
    return {};
  }
  if (name == "start") {
    return {.by = IssueOrder::By::start_time};
  }
  if (name == "file") {
    return {.by = IssueOrder::By::file};
  }
  if (name.starts_with(prefix) && name.size() > prefix.size()) {
    IssueOrder order{.by = IssueOrder::By::attribute, .attribute = name.substr(prefix.size())};
    if (order.attribute.ends_with(smallest) && order.attribute.size() > smallest.size()) {
      order.attribute.resize(order.attribute.size() - smallest.size());
      order.smallest_first = true;
    }
    return order;
  }
  throw py::value_error(std::string(choices) + ", not \"" + name + "\"");
}

template <class Key>
IssueOrder order_by_keys(const py::array& array) {
  const auto cast = py::array_t<Key, py::array::c_style | py::array::forcecast>(array);
  auto keys = std::make_shared<const std::vector<Key>>(cast.data(), cast.data() + cast.size());
  for (const Key key : *keys) {
    if (key != key) {
      throw py::value_error("order: a key is not a number");
    }
  }
  return {.by = IssueOrder::By::comparator,
          .before = [keys = std::move(keys)](NodeIndex one, NodeIndex other) { return (*keys)[one] < (*keys)[other]; }};
}

}  // namespace

IssueOrder issue_order(const py::object& order, std::size_t rows) {
  if (py::isinstance<py::str>(order)) {
    return order_by_name(order.cast<std::string>());
  }
  if (!py::isinstance<py::array>(order)) {
    throw py::type_error(choices);
  }
  const auto array = order.cast<py::array>();
  if (array.ndim() != 1 || static_cast<std::size_t>(array.size()) != rows) {
    throw py::value_error("order: an array must have one key for each of " + std::to_string(rows) + " rows");
  }
  switch (array.dtype().kind()) {
    case 'b':
    case 'i':
      return order_by_keys<std::int64_t>(array);
    case 'u':
      return order_by_keys<std::uint64_t>(array);
    case 'f':
      return order_by_keys<double>(array);
    default:
      throw py::type_error("order: keys must be numbers");
  }
}

}  // namespace chakra::bindings
