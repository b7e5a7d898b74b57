// SPDX-License-Identifier: MIT
#include <cerrno>
#include <exception>
#include <string>
#include <system_error>

#include <pybind11/stl.h>

#include "attribute_values.hpp"
#include "bindings.hpp"
#include "chakra_core/errors.hpp"
#include "chakra_core/progress.hpp"

namespace py = pybind11;

namespace chakra::bindings {

namespace {

/// Python classes of the errors, kept alive by the module.
struct ErrorTypes {
  py::object base;
  py::object format;
  py::object link;
  py::object dependency;
  py::object config;
  py::object simulation;
  py::object cancelled;
};

ErrorTypes& error_types() {
  PYBIND11_CONSTINIT static py::gil_safe_call_once_and_store<ErrorTypes> storage;
  return storage.call_once_and_store_result([] { return ErrorTypes{}; }).get_stored();
}

py::object make_type(py::module_& module, const char* name, const py::object& bases, const char* doc) {
  const std::string qualified = std::string("chakra_core.") + name;
  PyObject* const type = PyErr_NewExceptionWithDoc(qualified.c_str(), doc, bases.ptr(), nullptr);
  if (type == nullptr) {
    throw py::error_already_set();
  }
  auto object = py::reinterpret_steal<py::object>(type);
  module.attr(name) = object;
  return object;
}

void set_error(const py::object& type, const py::object& error) { PyErr_SetObject(type.ptr(), error.ptr()); }

/// A message may hold a path that is not UTF-8.
py::object make_error(const py::object& type, const std::exception& error) { return type(text(error.what())); }

void raise_format_error(const FormatError& error) {
  const py::object instance = make_error(error_types().format, error);
  const FormatLocation& where = error.location();
  instance.attr("path") = file_name(where.path);
  instance.attr("record") = where.record;
  instance.attr("offset") = where.offset;
  set_error(error_types().format, instance);
}

void raise_dependency_error(const DependencyError& error) {
  const py::object instance = make_error(error_types().dependency, error);
  py::list nodes;
  for (const NodeId id : error.nodes()) {
    nodes.append(id);
  }
  instance.attr("nodes") = nodes;
  set_error(error_types().dependency, instance);
}

/// OSError picks its own subclass (FileNotFoundError, ...) from the error number.
void raise_io_error(const IoError& error) {
  const py::object type = py::reinterpret_borrow<py::object>(PyExc_OSError);
  const py::object instance =
      type(error.error_number(), std::generic_category().message(error.error_number()), file_name(error.path()));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(instance.ptr())), instance.ptr());
}

void translate(std::exception_ptr pointer) {
  try {
    std::rethrow_exception(pointer);
  } catch (const FormatError& error) {
    raise_format_error(error);
  } catch (const DependencyError& error) {
    raise_dependency_error(error);
  } catch (const IoError& error) {
    raise_io_error(error);
  } catch (const LinkError& error) {
    set_error(error_types().link, make_error(error_types().link, error));
  } catch (const ConfigError& error) {
    set_error(error_types().config, make_error(error_types().config, error));
  } catch (const SimulationError& error) {
    set_error(error_types().simulation, make_error(error_types().simulation, error));
  } catch (const Cancelled& error) {
    set_error(error_types().cancelled, make_error(error_types().cancelled, error));
  } catch (const ChakraError& error) {
    set_error(error_types().base, make_error(error_types().base, error));
  }
}

}  // namespace

void bind_errors(py::module_& module) {
  ErrorTypes& types = error_types();
  const auto exception = py::reinterpret_borrow<py::object>(PyExc_Exception);
  const auto value_error = py::reinterpret_borrow<py::object>(PyExc_ValueError);
  types.base = make_type(module, "ChakraError", exception, "Base of every error of this library.");
  const py::tuple base_and_value = py::make_tuple(types.base, value_error);
  types.format =
      make_type(module, "FormatError", base_and_value,
                "Bytes that the format does not allow. Has `path`, `record` and `offset` (None if unknown).");
  types.link = make_type(module, "LinkError", base_and_value, "Host and device traces that cannot be joined.");
  types.dependency = make_type(module, "DependencyError", base_and_value,
                               "Dependencies that can never be met. `nodes` are the ids of one minimal cycle in order, "
                               "or of the missing parents.");
  types.config = make_type(module, "ConfigError", base_and_value,
                           "A configuration value that is missing, unknown or out of range.");
  types.simulation = make_type(module, "SimulationError", types.base,
                               "A simulation that cannot go on, or an input that it cannot run.");
  types.cancelled = make_type(module, "Cancelled", types.base, "A long call that was told to stop.");
  // So that an error made in Python has the attributes too.
  for (const char* name : {"path", "record", "offset"}) {
    types.format.attr(name) = py::none();
  }
  types.dependency.attr("nodes") = py::tuple();
  py::register_exception_translator(translate);

  py::class_<Progress>(module, "Progress", "Shared between a long call and whoever watches it from another thread.")
      .def(py::init<>())
      .def_property_readonly("done", [](const Progress& progress) { return progress.done.load(); })
      .def_property_readonly("total", [](const Progress& progress) { return progress.total.load(); })
      .def(
          "cancel", [](Progress& progress) { progress.cancel = true; },
          "Makes the call raise Cancelled at its next look.");
}

}  // namespace chakra::bindings
