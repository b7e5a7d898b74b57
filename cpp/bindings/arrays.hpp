// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <pybind11/numpy.h>

namespace chakra::bindings {

/// Read-only numpy view of memory that `owner` keeps alive.
template <class Value>
pybind11::array_t<Value> view(std::span<const Value> values, pybind11::handle owner) {
  pybind11::array_t<Value> array({static_cast<pybind11::ssize_t>(values.size())},
                                 {static_cast<pybind11::ssize_t>(sizeof(Value))}, values.data(), owner);
  pybind11::detail::array_proxy(array.ptr())->flags &= ~pybind11::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

/// Numpy array that owns the vector's memory.
template <class Value>
pybind11::array_t<Value> take(std::vector<Value> values) {
  auto held = std::make_unique<std::vector<Value>>(std::move(values));
  const Value* const data = held->data();
  const auto size = static_cast<pybind11::ssize_t>(held->size());
  const pybind11::capsule owner(held.release(), [](void* vector) { delete static_cast<std::vector<Value>*>(vector); });
  return pybind11::array_t<Value>({size}, {static_cast<pybind11::ssize_t>(sizeof(Value))}, data, owner);
}

}  // namespace chakra::bindings
