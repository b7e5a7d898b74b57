// SPDX-License-Identifier: MIT
#include "parallel/parallel_for.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
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

namespace {

/// Runs `loop` on up to `threads` threads, this one among them, until all have ended.
void run_on(std::size_t threads, const std::function<void()>& loop) {
  std::vector<std::jthread> helpers;
  for (std::size_t i = 1; i < threads; ++i) {
    try {
      helpers.emplace_back(loop);
    } catch (const std::system_error&) {
      break;  // no more threads to be had: those that run do all the work
    }
  }
  loop();
}

std::size_t or_all_cores(unsigned threads) noexcept {
  return threads != 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace

void parallel_for(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  FirstFailure failure;
  run_on(std::min(or_all_cores(threads), count), [&] {
    for (std::size_t number = next++; number < count && number < failure.number(); number = next++) {
      try {
        work(number);
      } catch (...) {
        failure.record(number, std::current_exception());
      }
    }
  });
  failure.rethrow();
}

void parallel_pull(unsigned threads, const std::function<bool(std::size_t)>& next,
                   const std::function<void(std::size_t)>& work) {
  std::mutex mutex;
  std::size_t pulled = 0;
  bool more = true;
  FirstFailure failure;
  const auto pull = [&]() -> std::optional<std::size_t> {
    const std::lock_guard lock(mutex);
    if (!more || pulled >= failure.number()) {
      return std::nullopt;
    }
    try {
      more = next(pulled);
    } catch (...) {
      more = false;
      failure.record(pulled, std::current_exception());
    }
    return more ? std::optional(pulled++) : std::nullopt;
  };
  run_on(or_all_cores(threads), [&] {
    while (const auto number = pull()) {
      try {
        work(*number);
      } catch (...) {
        failure.record(*number, std::current_exception());
      }
    }
  });
  failure.rethrow();
}

}  // namespace chakra
