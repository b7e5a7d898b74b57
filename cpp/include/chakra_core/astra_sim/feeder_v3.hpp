// SPDX-License-Identifier: MIT
#pragma once

// Chakra::FeederV3, the feeder that ASTRA-sim calls, over this project's feeder. C++17, headers only; link
// chakra_core::astra_sim. Names and signatures are those of the programs that call them; docs/embedding.md has the
// differences in behaviour.

#ifdef CHAKRA_CORE_ASTRA_SIM_FEEDER
#error "One source file may include only one of the two feeders; both are called Chakra::ETFeeder"
#endif
#define CHAKRA_CORE_ASTRA_SIM_FEEDER_V3

// Some of these are here because programs rely on getting them from the feeder's header.
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "chakra_core/astra_sim/attribute_value.hpp"
#include "chakra_core/astra_sim/messages.hpp"
#include "chakra_core/astra_sim/trace_file.hpp"

namespace Chakra {
namespace FeederV3 {

using NodeId = std::uint64_t;
using ChakraNode = ChakraProtoMsg::Node;
using ChakraAttr = ChakraProtoMsg::AttributeProto;
using ChakraGlobalMetadata = ChakraProtoMsg::GlobalMetadata;

/// Ids of nodes in one state, ascending. The one that a DependancyResolver returns changes with it; a copy does not.
/// While nodes are taken or finished, loop over a copy.
class NodeIds {
 public:
  using value_type = NodeId;
  using const_iterator = std::set<NodeId>::const_iterator;
  using iterator = const_iterator;

  bool empty() const { return ids_.empty(); }
  std::size_t size() const { return ids_.size(); }
  const_iterator begin() const { return ids_.begin(); }
  const_iterator end() const { return ids_.end(); }
  const_iterator find(NodeId id) const { return ids_.find(id); }
  std::size_t count(NodeId id) const { return ids_.count(id); }
  operator std::unordered_set<NodeId>() const { return std::unordered_set<NodeId>(begin(), end()); }

 private:
  friend class DependancyResolver;
  std::set<NodeId> ids_;
};

/// Which nodes may run. Data and control dependencies count together; finishing a node frees its children at once.
class DependancyResolver {
 public:
  explicit DependancyResolver(std::shared_ptr<const detail::TraceFile> file)
      : file_(std::move(file)), feeder_(*file_, CHAKRA_BOTH) {
    add_free(feeder_.ready_rows());
  }
  DependancyResolver(const DependancyResolver&) = delete;
  DependancyResolver& operator=(const DependancyResolver&) = delete;

  /// Nodes that are ready and not taken.
  const NodeIds& get_dependancy_free_nodes() const { return free_; }
  /// Nodes that are taken and not finished.
  const NodeIds& get_ongoing_nodes() const { return ongoing_; }

  /// Throws std::runtime_error unless the node is ready and not taken.
  void take_node(const NodeId& id) {
    feeder_.take(row_of(id));
    move(id, free_, ongoing_);
  }
  /// Makes a taken node ready again. Throws std::runtime_error unless it is taken.
  void push_back_node(const NodeId& id) {
    feeder_.push_back(row_of(id));
    move(id, ongoing_, free_);
  }
  /// Throws std::runtime_error unless the node is taken.
  void finish_node(const NodeId& id) {
    const std::uint32_t row = row_of(id);
    const std::size_t children = file_->children(row, CHAKRA_BOTH).count;
    const std::vector<std::uint32_t> became_free = feeder_.complete(row, children);
    ongoing_.ids_.erase(id);
    add_free(became_free);
  }

 private:
  friend class ETFeeder;

  std::uint32_t row_of(NodeId id) const {
    const std::uint32_t row = file_->find(id);
    if (row == CHAKRA_NO_ROW) {
      throw std::runtime_error("node " + std::to_string(id) + " is not in the trace");
    }
    return row;
  }

  void add_free(const std::vector<std::uint32_t>& rows) {
    for (const std::uint32_t row : rows) {
      free_.ids_.insert(free_.ids_.end(), file_->id(row));  // at the end at once, where rows come in the order of ids
    }
  }

  static void move(NodeId id, NodeIds& from, NodeIds& to) { to.ids_.insert(from.ids_.extract(id)); }

  std::shared_ptr<const detail::TraceFile> file_;
  detail::TraceFeeder feeder_;
  NodeIds free_;
  NodeIds ongoing_;
};

/// A node, for reading. It holds on to the trace and stays readable after it ran, and after the feeder is gone.
class ETFeederNode {
 public:
  ETFeederNode(std::shared_ptr<const detail::TraceFile> file, std::uint32_t row) : file_(std::move(file)), row_(row) {}

  NodeId id() const { return file_->id(row_); }
  std::string name() const { return file_->name(row_); }
  ChakraProtoMsg::NodeType type() const { return file_->type(row_); }
  /// Duration in microseconds; 0 if the file has none.
  std::uint64_t runtime() const { return file_->duration_micros(row_); }

