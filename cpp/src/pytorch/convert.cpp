// SPDX-License-Identifier: MIT
#include "chakra_core/errors.hpp"
#include "pytorch/node_writer.hpp"

namespace chakra {

TracePtr convert(const LinkedTrace& linked, const ConvertOptions& options) {
  if (options.lag_min_ns < 0) {
    throw ConfigError("lag_min_ns is " + std::to_string(options.lag_min_ns) + "; it must be 0 or more");
  }
  // Without a device trace there is no time to cut into pieces: the tree of ops is all there is.
  if (options.layout == TraceLayout::ops || !linked.model().device) return pytorch::convert_ops(linked.model());
  return pytorch::convert_exact(linked.model(), options.lag_min_ns);
}

}  // namespace chakra
