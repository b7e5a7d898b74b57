// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace chakra::io {

/// The bytes begin with gzip's magic number.
bool is_gzip(std::string_view bytes) noexcept;

/// What inflating gave: with recover, `problem` says why it ended early.
struct Inflated {
  std::string bytes;
  std::string problem;
};

/// Inflates all members of a gzip stream. Bytes that are damaged or missing end the result early; what came
/// before is kept, and `problem` says what was wrong (empty if nothing was).
Inflated inflate_all(std::string_view compressed);

}  // namespace chakra::io
