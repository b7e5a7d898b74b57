// SPDX-License-Identifier: MIT
#pragma once

#include <pybind11/pybind11.h>

namespace chakra::bindings {

// One function an area, each in bind_<area>.cpp; module.cpp calls them in the order of the layers.
void bind_errors(pybind11::module_& module);
void bind_trace(pybind11::module_& module);
void bind_node_arrays(pybind11::module_& module);
void bind_trace_ops(pybind11::module_& module);
void bind_arrow(pybind11::module_& module);
void bind_io(pybind11::module_& module);
void bind_dump(pybind11::module_& module);
void bind_feeder(pybind11::module_& module);
void bind_pytorch_traces(pybind11::module_& module);
void bind_pytorch(pybind11::module_& module);
void bind_sim(pybind11::module_& module);
void bind_generate(pybind11::module_& module);
void bind_timeline(pybind11::module_& module);

}  // namespace chakra::bindings
