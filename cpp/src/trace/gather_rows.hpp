// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "chakra_core/trace.hpp"

namespace chakra::detail {

struct RowOfTrace {
  const Trace* trace;
  NodeIndex row;
};

/// A new trace of rows of others, in that order, which knows parents by id only (TraceAssembly::finish_apart()). Record
/// bytes are copied unless they lie in a mapped file, so that the other traces can go. Rows must have their record as
/// it was read.
TracePtr gather_rows(std::span<const RowOfTrace> rows);

}  // namespace chakra::detail
