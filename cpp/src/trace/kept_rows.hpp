// SPDX-License-Identifier: MIT
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "chakra_core/trace.hpp"
#include "trace/trace_storage.hpp"

// What makes a trace of some rows of another, for all but their dependencies.
namespace chakra::detail {

inline constexpr NodeIndex not_kept = std::numeric_limits<NodeIndex>::max();

/// Where each row of the whole trace goes, or not_kept.
/// Throws ChakraError for a row that is out of range or named twice.
std::vector<NodeIndex> new_rows(const Trace& trace, std::span<const NodeIndex> rows);

/// The columns of these rows, in their order, with index and metadata. The dependencies are to be filled in.
std::unique_ptr<TraceStorage> keep_rows(const TraceStorage& from, std::span<const NodeIndex> rows);

}  // namespace chakra::detail
