// SPDX-License-Identifier: MIT
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/stl.h>

#include "attribute_values.hpp"
#include "bindings.hpp"
#include "chakra_core/block_program.hpp"
#include "chakra_core/generate.hpp"

namespace py = pybind11;
using namespace pybind11::literals;

namespace chakra::bindings {

namespace {

void bind_testcases(py::module_& module) {
  py::class_<TestcaseParameter>(module, "TestcaseParameter", "A number by which a test case can be varied.")
      .def_readonly("name", &TestcaseParameter::name)
      .def_readonly("usual", &TestcaseParameter::usual, "What it is if nobody says.")
      .def_readonly("smallest", &TestcaseParameter::smallest)
      .def_readonly("largest", &TestcaseParameter::largest)
      .def_readonly("meaning", &TestcaseParameter::meaning)
      .def("__repr__", [](const TestcaseParameter& self) {
        return "<TestcaseParameter " + self.name + "=" + std::to_string(self.usual) + ">";
      });
  py::class_<Testcase>(module, "Testcase", "A small workload of known shape, to test tools with.")
      .def_readonly("name", &Testcase::name)
      .def_readonly("description", &Testcase::description)
      .def_readonly("parameters", &Testcase::parameters)
      .def("__repr__", [](const Testcase& self) { return "<Testcase " + self.name + ">"; });
  module.def("testcases", &testcases, "All test cases that can be generated, in a fixed order.");
  module.def(
      "generate_testcase",
      [](const std::string& name, const std::map<std::string, std::uint64_t, std::less<>>& parameters) {
        const py::gil_scoped_release release;
        return generate_testcase(name, parameters);
      },
      "name"_a, "parameters"_a, "The traces of a test case, one a rank; ranks that are alike share one trace.");
}

BlockNode make_block_node(std::string name, const py::object& type, std::uint64_t duration_ns, const py::dict& attrs,
                          const std::vector<std::pair<std::string, std::uint32_t>>& rank_attrs,
                          std::vector<std::uint32_t> parents, std::vector<std::uint32_t> inputs,
                          std::optional<std::uint32_t> queue) {
  BlockNode node{.name = std::move(name),
                 .type = node_type_from_python(type),
                 .duration_ns = duration_ns,
                 .attributes = attributes_from_python(attrs),
                 .rank_attributes = {},
                 .parents = std::move(parents),
                 .inputs = std::move(inputs),
                 .queue = queue};
  for (const auto& [attribute, value] : rank_attrs) {
    node.rank_attributes.push_back({attribute, value});
  }
  return node;
}

BlockProgram make_program(const std::vector<std::pair<std::vector<BlockNode>, std::uint32_t>>& blocks,
                          std::vector<std::uint32_t> block, std::vector<std::string> label,
                          std::vector<std::uint64_t> link_offsets, std::vector<std::uint32_t> link_placement,
                          std::vector<std::uint32_t> link_node) {
  BlockProgram program{.blocks = {},
                       .block = std::move(block),
                       .label = std::move(label),
                       .link_offsets = std::move(link_offsets),
                       .link_placement = std::move(link_placement),
                       .link_node = std::move(link_node)};
  for (const auto& [nodes, num_inputs] : blocks) {
    program.blocks.push_back({nodes, num_inputs});
  }
  return program;
}

void bind_block_program(py::module_& module) {
  py::class_<BlockNode>(module, "BlockNode", "A node of a block that a BlockProgram repeats.")
      .def(
          py::init(&make_block_node), "name"_a, "type"_a, py::kw_only(), "duration_ns"_a = 0, "attrs"_a = py::dict(),
          "rank_attrs"_a = py::list(), "parents"_a = py::list(), "inputs"_a = py::list(), "queue"_a = py::none(),
          "`rank_attrs`: pairs of a name and which of the rank's values it has; `parents`: earlier nodes of the block; "
          "`inputs`: inputs of the block; nodes of a `queue` run in the order of the program.")
      .def_readonly("name", &BlockNode::name);
  py::class_<BlockProgram>(module, "BlockProgram", "The trace of a rank as blocks one after another.")
      .def(py::init(&make_program), py::kw_only(), "blocks"_a, "block"_a, "label"_a, "link_offsets"_a,
           "link_placement"_a, "link_node"_a,
           "`blocks`: pairs of nodes and number of inputs; `block` and `label`: one a placement; the links: what is "
           "connected to the inputs of all placements, one input after another, as (placement, node).")
      .def("__len__", [](const BlockProgram& self) { return size(self); })
      .def(
          "build",
          [](const BlockProgram& self, const std::vector<RankValue>& values) { return build_trace(self, values); },
          "values"_a, py::call_guard<py::gil_scoped_release>(), "The trace of the rank that has these values.");
}

}  // namespace

void bind_generate(py::module_& module) {
  bind_testcases(module);
  bind_block_program(module);
}

}  // namespace chakra::bindings
