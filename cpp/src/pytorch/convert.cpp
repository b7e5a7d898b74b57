// SPDX-License-Identifier: MIT
#include "chakra_core/errors.hpp"
#include "pytorch/node_writer.hpp"

namespace chakra {

TracePtr convert(const LinkedTrace& linked, const ConvertOptions& options) {
  if (options.lag_min_ns < 0) {
    throw ConfigError("lag_min_ns is " + std::to_string(options.lag_min_ns) + "; it must be 0 or more");
  }
  // Without calls there is nothing to cut a thread's time at: the tree of ops is all there is.
  const bool has_cuts = linked.model().device && !linked.model().node_times.only;
  if (options.layout == TraceLayout::ops || !has_cuts) return pytorch::convert_ops(linked.model(), options);
  return pytorch::convert_exact(linked.model(), options);
}

}  // namespace chakra
