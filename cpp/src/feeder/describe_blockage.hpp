// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "chakra_core/blockage.hpp"

namespace chakra::detail {

/// All of a Blockage in words. `remaining` nodes are not complete.
std::string describe(const Blockage& blockage, std::size_t remaining);

/// Why nothing can ever become ready again: a cycle or missing parents, in one line. `size` nodes are there in all, if
/// that is known.
std::string describe_deadlock(const Blockage& blockage, std::size_t remaining, std::optional<std::size_t> size);

}  // namespace chakra::detail
