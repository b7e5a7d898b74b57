// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>

namespace chakra {

/// Calls `work` once for each of 0 .. count - 1, on up to `threads` threads, the caller's among them (0: as many as
/// the machine has cores). Returns when all calls have ended. If calls throw, the exception of the smallest number is
/// thrown on: the same one whatever the number of threads. Numbers after a failed one may be left out.
void parallel_for(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work);

/// The same for work whose pieces are found one after another: `next` is called for 0, 1, 2, ... , by one thread at a
/// time, to get the piece ready, and returns false when there are no more; then `work` is called for it, at the same
/// time as `next` and `work` for others. An exception of `next` counts as its number's.
void parallel_pull(unsigned threads, const std::function<bool(std::size_t)>& next,
                   const std::function<void(std::size_t)>& work);

}  // namespace chakra
