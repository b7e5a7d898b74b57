// SPDX-License-Identifier: MIT
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "chakra_core/report.hpp"

namespace chakra {
namespace {

TEST(Report, EveryKindHasANameOfItsOwn) {
  std::set<std::string> names;
  for (std::size_t kind = 0; kind < problem_kind_count; ++kind) {
    names.emplace(to_string(static_cast<ProblemKind>(kind)));
  }
  EXPECT_EQ(names.size(), problem_kind_count);
  EXPECT_FALSE(names.contains("unknown"));
}

TEST(Report, CountsErrorsAndWarnings) {
  Report report;
  EXPECT_TRUE(report.ok());
  report.add({ProblemKind::time_backwards, "w"});
  EXPECT_TRUE(report.ok());
  report.add({ProblemKind::missing_parent, "e", {1, 2}});
  EXPECT_FALSE(report.ok());
  EXPECT_EQ(report.errors(), 1U);
  EXPECT_EQ(report.warnings(), 1U);
}

TEST(Report, CountsStayCompleteWhereTextsAreCapped) {
  Report report;
  for (std::size_t i = 0; i < Report::max_problems + 10; ++i) {
    report.add({ProblemKind::missing_parent, ""});
  }
  Report sum;
  sum.merge(report);
  sum.merge(report);
  EXPECT_EQ(sum.problems().size(), Report::max_problems);
  EXPECT_EQ(sum.count(ProblemKind::missing_parent), 2 * (Report::max_problems + 10));
}

}  // namespace
}  // namespace chakra