  // Attributes by name: the first one of a name counts. What is not there throws std::runtime_error, unless a default
  // is given; what does not convert throws std::bad_cast (see detail::attribute_value).

  bool has_attr(const std::string& name) const { return detail::find_attribute(message(), name) != nullptr; }
  ChakraAttr get_attr_msg(const std::string& name) const {
    if (const ChakraAttr* found = detail::find_attribute(message(), name)) {
      return *found;
    }
    throw_absent(name);
  }
  /// Whether it is there; the pointer is valid as long as this node.
  bool get_attr_msg(const std::string& name, const ChakraAttr** attribute) const {
    const ChakraAttr* found = detail::find_attribute(message(), name);
    if (found != nullptr) {
      *attribute = found;
    }
    return found != nullptr;
  }
  ChakraAttr::ValueCase get_attr_type(const ChakraAttr& attribute) const { return attribute.value_case(); }

  template <class T>
  T get_attr(const ChakraAttr& attribute, bool strict = false) const {
    return detail::attribute_value<T>(attribute, strict);
  }
  template <class T>
  T get_attr(const std::string& name) const {
    T value{};
    if (!read(name, false, value)) {
      throw_absent(name);
    }
    return value;
  }
  template <class T>
  T get_attr(const std::string& name, const T& default_value, bool strict = false) const {
    T value{};
    return read(name, strict, value) ? value : default_value;
  }
  /// A bool that is no default: whether the arm's own type is asked for.
  template <class T, class Strict,
            std::enable_if_t<std::is_same<Strict, bool>::value && !std::is_same<T, bool>::value, int> = 0>
  T get_attr(const std::string& name, Strict strict) const {
    T value{};
    if (!read(name, strict, value)) {
      throw_absent(name);
    }
    return value;
  }

  // The attributes that simulators read: f(), f<T>(), f<T>(default).

  bool is_cpu_op() const { return is_cpu_op<bool>(); }
  std::uint64_t num_ops() const { return num_ops<std::uint64_t>(); }
  std::uint32_t tensor_loc() const { return tensor_loc<std::uint32_t>(); }
  std::uint64_t tensor_size() const { return tensor_size<std::uint64_t>(); }
  ChakraProtoMsg::CollectiveCommType comm_type() const {
    return static_cast<ChakraProtoMsg::CollectiveCommType>(comm_type<std::uint64_t>());
  }
  std::uint32_t comm_priority() const { return comm_priority<std::uint32_t>(); }
  std::uint64_t comm_size() const { return comm_size<std::uint64_t>(); }
  std::uint32_t comm_src() const { return comm_src<std::uint32_t>(); }
  std::uint32_t comm_dst() const { return comm_dst<std::uint32_t>(); }
  std::uint32_t comm_tag() const { return comm_tag<std::uint32_t>(); }
  std::string pg_name() const { return pg_name<std::string>(); }

  template <class T>
  T is_cpu_op() const {
    return get_attr<T>("is_cpu_op", T{});
  }
  template <class T>
  T is_cpu_op(const T& default_value, bool strict = false) const {
    return get_attr<T>("is_cpu_op", default_value, strict);
  }

  template <class T>
  T comm_priority() const {
    return get_attr<T>("comm_priority", T{});
  }
  template <class T>
  T comm_priority(const T& default_value, bool strict = false) const {
    return get_attr<T>("comm_priority", default_value, strict);
  }

  template <class T>
  T num_ops() const {
    return get_attr<T>("num_ops");
  }
  template <class T>
  T num_ops(const T& default_value, bool strict = false) const {
    return get_attr<T>("num_ops", default_value, strict);
  }

  template <class T>
  T tensor_loc() const {
    return get_attr<T>("tensor_loc");
  }
  template <class T>
  T tensor_loc(const T& default_value, bool strict = false) const {
    return get_attr<T>("tensor_loc", default_value, strict);
  }

  template <class T>
  T tensor_size() const {
    return get_attr<T>("tensor_size");
  }
  template <class T>
  T tensor_size(const T& default_value, bool strict = false) const {
    return get_attr<T>("tensor_size", default_value, strict);
  }

  template <class T>
  T comm_type() const {
    return get_attr<T>("comm_type");
  }
  template <class T>
  T comm_type(const T& default_value, bool strict = false) const {
    return get_attr<T>("comm_type", default_value, strict);
  }

  template <class T>
  T comm_size() const {
    return get_attr<T>("comm_size");
  }
  template <class T>
  T comm_size(const T& default_value, bool strict = false) const {
    return get_attr<T>("comm_size", default_value, strict);
  }

  template <class T>
  T comm_src() const {
    return get_attr<T>("comm_src");
  }
  template <class T>
  T comm_src(const T& default_value, bool strict = false) const {
    return get_attr<T>("comm_src", default_value, strict);
  }

