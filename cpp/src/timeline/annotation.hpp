// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "chakra_core/trace.hpp"

namespace chakra::timeline {

/// Something said about a slice besides its name, shown when it is clicked.
struct Annotation {
  std::string_view name;  ///< lives as long as the program
  std::variant<std::uint64_t, std::int64_t, std::string> value;
};

/// Replaces `out` by the node's id and the amounts and peers that its row has.
void collect_annotations(const Trace& trace, NodeIndex row, std::vector<Annotation>& out);

}  // namespace chakra::timeline
