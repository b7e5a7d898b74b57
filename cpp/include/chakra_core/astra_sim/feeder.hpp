// SPDX-License-Identifier: MIT
#pragma once

// Chakra::ETFeeder, the feeder of the Chakra repository, over this project's feeder. C++17, headers only; link
// chakra_core::astra_sim. Names and signatures are those of the programs that call them; docs/embedding.md has the
// differences in behaviour.

#ifdef CHAKRA_CORE_ASTRA_SIM_FEEDER_V3
#error "One source file may include only one of the two feeders; both are called Chakra::ETFeeder"
#endif
#define CHAKRA_CORE_ASTRA_SIM_FEEDER

// Some of these are here because programs rely on getting them from the feeder's header.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "chakra_core/astra_sim/attribute_value.hpp"
#include "chakra_core/astra_sim/messages.hpp"
#include "chakra_core/astra_sim/trace_file.hpp"

namespace Chakra {

class ETFeederNode;

namespace detail {

/// The nodes of a trace. Handles are made when asked for; while one lives, its row has no other.
class NodeTable : public std::enable_shared_from_this<NodeTable> {
 public:
  explicit NodeTable(const std::string& path) : file_(path, CHAKRA_STRICT_DATA) {}
  const TraceFile& file() const { return file_; }
  std::shared_ptr<ETFeederNode> node(std::uint32_t row);

 private:
  void forget_the_dead();

  TraceFile file_;
  std::unordered_map<std::uint32_t, std::weak_ptr<ETFeederNode>> handles_;
  std::size_t sweep_at_ = 1024;
};

}  // namespace detail

/// A node, for reading. It stays readable after it ran, its dependencies too. Attributes that are not there are 0 or
/// "".
class ETFeederNode {
 public:
  /// A node that is in no trace.
  explicit ETFeederNode(std::shared_ptr<ChakraProtoMsg::Node> node) : message_(std::move(node)) {}
  ETFeederNode(std::shared_ptr<detail::NodeTable> table, std::uint32_t row) : table_(std::move(table)), row_(row) {}

  std::shared_ptr<ChakraProtoMsg::Node> getChakraNode() {
    (void)message();
    return message_;
  }
  /// Nodes with a data dependency on this one, in the order of the file.
  std::vector<std::shared_ptr<ETFeederNode>> getChildren() {
    std::vector<std::shared_ptr<ETFeederNode>> children;
    if (table_) {
      const chakra_rows rows = table_->file().children(row_, CHAKRA_DATA);
      for (std::size_t i = 0; i < rows.count; ++i) {
        children.push_back(table_->node(rows.rows[i]));
      }
    }
    return children;
  }

  std::uint64_t id() const { return table_ ? table_->file().id(row_) : message_->id(); }
  std::string name() const { return table_ ? table_->file().name(row_) : message_->name(); }
  ChakraProtoMsg::NodeType type() const { return table_ ? table_->file().type(row_) : message_->type(); }
  /// Duration in microseconds.
  std::uint64_t runtime() const { return table_ ? table_->file().duration_micros(row_) : message_->duration_micros(); }

  // Any integer arm converts; text or floating point where a number belongs throws std::bad_cast.
  bool is_cpu_op() const { return value<bool>("is_cpu_op"); }
  std::uint64_t num_ops() const { return value<std::uint64_t>("num_ops"); }
  std::uint32_t tensor_loc() const { return value<std::uint32_t>("tensor_loc"); }
  std::uint64_t tensor_size() const { return value<std::uint64_t>("tensor_size"); }
  ChakraProtoMsg::CollectiveCommType comm_type() const {
    return static_cast<ChakraProtoMsg::CollectiveCommType>(value<std::int64_t>("comm_type"));
  }
  std::uint32_t comm_priority() const { return value<std::uint32_t>("comm_priority"); }
  std::uint64_t comm_size() const { return value<std::uint64_t>("comm_size"); }
  std::uint32_t comm_src() const { return value<std::uint32_t>("comm_src"); }
  std::uint32_t comm_dst() const { return value<std::uint32_t>("comm_dst"); }
  std::uint32_t comm_tag() const { return value<std::uint32_t>("comm_tag"); }
  std::string pg_name() const { return value<std::string>("pg_name"); }

  /// Whether there is such an attribute beyond those that have a getter here.
  bool has_other_attr(const std::string& name) const { return find_other(name) != nullptr; }
  /// The first of that name; valid as long as this node. Throws std::runtime_error if there is none.
  const ChakraProtoMsg::AttributeProto& get_other_attr(const std::string& name) const {
    if (const ChakraProtoMsg::AttributeProto* found = find_other(name)) {
      return *found;
    }
    throw std::runtime_error("node " + std::to_string(id()) + " has no other attribute '" + name + "'");
  }

