// SPDX-License-Identifier: MIT
#include "chakra_core/node_arrays.hpp"

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
  for (const AttributeArray& attribute : nodes.attributes) {
    const std::size_t size = std::visit([](const auto& values) { return values.size(); }, attribute.values);
    if (attribute.offsets.empty()) {
      check_size(size, count, "attribute " + attribute.name);
    } else {
      check_offsets(attribute.offsets, size, count, "attribute " + attribute.name);
    }
    check_optional_size(attribute.absent.size(), count, "the mask of attribute " + attribute.name);
  }
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

}  // namespace

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
