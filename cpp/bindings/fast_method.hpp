// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include <pybind11/pybind11.h>

namespace chakra::bindings {

/// A method that Python calls without pybind11's dispatch, which takes longer than the work of a call that does next to
/// nothing. `Class` is bound by pybind11; exceptions are translated as everywhere.
///
/// `body` is a function `py::object(Class&, const std::array<py::handle, N>&)`; an argument that is not given is null.
template <class Class, std::size_t N>
struct FastMethod {
  using Arguments = std::array<pybind11::handle, N>;
  using Body = pybind11::object (*)(Class& self, const Arguments& arguments);

  const char* name;
  std::array<const char*, N> arguments;  ///< their names
  std::size_t required;                  ///< how many of them must be given
  Body body;

  pybind11::object call(PyObject* self, PyObject* const* given, Py_ssize_t positional, PyObject* keywords) const {
    return body(instance(self), bind(given, static_cast<std::size_t>(positional), keywords));
  }

 private:
  Class& instance(PyObject* self) const {
    auto* const bound = reinterpret_cast<pybind11::detail::instance*>(self);
    void* const value = bound->get_value_and_holder().value_ptr();
    if (value == nullptr) {
      throw pybind11::type_error(std::string(name) + ": __init__() of the object was not called");
    }
    return *static_cast<Class*>(value);
  }

  Arguments bind(PyObject* const* given, std::size_t positional, PyObject* keywords) const {
    Arguments bound{};
    if (positional > N) {
      throw pybind11::type_error(std::string(name) + "() takes at most " + std::to_string(N) + " arguments");
    }
    std::copy(given, given + positional, bound.begin());
    const Py_ssize_t named = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
    for (Py_ssize_t i = 0; i < named; ++i) {
      bound[place_of(PyTuple_GET_ITEM(keywords, i), bound)] = given[positional + static_cast<std::size_t>(i)];
    }
    for (std::size_t i = 0; i < required; ++i) {
      if (!bound[i]) {
        throw pybind11::type_error(std::string(name) + "() needs the argument '" + arguments[i] + "'");
      }
    }
    return bound;
  }

  std::size_t place_of(PyObject* keyword, const Arguments& bound) const {
    for (std::size_t i = 0; i < N; ++i) {
      if (PyUnicode_CompareWithASCIIString(keyword, arguments[i]) == 0) {
        if (bound[i]) {
          throw pybind11::type_error(std::string(name) + "() got the argument '" + arguments[i] + "' twice");
        }
        return i;
      }
    }
    throw pybind11::type_error(std::string(name) + "() has no argument '" + pybind11::str(keyword).cast<std::string>() +
                               "'");
  }
};

/// What Python calls for a FastMethod.
template <const auto& method>
PyObject* call_fast_method(PyObject* self, PyObject* const* given, Py_ssize_t positional, PyObject* keywords) noexcept {
  try {
    return method.call(self, given, positional, keywords).release().ptr();
  } catch (pybind11::error_already_set& error) {
    error.restore();
  } catch (...) {
    pybind11::detail::try_translate_exceptions();
  }
  return nullptr;
}

/// Puts a FastMethod, which lives as long as the program, on its class. `documentation` begins with the signature, as
/// pybind11 writes it.
template <const auto& method>
void define_fast_method(const pybind11::object& type, const char* documentation) {
  static PyMethodDef definition{
      method.name,
      reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&call_fast_method<method>)),
      METH_FASTCALL | METH_KEYWORDS,
      documentation,
  };
  auto* const of = reinterpret_cast<PyTypeObject*>(type.ptr());
  type.attr(method.name) = pybind11::reinterpret_steal<pybind11::object>(PyDescr_NewMethod(of, &definition));
}

}  // namespace chakra::bindings