  template <class T>
  T comm_dst() const {
    return get_attr<T>("comm_dst");
  }
  template <class T>
  T comm_dst(const T& default_value, bool strict = false) const {
    return get_attr<T>("comm_dst", default_value, strict);
  }

  template <class T>
  T comm_tag() const {
    return get_attr<T>("comm_tag");
  }
  template <class T>
  T comm_tag(const T& default_value, bool strict = false) const {
    return get_attr<T>("comm_tag", default_value, strict);
  }

  template <class T>
  T pg_name() const {
    return get_attr<T>("pg_name");
  }
  template <class T>
  T pg_name(const T& default_value, bool strict = false) const {
    return get_attr<T>("pg_name", default_value, strict);
  }

  std::string get_inputs_values(const std::string& default_ = "") const {
    return or_default(message().inputs().values(), default_);
  }
  std::string get_inputs_shapes(const std::string& default_ = "") const {
    return or_default(message().inputs().shapes(), default_);
  }
  std::string get_inputs_types(const std::string& default_ = "") const {
    return or_default(message().inputs().types(), default_);
  }
  std::string get_outputs_values(const std::string& default_ = "") const {
    return or_default(message().outputs().values(), default_);
  }
  std::string get_outputs_shapes(const std::string& default_ = "") const {
    return or_default(message().outputs().shapes(), default_);
  }
  std::string get_outputs_types(const std::string& default_ = "") const {
    return or_default(message().outputs().types(), default_);
  }

 private:
  [[noreturn]] void throw_absent(const std::string& name) const {
    throw std::runtime_error("node " + std::to_string(id()) + " has no attribute '" + name + "'");
  }

  static const std::string& or_default(const std::string& text, const std::string& otherwise) {
    return text.empty() ? otherwise : text;
  }

  /// Reads an attribute; false if it is not there.
  template <class T>
  bool read(const std::string& name, bool strict, T& value) const {
    if constexpr (std::is_integral<T>::value) {
      const chakra_status status = strict ? CHAKRA_ERROR_TYPE : file_->integer(row_, name, value);
      if (status == CHAKRA_OK || status == CHAKRA_ABSENT) {
        return status == CHAKRA_OK;
      }
    }
    const ChakraAttr* found = detail::find_attribute(message(), name);
    if (found == nullptr) {
      return false;
    }
    value = detail::attribute_value<T>(*found, strict);
    return true;
  }

  const ChakraNode& message() const {
    if (!message_) {
      message_ = std::make_shared<const ChakraNode>(file_->message(row_));
    }
    return *message_;
  }

  std::shared_ptr<const detail::TraceFile> file_;
  std::uint32_t row_;
  mutable std::shared_ptr<const ChakraNode> message_;
};

/// The trace of one rank and what of it may run.
class ETFeeder {
 private:
  std::shared_ptr<const detail::TraceFile> file_;
  DependancyResolver resolver_;

 public:
  /// Reads the whole file, for reading only. Throws std::runtime_error if it is unreadable or malformed, names absent
  /// parents, or has nodes that wait for each other.
  ETFeeder(const std::string& path)
      : file_(std::make_shared<const detail::TraceFile>(path, CHAKRA_STRICT)),
        resolver_(file_),
        global_metadata(file_->metadata()) {}
  ETFeeder(const ETFeeder&) = delete;
  ETFeeder& operator=(const ETFeeder&) = delete;

  const ChakraGlobalMetadata global_metadata;

  DependancyResolver& getDependancyResolver() { return resolver_; }

  /// A handle, made anew by each call. Throws std::runtime_error if the trace has no such node.
  std::shared_ptr<ETFeederNode> lookupNode(const NodeId& id) {
    return std::make_shared<ETFeederNode>(file_, resolver_.row_of(id));
  }

  // The verbs of the older feeder.

  bool hasNodesToIssue() { return !resolver_.get_dependancy_free_nodes().empty(); }
  /// Takes the free node with the smallest id; null if none is free now.
  std::shared_ptr<ETFeederNode> getNextIssuableNode() {
    const NodeIds& free = resolver_.get_dependancy_free_nodes();
    if (free.empty()) {
      return nullptr;
    }
    const NodeId id = *free.begin();
    resolver_.take_node(id);
    return lookupNode(id);
  }
  void pushBackIssuableNode(const NodeId& id) { resolver_.push_back_node(id); }
  void freeChildrenNodes(const NodeId& id) { resolver_.finish_node(id); }
  /// The trace cannot change: throws std::runtime_error.
  void addNode(const std::shared_ptr<ETFeederNode>& node) {
    throw std::runtime_error("node " + std::to_string(node->id()) + " cannot be added to a trace that is read only");
  }
  /// The trace cannot change: does nothing.
  void removeNode(const NodeId& /*id*/) {}
};

}  // namespace FeederV3

using ETFeeder = FeederV3::ETFeeder;
using ETFeederNode = FeederV3::ETFeederNode;

}  // namespace Chakra