  std::string get_inputs_values() const { return message().inputs().values(); }
  std::string get_inputs_shapes() const { return message().inputs().shapes(); }
  std::string get_inputs_types() const { return message().inputs().types(); }
  std::string get_outputs_values() const { return message().outputs().values(); }
  std::string get_outputs_shapes() const { return message().outputs().shapes(); }
  std::string get_outputs_types() const { return message().outputs().types(); }

 private:
  template <class T>
  T value(const std::string& name) const {
    if constexpr (std::is_integral<T>::value) {
      T integer{};
      const chakra_status status = table_ ? table_->file().integer(row_, name, integer) : CHAKRA_ERROR_TYPE;
      if (status == CHAKRA_OK || status == CHAKRA_ABSENT) {
        return integer;
      }
    }
    const ChakraProtoMsg::AttributeProto* found = detail::find_attribute(message(), name);
    return found == nullptr ? T{} : detail::attribute_value<T>(*found);
  }

  const ChakraProtoMsg::AttributeProto* find_other(const std::string& name) const {
    static constexpr std::array<const char*, 10> with_getter = {
        "is_cpu_op", "num_ops",  "tensor_size", "comm_type", "comm_priority",
        "comm_size", "comm_src", "comm_dst",    "comm_tag",  "pg_name"};
    for (const char* known : with_getter) {
      if (name == known) {
        return nullptr;
      }
    }
    return detail::find_attribute(message(), name);
  }

  const ChakraProtoMsg::Node& message() const {
    if (!message_) {
      message_ = std::make_shared<ChakraProtoMsg::Node>(table_->file().message(row_));
    }
    return *message_;
  }

  std::shared_ptr<detail::NodeTable> table_;
  std::uint32_t row_ = CHAKRA_NO_ROW;
  mutable std::shared_ptr<ChakraProtoMsg::Node> message_;
};

inline std::shared_ptr<ETFeederNode> detail::NodeTable::node(std::uint32_t row) {
  std::weak_ptr<ETFeederNode>& kept = handles_[row];
  std::shared_ptr<ETFeederNode> node = kept.lock();
  if (!node) {
    // Not make_shared: the memory must go when the last handle does, while the weak pointer is still in the table.
    node = std::shared_ptr<ETFeederNode>(new ETFeederNode(shared_from_this(), row));
    kept = node;
    forget_the_dead();
  }
  return node;
}

inline void detail::NodeTable::forget_the_dead() {
  if (handles_.size() < sweep_at_) {
    return;
  }
  for (auto entry = handles_.begin(); entry != handles_.end();) {
    entry = entry->second.expired() ? handles_.erase(entry) : std::next(entry);
  }
  sweep_at_ = std::max<std::size_t>(1024, 2 * handles_.size());
}

/// Hands out the nodes of one rank's trace, the smallest id that is ready first. Data dependencies only. A program gets
/// a node, runs it, and says freeChildrenNodes() and removeNode().
class ETFeeder {
 public:
  /// Reads the whole file, for reading only: records or JSON. Throws std::runtime_error if it is unreadable or
  /// malformed, or has data dependencies on absent nodes or of nodes on each other.
  ETFeeder(std::string filename)
      : table_(std::make_shared<detail::NodeTable>(filename)),
        feeder_(table_->file(), CHAKRA_DATA),
        freed_(table_->file().size()),
        removed_(table_->file().size()),
        known_(table_->file().size()) {}

  /// Makes a removed node known again, or one that is in no trace; the latter has neither parents nor children here.
  void addNode(std::shared_ptr<ETFeederNode> node) {
    const std::uint32_t row = file().find(node->id());
    if (row == CHAKRA_NO_ROW) {
      const std::uint64_t id = node->id();
      known_ += 1 - added_.count(id);
      added_[id] = std::move(node);
    } else if (removed_[row]) {
      removed_[row] = false;
      ++known_;
    }
  }
  /// Takes a node out of what lookupNode() finds and hasNodesToIssue() counts. It has no bearing on dependencies.
  void removeNode(std::uint64_t id) {
    const std::uint32_t row = file().find(id);
    if (row == CHAKRA_NO_ROW) {
      known_ -= added_.erase(id);
    } else if (!removed_[row]) {
      removed_[row] = true;
      --known_;
    }
  }
  /// Whether a node is ready, or any was not removed yet.
  bool hasNodesToIssue() const { return known_ != 0 || feeder_.ready() != 0 || !out_of_turn_.empty(); }

