// SPDX-License-Identifier: MIT
#include <random>

#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "pytorch/host_match.hpp"
#include "pytorch/name_alignment.hpp"
#include "pytorch/trace_maker.hpp"

namespace chakra::pytorch {
namespace {

using test::TraceMaker;

HostMatch match(TraceMaker& make) { return match_host(make.host, make.device, build_call_tree(make.device)); }

TEST(HostMatch, ByRecordFunctionId) {
  TraceMaker make;
  const auto a = make.op("a", 0, 10, "1", 11);
  const auto b = make.op("b", 20, 10, "1", 12);
  make.node(5, "b", 1, 12);
  make.node(4, "a", 1, 11);
  make.node(1, "root", 1, 0);
  const HostMatch found = match(make);
  EXPECT_EQ(found.method, MatchMethod::record_function_id);
  EXPECT_EQ(found.host_ops, 2U);
  EXPECT_EQ(found.event_of_node[0], b);
  EXPECT_EQ(found.event_of_node[1], a);
  EXPECT_EQ(found.node_of_event[a], 1U);
}

TEST(HostMatch, ByExternalIdWhereTheNamesAgree) {
  TraceMaker make;
  make.event(make.op("a", 0, 10)).external_id = 11;
  make.event(make.op("b", 20, 10)).external_id = 12;
  make.node(4, "a", 1, 11);
  make.node(5, "b", 1, 12);
  const HostMatch found = match(make);
  EXPECT_EQ(found.method, MatchMethod::external_id);
  EXPECT_EQ(found.matched, 2U);
}

TEST(HostMatch, ByTheOrderOfNamesWhereExternalIdsLie) {
  TraceMaker make;
  const char* names[] = {"a", "b", "c", "d", "e", "f"};
  for (int i = 0; i < 6; ++i) {
    make.event(make.op(names[i], 20 * i, 10)).external_id = static_cast<std::uint64_t>(i + 2);  // off by one
  }
  for (int i = 0; i < 5; ++i)
    make.node(static_cast<std::uint64_t>(i + 4), names[i + 1], 1, static_cast<std::uint64_t>(i + 1));
  const HostMatch found = match(make);
  EXPECT_EQ(found.method, MatchMethod::name_order);
  EXPECT_EQ(found.matched, 5U);
  EXPECT_EQ(found.event_of_node[0], 1U);
  EXPECT_EQ(found.event_of_node[4], 5U);
}

TEST(HostMatch, OneIterationOfManyTakesTheFirst) {
  TraceMaker make;
  const char* names[] = {"a", "b", "c", "d", "e"};
  for (int step = 0; step < 3; ++step) {
    for (int i = 0; i < 5; ++i) make.op(names[i], 100 * step + 20 * i, 10);
  }
  for (int i = 0; i < 5; ++i)
    make.node(static_cast<std::uint64_t>(i + 4), names[i], 1, static_cast<std::uint64_t>(i + 1));
  const HostMatch found = match(make);
  EXPECT_EQ(found.windows, 3U);
  EXPECT_EQ(found.event_of_node[0], 0U);
  EXPECT_EQ(found.matched, 5U);
}

TEST(HostMatch, ThreadsFindTheirLanes) {
  TraceMaker make;
  const char* forward[] = {"f1", "f2", "f3", "f4"};
  const char* backward[] = {"b1", "b2", "b3", "b4"};
  for (int i = 0; i < 4; ++i) make.op(backward[i], 20 * i, 10, "backward");
  for (int i = 0; i < 4; ++i) make.op(forward[i], 20 * i, 10, "forward");
  std::uint64_t id = 2;
  for (const char* name : forward) make.node(id, name, 1, id, 1), ++id;
  for (const char* name : backward) make.node(id, name, 1, id, 2), ++id;
  EXPECT_EQ(match(make).matched, 8U);
}

// T24
TEST(HostMatch, NothingInCommonIsAnErrorThatSaysWhatToDo) {
  for (const bool with_id : {true, false}) {
    TraceMaker make;
    for (std::uint64_t i = 1; i <= 10; ++i) make.node(i + 1, "host " + std::to_string(i), 1, i);
    for (int i = 0; i < 10; ++i) {
      make.op("device " + std::to_string(i), 20 * i, 10, "1", with_id ? 100 + static_cast<std::uint64_t>(i) : 0);
    }
    try {
      make.link_both();
      FAIL() << "must refuse";
    } catch (const LinkError& error) {
      EXPECT_NE(std::string(error.what()).find("0 of 10 host ops matched"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("ExecutionTraceObserver"), std::string::npos) << error.what();
    }
  }
}

// --- alignment, against the obvious quadratic oracle ---

std::size_t oracle_longest(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
  std::size_t best = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) {
      std::size_t k = 0;
      while (i + k < a.size() && j + k < b.size() && a[i + k] == b[j + k]) ++k;
      best = std::max(best, k);
    }
  }
  return best;
}

std::size_t oracle_count(const std::vector<std::uint32_t>& pattern, const std::vector<std::uint32_t>& text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i + pattern.size() <= text.size(); ++i) {
    count += std::equal(pattern.begin(), pattern.end(), text.begin() + static_cast<std::ptrdiff_t>(i)) ? 1 : 0;
  }
  return count;
}

TEST(NameAlignment, AgreesWithTheOracle) {
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    std::vector<std::uint32_t> pattern(1 + random() % 20);
    std::vector<std::uint32_t> text(random() % 60);
    for (auto& x : pattern) x = static_cast<std::uint32_t>(random() % 3);
    for (auto& x : text) x = static_cast<std::uint32_t>(random() % 3);
    const CommonRun run = longest_common_run(pattern, text);
    ASSERT_EQ(run.length, oracle_longest(pattern, text));
    for (std::size_t i = 0; i < run.length; ++i) {
      ASSERT_EQ(pattern[run.first_in_pattern + i], text[run.first_in_text + i]);
    }
    pattern.resize(1 + random() % 4);
    ASSERT_EQ(count_occurrences(pattern, text), oracle_count(pattern, text));
  }
}

TEST(NameAlignment, RunsKeepTheirOrderAndDoNotOverlap) {
  const std::vector<std::uint32_t> pattern = {1, 2, 3, 4, 5, 9, 6, 7, 8, 10};
  const std::vector<std::uint32_t> text = {1, 2, 3, 4, 5, 6, 7, 8, 10};
  const std::vector<CommonRun> runs = align_runs(pattern, text, 2);
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].length, 5U);
  EXPECT_EQ(runs[1].first_in_pattern, 6U);
  EXPECT_EQ(runs[1].first_in_text, 5U);
  EXPECT_EQ(runs[1].length, 4U);
}

}  // namespace
}  // namespace chakra::pytorch
