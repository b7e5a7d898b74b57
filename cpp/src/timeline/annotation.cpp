// SPDX-License-Identifier: MIT
#include "timeline/annotation.hpp"

#include <array>

namespace chakra::timeline {

void collect_annotations(const Trace& trace, NodeIndex row, std::vector<Annotation>& out) {
  constexpr std::array shown = {
      IntegerAttribute::num_ops,  IntegerAttribute::tensor_size, IntegerAttribute::comm_size,
      IntegerAttribute::comm_src, IntegerAttribute::comm_dst,    IntegerAttribute::comm_tag,
  };
  out.clear();
  out.push_back({"node", trace.ids()[row]});
  for (const IntegerAttribute attribute : shown) {
    if (const auto value = trace.column(attribute).get(row)) {
      out.push_back({to_string(attribute), *value});
    }
  }
  if (const auto type = trace.column(IntegerAttribute::comm_type).get(row)) {
    out.push_back({"comm_type", to_string(static_cast<CollectiveType>(*type))});
  }
  if (const auto group = trace.pg_name().get(row)) {
    out.push_back({"pg_name", std::string(trace.string(*group))});
  }
}

}  // namespace chakra::timeline
