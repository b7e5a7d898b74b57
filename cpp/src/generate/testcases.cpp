// SPDX-License-Identifier: MIT
#include <algorithm>
#include <iterator>
#include <utility>

#include "chakra_core/errors.hpp"
#include "chakra_core/generate.hpp"
#include "generate/testcase_maker.hpp"

namespace chakra {

namespace generate {

TestcaseParameter duration_ns_parameter() {
  return {"duration_ns", 5000, 0, std::uint64_t{1} << 62, "time of each computation"};
}

TestcaseParameter nodes_parameter(std::uint64_t usual, std::uint64_t smallest) {
  return {"nodes", usual, smallest, std::uint64_t{1} << 28, "number of nodes"};
}

namespace {

constexpr const char* ranks_parameter = "ranks";

std::vector<TestcaseMaker> all_makers() {
  std::vector<TestcaseMaker> makers = single_node_cases();
  std::ranges::move(graph_shape_cases(), std::back_inserter(makers));
  for (TestcaseMaker& maker : makers) {
    const std::uint64_t fewest = maker.ranks_are_alike ? 1 : 2;
    maker.testcase.parameters.push_back({ranks_parameter, 2, fewest, 1 << 20, "number of traces"});
  }
  return makers;
}

template <class Named>
std::string names_of(const std::vector<Named>& all, const std::string& (*name)(const Named&)) {
  std::string names;
  for (const Named& one : all) {
    names += (names.empty() ? "" : ", ") + name(one);
  }
  return names;
}

const std::string& maker_name(const TestcaseMaker& maker) { return maker.testcase.name; }
const std::string& parameter_name(const TestcaseParameter& parameter) { return parameter.name; }

std::uint64_t checked(const std::string& testcase, const TestcaseParameter& parameter, std::uint64_t value) {
  if (value < parameter.smallest || value > parameter.largest) {
    throw ConfigError("test case " + testcase + ": " + parameter.name + " is " + std::to_string(value) + ", expected " +
                      std::to_string(parameter.smallest) + " to " + std::to_string(parameter.largest));
  }
  return value;
}

Parameters complete(const Testcase& testcase, const std::map<std::string, std::uint64_t, std::less<>>& given) {
  std::map<std::string, std::uint64_t, std::less<>> values;
  for (const TestcaseParameter& parameter : testcase.parameters) {
    values[parameter.name] = parameter.usual;
  }
  for (const auto& [name, value] : given) {
    const auto parameter = std::ranges::find(testcase.parameters, name, &TestcaseParameter::name);
    if (parameter == testcase.parameters.end()) {
      throw ConfigError("test case " + testcase.name + " has no parameter " + name + ", only " +
                        names_of(testcase.parameters, &parameter_name));
    }
    values[name] = checked(testcase.name, *parameter, value);
  }
  return Parameters(std::move(values));
}

}  // namespace

}  // namespace generate

std::vector<Testcase> testcases() {
  std::vector<Testcase> all;
  for (generate::TestcaseMaker& maker : generate::all_makers()) {
    all.push_back(std::move(maker.testcase));
  }
  return all;
}

std::vector<TracePtr> generate_testcase(std::string_view name,
                                        const std::map<std::string, std::uint64_t, std::less<>>& parameters) {
  const std::vector<generate::TestcaseMaker> makers = generate::all_makers();
  const auto maker = std::ranges::find(makers, name, &generate::maker_name);
  if (maker == makers.end()) {
    throw ConfigError("there is no test case " + std::string(name) + ", only " +
                      generate::names_of(makers, &generate::maker_name));
  }
  const generate::Parameters values = generate::complete(maker->testcase, parameters);
  const std::uint64_t ranks = values[generate::ranks_parameter];
  if (maker->ranks_are_alike) {
    return std::vector<TracePtr>(ranks, maker->make(values, 0));
  }
  std::vector<TracePtr> traces;
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    traces.push_back(maker->make(values, rank));
  }
  return traces;
}

}  // namespace chakra
