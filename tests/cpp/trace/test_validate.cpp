// SPDX-License-Identifier: MIT
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "chakra_core/et_file.hpp"
#include "message.hpp"
#include "traces.hpp"

namespace chakra {
namespace {

using namespace chakra::test;

Report report_of(const std::string& file) {
  return validate(*load_bytes(std::as_bytes(std::span(file)), "<test>", {.on_error = OnError::recover}));
}

std::string node(NodeId id, const std::string& rest = {}) { return record(number_field(1, id) + rest); }

/// The problems of one kind, and no others.
std::vector<Problem> only(const Report& report, ProblemKind kind) {
  EXPECT_EQ(report.errors() + report.warnings(), report.count(kind));
  return report.problems();
}

constexpr int comp = 4;
constexpr int send = 5;
constexpr int receive = 6;
constexpr int collective = 7;

std::string typed(int type, const std::string& attributes = {}) {
  return number_field(3, static_cast<std::uint64_t>(type)) + attributes;
}

TEST(Validate, GoodTraceHasNoProblems) {
  EXPECT_EQ(report_of(record("") + node(1, typed(comp)) + node(2, typed(comp, number_field(5, 1)))).problems().size(),
            0U);
}

TEST(Validate, MalformedRecord) {
  const auto problems = only(report_of(record("") + node(1) + record("\x08") + node(2)), ProblemKind::malformed_record);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].record, 2U);
  EXPECT_EQ(problems[0].offset, 6U);
}

TEST(Validate, MalformedColdParts) {
  const std::string list = attribute("x", bytes_field(10, bytes_field(1, "\x80")));
  const auto problems =
      only(report_of(record("") + node(1, list) + node(2, bytes_field(9, "\x08"))), ProblemKind::malformed_record);
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].nodes, std::vector<NodeId>{1});
  EXPECT_EQ(problems[1].nodes, std::vector<NodeId>{2});
}

TEST(Validate, TruncatedFile) {
  const auto problems = only(report_of(record("") + node(1) + "\x05\x08\x02"), ProblemKind::truncated_file);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].record, 2U);
  EXPECT_EQ(problems[0].offset, 4U);
  EXPECT_EQ(only(report_of(""), ProblemKind::truncated_file).size(), 1U);
}

TEST(Validate, DuplicateIdCountsTheDroppedRecordsBefore) {
  const auto report = report_of(record("") + node(1) + record("\x08") + node(2) + node(1));
  EXPECT_EQ(report.count(ProblemKind::malformed_record), 1U);
  ASSERT_EQ(report.count(ProblemKind::duplicate_id), 1U);
  const Problem& problem = report.problems().back();
  EXPECT_EQ(problem.kind, ProblemKind::duplicate_id);
  EXPECT_EQ(problem.nodes, std::vector<NodeId>{1});
  EXPECT_EQ(problem.record, 4U);
  EXPECT_NE(problem.message.find("record 1 "), std::string::npos) << problem.message;
  EXPECT_NE(problem.message.find("record 4 "), std::string::npos) << problem.message;
}

TEST(Validate, MissingParents) {
  const auto problems =
      only(report_of(record("") + node(1) + node(2, number_field(5, 99) + number_field(4, 0) + number_field(5, 1))),
           ProblemKind::missing_parent);
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].nodes, (std::vector<NodeId>{2, 99}));
  EXPECT_EQ(problems[1].nodes, (std::vector<NodeId>{2, 0}));
}

TEST(Validate, Cycles) {
  const auto problems = only(
      report_of(record("") + node(1, number_field(5, 2)) + node(2, number_field(4, 1)) + node(5, number_field(5, 5))),
      ProblemKind::dependency_cycle);
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].nodes, (std::vector<NodeId>{1, 2}));
  EXPECT_EQ(problems[1].nodes, std::vector<NodeId>{5});
}

TEST(Validate, AttributeOfAnotherType) {
  const auto problems =
      only(report_of(record("") + node(1, attribute("tid", bytes_field(29, "x")))), ProblemKind::attribute_type);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].nodes, std::vector<NodeId>{1});
  EXPECT_NE(problems[0].message.find("tid"), std::string::npos);
}

TEST(Validate, CommunicationWithoutWhatItsTypeNeeds) {
  const std::string size = attribute("comm_size", number_field(9, 1));
  const std::string all_reduce = attribute("comm_type", number_field(9, 0));
  const std::string barrier = attribute("comm_type", number_field(9, 9));
  const auto missing = [](const std::string& rest) {
    const auto problems = only(report_of(record("") + node(1, rest)), ProblemKind::communication_without_size);
    return problems.empty() ? std::string() : problems[0].message;
  };
  EXPECT_EQ(missing(typed(collective, size + all_reduce)), "");
  EXPECT_EQ(missing(typed(collective, barrier)), "");
  EXPECT_NE(missing(typed(collective, all_reduce)).find("comm_size"), std::string::npos);
  EXPECT_NE(missing(typed(collective, size)).find("comm_type"), std::string::npos);
  EXPECT_NE(missing(typed(send, size)).find("comm_dst"), std::string::npos);
  EXPECT_NE(missing(typed(receive, size)).find("comm_src"), std::string::npos);
  EXPECT_EQ(missing(typed(send, size + attribute("comm_dst", number_field(7, 1)))), "");
  EXPECT_EQ(missing(typed(comp)), "");
}

TEST(Validate, CommunicationOnTheCpu) {
  const std::string attributes =
      attribute("comm_type", number_field(9, 9)) + attribute("is_cpu_op", number_field(27, 1));
  EXPECT_EQ(
      only(report_of(record("") + node(1, typed(collective, attributes))), ProblemKind::communication_on_cpu).size(),
      1U);
}

TEST(Validate, TimeBackwardsOnlyWhereThereAreTimes) {
  const auto problems = only(report_of(record("") + node(1, number_field(6, 10)) +
                                       node(2, number_field(6, 9) + number_field(4, 1)) + node(3, number_field(5, 1))),
                             ProblemKind::time_backwards);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].nodes, (std::vector<NodeId>{2, 1}));
}

TEST(Validate, UnknownNodeType) {
  const auto problems = only(report_of(record("") + node(1, typed(8)) + node(2, number_field(3, ~std::uint64_t{0}))),
                             ProblemKind::unknown_node_type);
  EXPECT_EQ(problems.size(), 2U);
}

TEST(Validate, DuplicateDependencyOfOneKind) {
  const std::string twice = number_field(5, 1) + number_field(5, 1);
  const std::string once_each = number_field(5, 1) + number_field(4, 1);
  const auto problems =
      only(report_of(record("") + node(1) + node(2, twice) + node(3, once_each)), ProblemKind::duplicate_dependency);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].nodes, (std::vector<NodeId>{2, 1}));
}

TEST(Validate, LongNamesAreCut) {
  const auto report = report_of(record("") + node(1, typed(99, bytes_field(2, std::string(10'000, 'n')))));
  EXPECT_LT(report.problems()[0].message.size(), 300U);
}

}  // namespace
}  // namespace chakra
