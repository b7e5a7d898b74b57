// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace chakra::pytorch {

/// `length` elements of one sequence equal as many of the other.
struct CommonRun {
  std::size_t first_in_pattern = 0;
  std::size_t first_in_text = 0;
  std::size_t length = 0;
};

/// The longest run that both sequences have in common; of several the first in the text, then in the pattern.
/// Linear in both lengths.
CommonRun longest_common_run(std::span<const std::uint32_t> pattern, std::span<const std::uint32_t> text);

/// Runs in common, in order and without overlap: the longest, then on either side of it likewise, down to
/// `min_length`.
std::vector<CommonRun> align_runs(std::span<const std::uint32_t> pattern, std::span<const std::uint32_t> text,
                                  std::size_t min_length);

/// Places in the text where the whole pattern stands. Linear.
std::size_t count_occurrences(std::span<const std::uint32_t> pattern, std::span<const std::uint32_t> text);

}  // namespace chakra::pytorch
