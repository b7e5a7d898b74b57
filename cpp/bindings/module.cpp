// SPDX-License-Identifier: MIT
#include <pybind11/pybind11.h>

#include "bindings.hpp"

PYBIND11_MODULE(_core, module) {
  module.doc() = "Native core of chakra_core. Use the names that `chakra_core` exports.";
  module.attr("__version__") = CHAKRA_CORE_VERSION;

  chakra::bindings::bind_errors(module);
  chakra::bindings::bind_trace(module);
  chakra::bindings::bind_node_arrays(module);
  chakra::bindings::bind_trace_ops(module);
  chakra::bindings::bind_arrow(module);
  chakra::bindings::bind_io(module);
  chakra::bindings::bind_dump(module);
  chakra::bindings::bind_generate(module);
  chakra::bindings::bind_feeder(module);
  chakra::bindings::bind_pytorch_traces(module);
  chakra::bindings::bind_pytorch(module);
  chakra::bindings::bind_sim(module);
  chakra::bindings::bind_timeline(module);
}
