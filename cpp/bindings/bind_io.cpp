// SPDX-License-Identifier: MIT
#include <memory>
#include <string>

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "bindings.hpp"
#include "chakra_core/et_file.hpp"
#include "on_error.hpp"

namespace py = pybind11;
using namespace pybind11::literals;

namespace chakra::bindings {

namespace {

std::shared_ptr<Trace> load_path(const std::filesystem::path& path, const std::string& on_error, Progress* progress) {
  const LoadOptions options{parse_on_error(on_error), progress};
  const py::gil_scoped_release release;
  return std::const_pointer_cast<Trace>(load(path, options));
}

std::shared_ptr<Trace> load_buffer(const py::buffer& buffer, const std::string& name, const std::string& on_error,
                                   Progress* progress) {
  const LoadOptions options{parse_on_error(on_error), progress};
  const py::buffer_info info = buffer.request();
  if (info.ndim > 1 || (info.ndim == 1 && info.strides[0] != info.itemsize)) {
    throw py::value_error("load needs contiguous bytes");
  }
  const std::span<const std::byte> bytes(static_cast<const std::byte*>(info.ptr),
                                         static_cast<std::size_t>(info.size * info.itemsize));
  const py::gil_scoped_release release;
  return std::const_pointer_cast<Trace>(load_bytes(bytes, name, options));
}

void save_path(const Trace& trace, const std::filesystem::path& path, std::optional<bool> gzip, int level,
               Progress* progress) {
  SaveOptions options{.compression = {}, .level = level, .progress = progress};
  if (gzip) {
    options.compression = *gzip ? Compression::gzip : Compression::none;
  }
  const py::gil_scoped_release release;
  save(trace, path, options);
}

}  // namespace

OnError parse_on_error(const std::string& name) {
  if (name == "strict") {
    return OnError::strict;
  }
  if (name == "recover") {
    return OnError::recover;
  }
  throw py::value_error("on_error must be \"strict\" or \"recover\", not \"" + name + "\"");
}

void bind_io(py::module_& module) {
  module.def("load_path", &load_path, "path"_a, py::kw_only(), "on_error"_a = "strict", "progress"_a = nullptr);
  module.def("load_bytes", &load_buffer, "buffer"_a, py::kw_only(), "name"_a = "<bytes>", "on_error"_a = "strict",
             "progress"_a = nullptr);
  module.def("save_path", &save_path, "trace"_a, "path"_a, py::kw_only(), "gzip"_a = py::none(), "level"_a = 6,
             "progress"_a = nullptr);
}

}  // namespace chakra::bindings
