// SPDX-License-Identifier: MIT
#include <memory>

#include <pybind11/pybind11.h>

#include "bindings.hpp"
#include "chakra_core/arrow.hpp"

namespace py = pybind11;
using namespace pybind11::literals;

namespace chakra::bindings {

namespace {

/// Releases what no consumer took.
template <class Exported>
void destroy(PyObject* capsule) {
  auto* const held = static_cast<Exported*>(PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)));
  if (held->release != nullptr) {
    held->release(held);
  }
  delete held;
}

/// A capsule of an Arrow struct under the name that the PyCapsule interface demands.
template <class Exported>
py::capsule arrow_capsule(std::unique_ptr<Exported> exported, const char* name) {
  py::capsule capsule(exported.get(), name, &destroy<Exported>);
  static_cast<void>(exported.release());
  return capsule;
}

py::capsule schema_capsule() {
  auto schema = std::make_unique<ArrowSchema>();
  export_schema(schema.get());
  return arrow_capsule(std::move(schema), "arrow_schema");
}

py::capsule stream_capsule(const TracePtr& trace, const py::object& /*requested_schema*/) {
  auto stream = std::make_unique<ArrowArrayStream>();
  export_stream(trace, stream.get());
  return arrow_capsule(std::move(stream), "arrow_array_stream");
}

py::tuple array_capsules(const TracePtr& trace, const py::object& /*requested_schema*/) {
  auto array = std::make_unique<ArrowArray>();
  {
    const py::gil_scoped_release release;
    export_array(trace, array.get());
  }
  return py::make_tuple(schema_capsule(), arrow_capsule(std::move(array), "arrow_array"));
}

}  // namespace

void bind_arrow(py::module_& module) {
  auto trace = py::reinterpret_borrow<py::class_<Trace, std::shared_ptr<Trace>>>(module.attr("Trace"));
  trace
      .def(
          "__arrow_c_schema__", [](const Trace&) { return schema_capsule(); }, "Arrow PyCapsule interface.")
      .def("__arrow_c_array__", &array_capsules, "requested_schema"_a = py::none(),
           "Arrow PyCapsule interface: the columns as one record batch, not copied where Arrow has the same layout. "
           "The consumer may cast if it wanted another schema.")
      .def("__arrow_c_stream__", &stream_capsule, "requested_schema"_a = py::none(),
           "Arrow PyCapsule interface: a stream of that one batch.");
}

}  // namespace chakra::bindings
