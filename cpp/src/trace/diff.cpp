// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>
#include <utility>

#include "chakra_core/trace_ops.hpp"
#include "trace/trace_storage.hpp"
#include "wire/encode.hpp"

namespace chakra {

namespace {

/// The row has the same bytes in both, and the bytes say all.
bool same_record(const Trace& first, NodeIndex one, const Trace& second, NodeIndex other) {
  constexpr auto whole = detail::RecordForm::whole;
  const detail::TraceStorage& a = first.storage();
  const detail::TraceStorage& b = second.storage();
  return a.record_form[one] == whole && b.record_form[other] == whole && a.record_bytes(one) == b.record_bytes(other);
}

bool same_parents(const Trace& first, std::span<const NodeIndex> one, const Trace& second,
                  std::span<const NodeIndex> other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [&](NodeIndex a, NodeIndex b) { return first.ids()[a] == second.ids()[b]; });
}

/// Encoded values by name, those of one name in their order. The encoding tells what == does not: NaN is NaN.
std::map<std::string, std::string> encoded(const std::vector<Attribute>& attributes) {
  std::map<std::string, std::string> values;
  for (const Attribute& attribute : attributes) {
    wire::append_node_attribute(values[attribute.name], attribute);
  }
  return values;
}

void compare_attributes(const std::vector<Attribute>& one, const std::vector<Attribute>& other,
                        std::vector<std::string>& fields) {
  const auto first = encoded(one);
  const auto second = encoded(other);
  for (const auto& [name, value] : first) {
    const auto found = second.find(name);
    if (found == second.end() || found->second != value) {
      fields.push_back("attrs." + name);
    }
  }
  for (const auto& [name, value] : second) {
    if (!first.contains(name)) {
      fields.push_back("attrs." + name);
    }
  }
}

std::vector<std::string> differing_fields(const Trace& first, NodeIndex one, const Trace& second, NodeIndex other) {
  std::vector<std::string> fields;
  const auto compare = [&](bool same, const char* field) {
    if (!same) {
      fields.emplace_back(field);
    }
  };
  compare(first.name(one) == second.name(other), "name");
  compare(first.types()[one] == second.types()[other], "type");
  compare(first.start_ns()[one] == second.start_ns()[other], "start_ns");
  compare(first.duration_ns()[one] == second.duration_ns()[other], "duration_ns");
  compare(same_parents(first, first.data_deps()[one], second, second.data_deps()[other]), "data_deps");
  compare(same_parents(first, first.ctrl_deps()[one], second, second.ctrl_deps()[other]), "ctrl_deps");
  compare(first.inputs(one) == second.inputs(other), "inputs");
  compare(first.outputs(one) == second.outputs(other), "outputs");
  compare_attributes(first.attributes(one), second.attributes(other), fields);
  return fields;
}

}  // namespace

TraceDiff diff(const Trace& first, const Trace& second, std::size_t most_shown) {
  TraceDiff result;
  if (first.metadata_record() != second.metadata_record()) {
    const Metadata& one = first.metadata();
    const Metadata& other = second.metadata();
    result.metadata_differs = one.version != other.version || encoded(one.attributes) != encoded(other.attributes);
  }
  std::map<std::string, std::uint64_t> counts;
  for (NodeIndex row = 0; row < first.size(); ++row) {
    const NodeId id = first.ids()[row];
    const auto other = second.find(id);
    if (!other) {
      if (result.only_in_first++ < most_shown) {
        result.ids_only_in_first.push_back(id);
      }
      continue;
    }
    auto fields = same_record(first, row, second, *other) ? std::vector<std::string>{}
                                                          : differing_fields(first, row, second, *other);
    if (fields.empty()) {
      ++result.equal;
      continue;
    }
    for (const std::string& field : fields) {
      ++counts[field];
    }
    if (result.changed++ < most_shown) {
      result.changed_nodes.push_back({id, std::move(fields)});
    }
  }
  for (const NodeId id : second.ids()) {
    if (!first.find(id) && result.only_in_second++ < most_shown) {
      result.ids_only_in_second.push_back(id);
    }
  }
  result.changed_fields.assign(counts.begin(), counts.end());
  return result;
}

}  // namespace chakra