  /// Takes the ready node with the smallest id; null if none is ready now.
  std::shared_ptr<ETFeederNode> getNextIssuableNode() {
    const std::uint32_t row = feeder_.peek();
    if (!out_of_turn_.empty() && (row == CHAKRA_NO_ROW || *out_of_turn_.begin() < file().id(row))) {
      return issue_out_of_turn();
    }
    if (row == CHAKRA_NO_ROW) {
      return nullptr;
    }
    feeder_.take(row);
    return table_->node(row);
  }

  /// Makes a node issuable again. Also one whose parents have not run, if that is what the caller wants: it is then
  /// issued now and not once more when they have. Throws std::out_of_range if there is no such node.
  void pushBackIssuableNode(std::uint64_t id) {
    const std::uint32_t row = file().find(id);
    if (row == CHAKRA_NO_ROW) {
      (void)lookupNode(id);
      out_of_turn_.insert(id);
    } else if (!feeder_.try_push_back(row) && !is_ready(row)) {
      out_of_turn_.insert(id);
      if (!freed_[row]) {
        early_[row].issued = false;
      }
    }
  }

  /// The node, as long as it was not removed. Throws std::out_of_range if there is no such node.
  std::shared_ptr<ETFeederNode> lookupNode(std::uint64_t id) const {
    const std::uint32_t row = file().find(id);
    if (row == CHAKRA_NO_ROW) {
      const auto added = added_.find(id);
      if (added == added_.end()) {
        throw std::out_of_range("node " + std::to_string(id) + " is not in the trace");
      }
      return added->second;
    }
    if (removed_[row]) {
      throw std::out_of_range("node " + std::to_string(id) + " was removed");
    }
    return table_->node(row);
  }

  /// Says that a node has run: each child is one parent closer to ready. Once is enough, more does nothing. For a node
  /// whose own parents have not run, it takes effect when they have. Throws std::out_of_range if there is no such node.
  void freeChildrenNodes(std::uint64_t id) {
    const std::uint32_t row = file().find(id);
    if (row == CHAKRA_NO_ROW) {
      (void)lookupNode(id);
      return;
    }
    if (freed_[row]) {
      return;
    }
    if (feeder_.try_complete(row)) {
      freed_[row] = true;
    } else if (feeder_.try_take(row)) {
      complete(row);
      out_of_turn_.insert(id);  // it was not issued yet, and still will be
    } else {
      early_[row].freed = true;
    }
    settle_early();
  }

 private:
  /// What was done with a node before its parents had run.
  struct Early {
    bool issued = false;
    bool freed = false;
  };

  const detail::TraceFile& file() const { return table_->file(); }

  bool is_ready(std::uint32_t row) {
    const bool ready = feeder_.try_take(row);
    if (ready) {
      feeder_.push_back(row);
    }
    return ready;
  }

  void complete(std::uint32_t row) {
    feeder_.complete(row);
    freed_[row] = true;
  }

  std::shared_ptr<ETFeederNode> issue_out_of_turn() {
    const std::uint64_t id = *out_of_turn_.begin();
    out_of_turn_.erase(out_of_turn_.begin());
    const std::uint32_t row = file().find(id);
    if (row == CHAKRA_NO_ROW) {
      return added_.count(id) != 0 ? added_[id] : getNextIssuableNode();
    }
    const auto early = early_.find(row);
    if (early != early_.end()) {
      early->second.issued = true;
    }
    return table_->node(row);
  }

  /// Lets those of the early nodes whose parents have run by now catch up with the others.
  void settle_early() {
    bool again = !early_.empty();
    while (again) {
      again = false;
      for (auto entry = early_.begin(); entry != early_.end();) {
        if (!feeder_.try_take(entry->first)) {
          ++entry;
          continue;
        }
        again = again || entry->second.freed;
        catch_up(entry->first, entry->second);
        entry = early_.erase(entry);
      }
    }
  }

  /// `row` has just been taken.
  void catch_up(std::uint32_t row, Early early) {
    const std::uint64_t id = file().id(row);
    if (early.freed) {
      complete(row);
      if (!early.issued) {
        out_of_turn_.insert(id);
      }
    } else if (!early.issued) {
      feeder_.push_back(row);
      out_of_turn_.erase(id);
    }
  }

  std::shared_ptr<detail::NodeTable> table_;
  detail::TraceFeeder feeder_;
  std::vector<bool> freed_;
  std::vector<bool> removed_;
  std::size_t known_;  ///< nodes that were not removed
  std::map<std::uint64_t, std::shared_ptr<ETFeederNode>> added_;
  std::set<std::uint64_t> out_of_turn_;  ///< ids to be issued although the feeder does not have them as ready
  std::map<std::uint32_t, Early> early_;
};

}  // namespace Chakra
