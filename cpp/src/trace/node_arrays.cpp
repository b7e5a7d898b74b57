// SPDX-License-Identifier: MIT
#include "chakra_core/node_arrays.hpp"

#include <algorithm>
#include <utility>

#include "chakra_core/errors.hpp"

namespace chakra {

namespace {

void check_size(std::size_t given, std::size_t nodes, const std::string& what) {
  if (given != nodes) {
    throw ChakraError(what + " has " + std::to_string(given) + " entries for " + std::to_string(nodes) + " nodes");
  }
}

void check_optional_size(std::size_t given, std::size_t nodes, const std::string& what) {
  if (given != 0) {
    check_size(given, nodes, what);
  }
}

/// Offsets of one list a node into `count` values.
void check_offsets(std::span<const std::uint64_t> offsets, std::size_t count, std::size_t nodes,
                   const std::string& what) {
  if (offsets.size() != nodes + 1) {
    throw ChakraError(what + ": " + std::to_string(nodes) + " nodes need " + std::to_string(nodes + 1) +
                      " offsets, not " + std::to_string(offsets.size()));
  }
  for (std::size_t i = 0; i < nodes; ++i) {
    if (offsets[i] > offsets[i + 1]) {
      throw ChakraError(what + ": offset " + std::to_string(i + 1) + " is less than the one before it");
    }
  }
  if (offsets.front() != 0 || offsets.back() != count) {
    throw ChakraError(what + ": the offsets must go from 0 to the number of values, " + std::to_string(count));
  }
}

void check_parents(const ParentLists& parents, std::size_t nodes, const std::string& what) {
  if (!parents.offsets.empty() || !parents.ids.empty()) {
    check_offsets(parents.offsets, parents.ids.size(), nodes, what);
  }
}

void check_io(const IoArrays& io, std::size_t nodes, const std::string& what) {
  check_optional_size(io.values.size(), nodes, what + " values");
  check_optional_size(io.shapes.size(), nodes, what + " shapes");
  check_optional_size(io.types.size(), nodes, what + " types");
}

void check_attributes(std::span<const AttributeArray> attributes, std::size_t count) {
  for (const AttributeArray& attribute : attributes) {
    const std::size_t size = std::visit([](const auto& values) { return values.size(); }, attribute.values);
    if (attribute.offsets.empty()) {
      check_size(size, count, "attribute " + attribute.name);
    } else {
      check_offsets(attribute.offsets, size, count, "attribute " + attribute.name);
    }
    check_optional_size(attribute.absent.size(), count, "the mask of attribute " + attribute.name);
  }
}

void check(const NodeArrays& nodes) {
  const std::size_t count = nodes.ids.size();
  check_optional_size(nodes.types.size(), count, "types");
  check_optional_size(nodes.names.size(), count, "names");
  check_optional_size(nodes.start_ns.size(), count, "start_ns");
  check_optional_size(nodes.duration_ns.size(), count, "duration_ns");
  check_parents(nodes.data_deps, count, "data_deps");
  check_parents(nodes.ctrl_deps, count, "ctrl_deps");
  check_io(nodes.inputs, count, "inputs");
  check_io(nodes.outputs, count, "outputs");
  check_attributes(nodes.attributes, count);
}

std::span<const NodeId> parents_of(const ParentLists& parents, std::size_t node) {
  if (parents.offsets.empty()) {
    return {};
  }
  return parents.ids.subspan(parents.offsets[node], parents.offsets[node + 1] - parents.offsets[node]);
}

/// The attributes of one node at a time, in memory that all share.
class AttributesOfNode {
 public:
  explicit AttributesOfNode(std::span<const AttributeArray> arrays) : arrays_(arrays), attributes_(arrays.size()) {}

  std::span<const Attribute> of(std::size_t node) {
    std::size_t count = 0;
    for (const AttributeArray& array : arrays_) {
      if (!array.absent.empty() && array.absent[node]) {
        continue;
      }
      Attribute& attribute = attributes_[count++];
      attribute.name = array.name;
      attribute.kind = array.kind;
      std::visit(
          [&](const auto& values) {
            if (array.offsets.empty()) {
              assign(attribute.value, values[node]);
            } else {
              assign_list(attribute.value,
                          values.subspan(array.offsets[node], array.offsets[node + 1] - array.offsets[node]));
            }
          },
          array.values);
    }
    return std::span(attributes_).first(count);
  }

 private:
  template <class Value>
  static void assign(AttributeValue& to, Value value) {
    to = value;
  }
  static void assign(AttributeValue& to, std::string_view value) { to = std::string(value); }
  template <class Value>
  static void assign_list(AttributeValue& to, std::span<const Value> values) {
    to = std::vector<Value>(values.begin(), values.end());
  }
  static void assign_list(AttributeValue& to, std::span<const std::string_view> values) {
    to = std::vector<std::string>(values.begin(), values.end());
  }

