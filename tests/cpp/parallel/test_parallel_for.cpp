// SPDX-License-Identifier: MIT
#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "parallel/parallel_for.hpp"

namespace chakra {
namespace {

TEST(ParallelFor, EveryNumberOnce) {
  for (const unsigned threads : {0U, 1U, 2U, 7U}) {
    std::vector<std::atomic<int>> calls(1000);
    parallel_for(calls.size(), threads, [&](std::size_t number) { ++calls[number]; });
    for (const auto& count : calls) {
      EXPECT_EQ(count, 1);
    }
  }
}

TEST(ParallelFor, TheFailureOfTheSmallestNumberIsThrown) {
  for (const unsigned threads : {1U, 4U}) {
    for (int round = 0; round < 50; ++round) {
      try {
        parallel_for(100, threads, [](std::size_t number) {
          if (number % 10 == 3) {
            throw std::runtime_error(std::to_string(number));
          }
        });
        ADD_FAILURE() << "no error";
      } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "3");
      }
    }
  }
}

TEST(ParallelPull, PiecesAreMadeReadyInOrderByOneThreadAtATime) {
  for (const unsigned threads : {0U, 1U, 2U, 7U}) {
    std::vector<std::size_t> made;  // without a lock: TSan would see two threads in `next`
    std::mutex mutex;
    std::multiset<std::size_t> done;
    parallel_pull(
        threads,
        [&](std::size_t number) {
          if (number == 500) {
            return false;
          }
          made.push_back(number);
          return true;
        },
        [&](std::size_t number) {
          const std::lock_guard lock(mutex);
          done.insert(number);
        });
    ASSERT_EQ(made.size(), 500U);
    for (std::size_t i = 0; i < made.size(); ++i) {
      EXPECT_EQ(made[i], i);
      EXPECT_EQ(done.count(i), 1U);
    }
  }
}

TEST(ParallelPull, TheEarliestFailureIsThrownWhereverItComesFrom) {
  for (const unsigned threads : {1U, 4U}) {
    for (int round = 0; round < 50; ++round) {
      const auto failing = [&](std::size_t next_fails, std::size_t work_fails) -> std::string {
        const auto fail_at = [](std::size_t number, std::size_t fails, const char* where) {
          if (number >= fails) {
            throw std::runtime_error(where + std::to_string(number));
          }
        };
        try {
          parallel_pull(
              threads,
              [&](std::size_t number) {
                fail_at(number, next_fails, "next ");
                return true;
              },
              [&](std::size_t number) { fail_at(number, work_fails, "work "); });
        } catch (const std::runtime_error& error) {
          return error.what();
        }
        return "no error";
      };
      EXPECT_EQ(failing(20, 10), "work 10");
      EXPECT_EQ(failing(20, 19), "work 19");
      EXPECT_EQ(failing(7, 100), "next 7");
      EXPECT_EQ(failing(0, 0), "next 0");
    }
  }
}

TEST(ParallelPull, NothingToDoIsDone) {
  parallel_pull(
      4, [](std::size_t) { return false; }, [](std::size_t) { FAIL(); });
}

}  // namespace
}  // namespace chakra
