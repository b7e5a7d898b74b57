// SPDX-License-Identifier: MIT
#include <numeric>
#include <string>
#include <utility>

#include <pybind11/stl.h>

#include "bindings.hpp"
#include "chakra_core/dump.hpp"
#include "rows.hpp"

namespace py = pybind11;
using namespace pybind11::literals;

namespace chakra::bindings {

namespace {

DumpForm form_from_python(const std::string& name) {
  if (name == "jsonl") {
    return DumpForm::json_lines;
  }
  if (name == "json") {
    return DumpForm::json_array;
  }
  if (name == "csv") {
    return DumpForm::csv;
  }
  throw py::value_error("form must be \"jsonl\", \"json\" or \"csv\", not \"" + name + "\"");
}

TraceDump make_dump(const TracePtr& trace, const py::object& rows, const std::string& form,
                    std::vector<std::string> columns) {
  std::vector<NodeIndex> chosen;
  if (rows.is_none()) {
    chosen.resize(trace->size());
    std::iota(chosen.begin(), chosen.end(), NodeIndex{0});
  } else {
    chosen = rows_from_python(*trace, rows);
  }
  return {trace, std::move(chosen), {.form = form_from_python(form), .columns = std::move(columns)}};
}

}  // namespace

void bind_dump(py::module_& module) {
  py::class_<TraceDump>(module, "TraceDump", "Nodes as text (UTF-8 bytes), piece by piece: iterate over it.")
      .def(py::init(&make_dump), "trace"_a, "rows"_a = py::none(), py::kw_only(), "form"_a = "jsonl",
           "columns"_a = std::vector<std::string>{})
      .def("__iter__", [](py::object self) { return self; })
      .def("__next__", [](TraceDump& self) {
        std::optional<std::string> piece;
        {
          const py::gil_scoped_release release;
          piece = self.next();
        }
        if (!piece) {
          throw py::stop_iteration();
        }
        return py::bytes(*piece);
      });
}

}  // namespace chakra::bindings