  std::span<const AttributeArray> arrays_;
  std::vector<Attribute> attributes_;
};

/// Inputs or outputs of one node at a time.
class IoOfNode {
 public:
  explicit IoOfNode(const IoArrays& arrays) : arrays_(arrays) {}

  const IoInfo* of(std::size_t node) {
    take(arrays_.values, node, io_.values);
    take(arrays_.shapes, node, io_.shapes);
    take(arrays_.types, node, io_.types);
    return io_.values.empty() && io_.shapes.empty() && io_.types.empty() ? nullptr : &io_;
  }

 private:
  static void take(std::span<const std::string_view> texts, std::size_t node, std::string& to) {
    if (!texts.empty()) {
      to = texts[node];
    }
  }

  const IoArrays& arrays_;
  IoInfo io_;
};

/// Times have fields of their own, from which the builder makes these attributes where they are needed.
bool is_time(const Attribute& attribute) { return attribute.name == "start_ns" || attribute.name == "duration_ns"; }

/// The new value in the arm of the old one, if that can carry it.
Attribute in_place_of(const Attribute& old, const Attribute& by) {
  Attribute in_same_arm{old.name, old.kind, by.value, old.doc_string};
  const auto* const number = std::get_if<std::int64_t>(&by.value);
  const auto* const unsigned_number = std::get_if<std::uint64_t>(&by.value);
  if (number != nullptr && *number >= 0 && std::holds_alternative<std::uint64_t>(old.value)) {
    in_same_arm.value = static_cast<std::uint64_t>(*number);
  } else if (unsigned_number != nullptr && std::in_range<std::int64_t>(*unsigned_number) &&
             std::holds_alternative<std::int64_t>(old.value)) {
    in_same_arm.value = static_cast<std::int64_t>(*unsigned_number);
  }
  return is_consistent(in_same_arm) ? in_same_arm : by;
}

std::vector<Attribute> replaced(std::vector<Attribute> attributes, std::span<const Attribute> by) {
  std::erase_if(attributes, is_time);
  for (const Attribute& attribute : by) {
    const auto place = std::find_if(attributes.begin(), attributes.end(),
                                    [&](const Attribute& old) { return old.name == attribute.name; });
    if (place == attributes.end()) {
      attributes.push_back(attribute);
    } else {
      *place = in_place_of(*place, attribute);
    }
  }
  return attributes;
}

const IoInfo* unless_empty(const IoInfo& info) {
  return info.values.empty() && info.shapes.empty() && info.types.empty() ? nullptr : &info;
}

void add_with(TraceBuilder& builder, const Trace& trace, NodeIndex row, std::span<const Attribute> attributes) {
  const std::vector<NodeId> data_deps = trace.parent_ids(row, DependencyKind::data);
  const std::vector<NodeId> ctrl_deps = trace.parent_ids(row, DependencyKind::control);
  const std::vector<Attribute> all = replaced(trace.attributes(row), attributes);
  const IoInfo inputs = trace.inputs(row);
  const IoInfo outputs = trace.outputs(row);
  builder.add_node({.id = trace.ids()[row],
                    .name = trace.name(row),
                    .type = trace.types()[row],
                    .data_deps = data_deps,
                    .ctrl_deps = ctrl_deps,
                    .start_ns = trace.start_ns()[row],
                    .duration_ns = trace.duration_ns()[row],
                    .attributes = all,
                    .inputs = unless_empty(inputs),
                    .outputs = unless_empty(outputs)});
}

}  // namespace

TracePtr with_attributes(const Trace& trace, std::span<const AttributeArray> attributes) {
  check_attributes(attributes, trace.size());
  TraceBuilder builder;
  builder.set_metadata(trace.metadata());
  AttributesOfNode values(attributes);
  for (NodeIndex row = 0; row < trace.size(); ++row) {
    const std::span<const Attribute> of_row = values.of(row);
    if (of_row.empty()) {
      builder.add_record(trace.record(row));
    } else {
      add_with(builder, trace, row, of_row);
    }
  }
  return builder.build();
}

void add_nodes(TraceBuilder& builder, const NodeArrays& nodes) {
  check(nodes);
  AttributesOfNode attributes(nodes.attributes);
  IoOfNode inputs(nodes.inputs);
  IoOfNode outputs(nodes.outputs);
  for (std::size_t i = 0; i < nodes.ids.size(); ++i) {
    builder.add_node({.id = nodes.ids[i],
                      .name = nodes.names.empty() ? std::string_view{} : nodes.names[i],
                      .type = nodes.types.empty() ? NodeType::comp : nodes.types[i],
                      .data_deps = parents_of(nodes.data_deps, i),
                      .ctrl_deps = parents_of(nodes.ctrl_deps, i),
                      .start_ns = nodes.start_ns.empty() ? 0 : nodes.start_ns[i],
                      .duration_ns = nodes.duration_ns.empty() ? 0 : nodes.duration_ns[i],
                      .attributes = attributes.of(i),
                      .inputs = inputs.of(i),
                      .outputs = outputs.of(i)});
  }
}

}  // namespace chakra
