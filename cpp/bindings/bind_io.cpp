// SPDX-License-Identifier: MIT
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "bindings.hpp"
#include "chakra_core/et_file.hpp"
#include "io/byte_stream.hpp"
#include "on_error.hpp"

namespace py = pybind11;
using namespace pybind11::literals;

namespace chakra::bindings {

namespace {

std::shared_ptr<Trace> load_path(const std::filesystem::path& path, const std::string& on_error, Progress* progress,
                                 unsigned threads, std::uint64_t max_bytes) {
  const LoadOptions options{parse_on_error(on_error), progress, threads, max_bytes};
  const py::gil_scoped_release release;
  return std::const_pointer_cast<Trace>(load(path, options));
}

/// Holds a buffer as long as anyone uses its bytes; the last of them may be a thread without the interpreter's lock.
std::shared_ptr<const void> keep(py::buffer_info info) {
  return {new py::buffer_info(std::move(info)), [](py::buffer_info* held) {
            if (Py_IsInitialized() != 0) {
              const py::gil_scoped_acquire acquire;
              delete held;
            }
          }};
}

std::shared_ptr<Trace> load_buffer(const py::buffer& buffer, const std::string& name, const std::string& on_error,
                                   Progress* progress, unsigned threads, std::uint64_t max_bytes) {
  const LoadOptions options{parse_on_error(on_error), progress, threads, max_bytes};
  py::buffer_info info = buffer.request();
  if (info.ndim > 1 || (info.ndim == 1 && info.strides[0] != info.itemsize)) {
    throw py::value_error("load needs contiguous bytes");
  }
  const std::span<const std::byte> bytes(static_cast<const std::byte*>(info.ptr),
                                         static_cast<std::size_t>(info.size * info.itemsize));
  // What may be written to later is copied.
  const bool constant = info.readonly;
  const std::shared_ptr<const void> owner = keep(std::move(info));
  const py::gil_scoped_release release;
  return std::const_pointer_cast<Trace>(load_bytes(bytes, name, options, constant ? owner : nullptr));
}

template <class Value, std::size_t count>
std::optional<Value> parse_choice(const std::optional<std::string>& name,
                                  const std::array<std::pair<const char*, Value>, count>& choices, const char* option) {
  if (!name) {
    return std::nullopt;
  }
  std::string known;
  for (const auto& [text, value] : choices) {
    if (*name == text) {
      return value;
    }
    known += std::string("\"") + text + "\", ";
  }
  throw py::value_error(std::string(option) + " must be " + known + "or None, not \"" + *name + "\"");
}

void save_path(const Trace& trace, const std::filesystem::path& path, const std::optional<std::string>& form,
               const std::optional<std::string>& compression, std::optional<int> level,
               std::optional<std::string> schema_version, Progress* progress) {
  constexpr std::array forms = {std::pair{"records", EtForm::records}, std::pair{"json", EtForm::json}};
  constexpr std::array compressions = {std::pair{"gzip", Compression::gzip}, std::pair{"zstd", Compression::zstd},
                                       std::pair{"none", Compression::none}};
  const SaveOptions options{.form = parse_choice(form, forms, "form"),
                            .compression = parse_choice(compression, compressions, "compression"),
                            .level = level,
                            .schema_version = std::move(schema_version),
                            .progress = progress};
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

namespace {

/// The first bytes of a file, inflated.
py::bytes read_head(const std::filesystem::path& path, std::size_t most_bytes) {
  std::string head(most_bytes, '\0');
  std::size_t filled = 0;
  {
    const py::gil_scoped_release release;
    const auto stream = io::open_byte_stream(path, false);
    while (filled < head.size()) {
      const std::size_t got = stream->read(std::as_writable_bytes(std::span(head).subspan(filled)));
      if (got == 0) break;
      filled += got;
    }
  }
  return {head.data(), filled};
}

}  // namespace

void bind_io(py::module_& module) {
  module.def("read_head", &read_head, "path"_a, "most_bytes"_a,
             "The first bytes of a plain, gzip or zstd file, inflated. Raises OSError, FormatError.");
  module.def("load_path", &load_path, "path"_a, py::kw_only(), "on_error"_a = "strict", "progress"_a = nullptr,
             "threads"_a = 0, "max_bytes"_a = 0);
  module.def("load_bytes", &load_buffer, "buffer"_a, py::kw_only(), "name"_a = "<bytes>", "on_error"_a = "strict",
             "progress"_a = nullptr, "threads"_a = 0, "max_bytes"_a = 0);
  module.def("save_path", &save_path, "trace"_a, "path"_a, py::kw_only(), "form"_a = py::none(),
             "compression"_a = py::none(), "level"_a = py::none(), "schema_version"_a = py::none(),
             "progress"_a = nullptr);
  module.def("has_zstd", &has_zstd, "Whether this build reads and writes zstd.");
}

}  // namespace chakra::bindings
