// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "c_api/failure.hpp"
#include "chakra_core/trace.hpp"

struct chakra_trace {
  chakra::TracePtr trace;
};

namespace chakra::c_api {

inline void check_row(const Trace& trace, std::uint32_t row) {
  if (row >= trace.size()) {
    throw Failure(CHAKRA_ERROR_ARGUMENT,
                  "row " + std::to_string(row) + " is not in a trace of " + std::to_string(trace.size()) + " nodes");
  }
}

/// The trace behind a handle, for functions that can fail.
inline const Trace& trace_of(const chakra_trace* handle) {
  need(handle, "trace");
  return *handle->trace;
}

}  // namespace chakra::c_api
