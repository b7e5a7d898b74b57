// SPDX-License-Identifier: MIT
#include <algorithm>
#include <limits>
#include <set>

#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "chakra_core/generate.hpp"

namespace chakra {
namespace {

std::vector<NodeId> parents(const Trace& trace, NodeIndex row) {
  std::vector<NodeId> ids;
  for (const NodeIndex parent : trace.data_deps()[row]) {
    ids.push_back(trace.ids()[parent]);
  }
  return ids;
}

TEST(Testcases, AllAreMadeWithTheirUsualParameters) {
  std::set<std::string> names;
  for (const Testcase& testcase : testcases()) {
    SCOPED_TRACE(testcase.name);
    EXPECT_TRUE(names.insert(testcase.name).second);
    EXPECT_FALSE(testcase.description.empty());
    const std::vector<TracePtr> traces = generate_testcase(testcase.name);
    ASSERT_EQ(traces.size(), 2U);
    EXPECT_GT(traces[0]->size(), 0U);
  }
  EXPECT_GE(names.size(), 30U);
}

TEST(Testcases, EachParameterCanBeItsSmallestValue) {
  for (const Testcase& testcase : testcases()) {
    for (const TestcaseParameter& parameter : testcase.parameters) {
      SCOPED_TRACE(testcase.name + " " + parameter.name);
      EXPECT_LE(parameter.smallest, parameter.usual);
      EXPECT_LE(parameter.usual, parameter.largest);
      EXPECT_GT(generate_testcase(testcase.name, {{parameter.name, parameter.smallest}})[0]->size(), 0U);
    }
  }
}

TEST(Testcases, WrongNamesAndValuesAreErrors) {
  EXPECT_THROW(generate_testcase("nothing"), ConfigError);
  EXPECT_THROW(generate_testcase("chain", {{"length", 3}}), ConfigError);
  EXPECT_THROW(generate_testcase("chain", {{"nodes", 0}}), ConfigError);
  EXPECT_THROW(generate_testcase("send_receive", {{"ranks", 1}}), ConfigError);
}

TEST(Testcases, DiamondsAreDiamonds) {
  const TracePtr trace = generate_testcase("diamonds", {{"diamonds", 2}, {"width", 3}})[0];
  ASSERT_EQ(trace->size(), 9U);
  EXPECT_EQ(parents(*trace, 2), (std::vector<NodeId>{0}));
  EXPECT_EQ(parents(*trace, 4), (std::vector<NodeId>{1, 2, 3}));
  EXPECT_EQ(parents(*trace, 8), (std::vector<NodeId>{5, 6, 7}));
}

TEST(Testcases, LadderHasTwoParentsARung) {
  const TracePtr trace = generate_testcase("ladder", {{"rungs", 3}})[0];
  ASSERT_EQ(trace->size(), 6U);
  EXPECT_EQ(parents(*trace, 4), (std::vector<NodeId>{2, 3}));
  EXPECT_EQ(parents(*trace, 5), (std::vector<NodeId>{2, 3}));
}

TEST(Testcases, SparseIdsReachBothEnds) {
  const TracePtr trace = generate_testcase("sparse_ids", {{"nodes", 50}})[0];
  const std::set<NodeId> ids(trace->ids().begin(), trace->ids().end());
  EXPECT_EQ(ids.size(), 50U);
  EXPECT_TRUE(ids.contains(0));
  EXPECT_TRUE(ids.contains(std::numeric_limits<NodeId>::max()));
}

TEST(Testcases, FanInTakesManyParents) {
  const TracePtr trace = generate_testcase("fan_in", {{"parents", 200000}})[0];
  EXPECT_EQ(parents(*trace, 200000).size(), 200000U);
}

TEST(Testcases, LayeredRandomIsALayeredGraphAndFollowsItsSeed) {
  const std::map<std::string, std::uint64_t, std::less<>> parameters{{"levels", 30}, {"width", 7}, {"seed", 5}};
  const TracePtr trace = generate_testcase("layered_random", parameters)[0];
  ASSERT_EQ(trace->size(), 210U);
  for (NodeIndex row = 0; row < trace->size(); ++row) {
    const std::vector<NodeId> of_row = parents(*trace, row);
    const std::uint64_t level = row / 7;
    EXPECT_EQ(of_row.empty(), level == 0);
    EXPECT_LE(of_row.size(), 4U);
    EXPECT_TRUE(std::ranges::all_of(of_row, [&](NodeId parent) { return parent / 7 < level; }));
    EXPECT_TRUE(level == 0 || std::ranges::any_of(of_row, [&](NodeId parent) { return parent / 7 == level - 1; }));
  }
  const auto graph = [](const TracePtr& one) {
    std::vector<std::vector<NodeId>> all;
    for (NodeIndex row = 0; row < one->size(); ++row) all.push_back(parents(*one, row));
    return all;
  };
  EXPECT_EQ(graph(trace), graph(generate_testcase("layered_random", parameters)[0]));
  auto other = parameters;
  other["seed"] = 6;
  EXPECT_NE(graph(trace), graph(generate_testcase("layered_random", other)[0]));
}

}  // namespace
}  // namespace chakra
