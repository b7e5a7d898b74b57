// SPDX-License-Identifier: MIT
#include "parallel/parallel_for.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace chakra {

namespace {

/// The failure of the smallest number so far.
class FirstFailure {
 public:
  void record(std::size_t number, std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (number < number_) {
      number_ = number;
      error_ = std::move(error);
    }
  }
  /// Numbers from here on need not be worked on any more.
  std::size_t number() const noexcept { return number_; }
  void rethrow() const {
    if (error_) {
      std::rethrow_exception(error_);
    }
  }

 private:
  std::mutex mutex_;
  std::atomic<std::size_t> number_ = std::numeric_limits<std::size_t>::max();
  std::exception_ptr error_;
};

}  // namespace

void parallel_for(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work) {
  if (threads == 0) {
    threads = std::max(1U, std::thread::hardware_concurrency());
  }
  std::atomic<std::size_t> next = 0;
  FirstFailure failure;
  const auto run = [&] {
    for (std::size_t number = next++; number < count && number < failure.number(); number = next++) {
      try {
        work(number);
      } catch (...) {
        failure.record(number, std::current_exception());
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < std::min<std::size_t>(threads, count); ++i) {
      try {
        helpers.emplace_back(run);
      } catch (const std::system_error&) {
        break;  // no more threads to be had: those that run do all the work
      }
    }
    run();
  }
  failure.rethrow();
}

}  // namespace chakra
