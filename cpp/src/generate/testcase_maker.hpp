// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "chakra_core/generate.hpp"

namespace chakra::generate {

/// The parameters of one test case, all of them, checked.
class Parameters {
 public:
  explicit Parameters(std::map<std::string, std::uint64_t, std::less<>> values) : values_(std::move(values)) {}

  std::uint64_t operator[](std::string_view name) const { return values_.find(name)->second; }

 private:
  std::map<std::string, std::uint64_t, std::less<>> values_;
};

/// A test case and what makes the trace of a rank. Where ranks are alike, only rank 0 is made.
struct TestcaseMaker {
  Testcase testcase;
  bool ranks_are_alike = true;
  std::function<TracePtr(const Parameters&, std::uint64_t rank)> make;
};

/// Parameters that several test cases have.
TestcaseParameter duration_ns_parameter();
TestcaseParameter nodes_parameter(std::uint64_t usual, std::uint64_t smallest = 1);

/// Those with one node or two, that show one thing each.
std::vector<TestcaseMaker> single_node_cases();
/// Those whose graph is what matters.
std::vector<TestcaseMaker> graph_shape_cases();

}  // namespace chakra::generate
