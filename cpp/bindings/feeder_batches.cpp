// SPDX-License-Identifier: MIT
#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "fast_method.hpp"
#include "py_feeder.hpp"

namespace py = pybind11;

namespace chakra::bindings {

namespace {

using IdArray = py::array_t<NodeId, py::array::c_style | py::array::forcecast>;

/// Batches up to this size are done sooner than the interpreter's lock is given back.
constexpr std::size_t short_batch = 64;

IdArray id_array(py::handle ids) {
  if (py::isinstance<IdArray>(ids) && py::reinterpret_borrow<IdArray>(ids).ndim() == 1) {
    return py::reinterpret_borrow<IdArray>(ids);
  }
  const py::array array(py::module_::import("numpy").attr("asarray")(ids));
  const char kind = array.dtype().kind();
  if (array.ndim() != 1 || (array.size() != 0 && kind != 'i' && kind != 'u')) {
    throw py::type_error("ids must be one-dimensional integers");
  }
  return IdArray(array);
}

std::span<const NodeId> span_of(const IdArray& array) { return {array.data(), static_cast<std::size_t>(array.size())}; }

void complete_ids(Feeder& feeder, std::span<const NodeId> ids, std::vector<NodeIndex>& rows) {
  rows.resize(ids.size());
  std::transform(ids.begin(), ids.end(), rows.begin(), [&](NodeId id) { return row_of(feeder, id); });
  feeder.complete_many(rows);
}

using Complete = FastMethod<PyFeeder, 1>;

py::object complete_batch(PyFeeder& self, const Complete::Arguments& arguments) {
  const IdArray array = id_array(arguments[0]);
  const std::span<const NodeId> ids = span_of(array);
  if (self.trace() && ids.size() <= short_batch) {
    self.with([&](Feeder& feeder) { complete_ids(feeder, ids, self.scratch().rows); });
  } else {
    self.with_long([&](Feeder& feeder) {
      std::vector<NodeIndex> rows;
      complete_ids(feeder, ids, rows);
    });
  }
  return py::none();
}

/// Completes some, then takes what is ready.
void exchange(const PyFeeder& self, Feeder& feeder, std::span<const NodeId> completed, std::size_t most,
              PyFeeder::Scratch& batch) {
  if (!completed.empty()) {
    complete_ids(feeder, completed, batch.rows);
  }
  batch.rows.clear();
  feeder.pop_all(batch.rows, most);
  self.ids_of(feeder, batch.rows, batch.ids);
}

/// A small array is made sooner with memory of numpy's than around a vector, and by numpy than by way of pybind11,
/// which makes vectors of its shape.
py::object copied(const std::vector<NodeId>& ids) {
  const auto& numpy = py::detail::npy_api::get();
  const auto size = static_cast<Py_intptr_t>(ids.size());
  py::object array = py::reinterpret_steal<py::object>(numpy.PyArray_NewFromDescr_(
      numpy.PyArray_Type_, py::dtype::of<NodeId>().release().ptr(), 1, &size, nullptr, nullptr, 0, nullptr));
  if (!array) {
    throw py::error_already_set();
  }
  std::copy(ids.begin(), ids.end(), reinterpret_cast<NodeId*>(py::detail::array_proxy(array.ptr())->data));
  return array;
}

std::size_t most_of(py::handle max) {
  if (!max || max.is_none()) {
    return Feeder::all;
  }
  try {
    return max.cast<std::size_t>();
  } catch (const py::cast_error&) {
    throw py::type_error("max must be None or a number that is not negative");
  }
}

using Pop = FastMethod<PyFeeder, 2>;

py::object pop_batch(PyFeeder& self, const Pop::Arguments& arguments) {
  const auto [max, complete] = arguments;
  const std::size_t most = most_of(max);
  std::optional<IdArray> array;
  if (complete && !complete.is_none()) {
    array = id_array(complete);
  }
  const std::span<const NodeId> completed = array ? span_of(*array) : std::span<const NodeId>();
  const bool is_short = self.trace() && completed.size() <= short_batch && self.with([&](Feeder& feeder) {
    if (feeder.ready() > short_batch) {
      return false;
    }
    exchange(self, feeder, completed, most, self.scratch());
    return true;
  });
  if (is_short) {
    return copied(self.scratch().ids);
  }
  PyFeeder::Scratch batch;
  self.with_long([&](Feeder& feeder) { exchange(self, feeder, completed, most, batch); });
  return take(std::move(batch.ids));
}

constexpr Complete complete_method{"complete_batch", {"ids"}, 1, &complete_batch};
constexpr Pop pop_method{"pop_batch", {"max", "complete"}, 0, &pop_batch};

}  // namespace

void bind_feeder_batches(const py::object& feeder_class) {
  define_fast_method<pop_method>(
      feeder_class,
      "pop_batch(self: chakra_core._core.Feeder, max: typing.SupportsInt | typing.SupportsIndex | None = None, "
      "complete: typing.Any = None) -> numpy.typing.NDArray[numpy.uint64]\n\n"
      "Takes the ready nodes in order, `max` at most; their ids (uint64), none if none is ready now. Of a stream: "
      "what is ready in the window. `complete`: ids to mark complete before, as complete_batch() does; saves a "
      "call. Raises as pop().");
  define_fast_method<complete_method>(
      feeder_class,
      "complete_batch(self: chakra_core._core.Feeder, ids: typing.Any) -> None\n\n"
      "Marks taken nodes complete: ids as an array, or any sequence of ints. Completes all, or raises and completes "
      "none.");
}

}  // namespace chakra::bindings
