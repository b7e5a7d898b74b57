// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "chakra_core/trace.hpp"

namespace chakra {

/// A number by which a test case can be varied.
struct TestcaseParameter {
  std::string name;
  std::uint64_t usual = 0;  ///< what it is if nobody says
  std::uint64_t smallest = 0;
  std::uint64_t largest = 0;
  std::string meaning;
};

/// A small workload of known shape, to test tools with.
struct Testcase {
  std::string name;
  std::string description;
  std::vector<TestcaseParameter> parameters;
};

/// All test cases that can be generated, in a fixed order.
std::vector<Testcase> testcases();

/// The traces of a test case, one a rank (parameter "ranks"); ranks that are alike share one trace. The same parameters
/// give the same bytes on every machine. Throws ConfigError for an unknown name or parameter, or a value out of range.
std::vector<TracePtr> generate_testcase(std::string_view name,
                                        const std::map<std::string, std::uint64_t, std::less<>>& parameters = {});

}  // namespace chakra
