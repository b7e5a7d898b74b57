// SPDX-License-Identifier: MIT
#pragma once

// WrapperNode of the Chakra repository: the older feeder, with a cursor on one node, over .et and .json files alike.
// C++17, headers only; link chakra_core::astra_sim.

#include <cstdint>
#include <memory>
#include <queue>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "chakra_core/astra_sim/feeder.hpp"

enum format { Protobuf, JSON };

/// A node of a JSON file: a value, whose getters say 0 or "" for what is absent.
class JSONNode {
 public:
  JSONNode() = default;
  explicit JSONNode(std::shared_ptr<Chakra::ETFeederNode> node) : node_(std::move(node)) {}

  std::uint64_t id() const { return node().id(); }
  std::string name() const { return node().name(); }
  int type() const { return static_cast<int>(node().type()); }
  bool isCPUOp() const { return node().is_cpu_op(); }
  std::uint64_t getRuntime() const { return node().runtime(); }
  std::uint64_t getNumOps() const { return node().num_ops(); }
  std::uint64_t getTensorSize() const { return node().tensor_size(); }
  std::int64_t getCommType() const { return node().comm_type(); }
  std::uint32_t getCommPriority() const { return node().comm_priority(); }
  std::uint64_t getCommSize() const { return node().comm_size(); }
  std::uint32_t getCommSrc() const { return node().comm_src(); }
  std::uint32_t getCommDst() const { return node().comm_dst(); }
  std::uint32_t getCommTag() const { return node().comm_tag(); }
  std::vector<JSONNode> getChildren() const {
    std::vector<JSONNode> children;
    for (auto& child : node().getChildren()) {
      children.emplace_back(std::move(child));
    }
    return children;
  }
  bool operator==(const JSONNode& other) const { return node_ == other.node_; }

 private:
  friend class WrapperNode;

  Chakra::ETFeederNode& node() const {
    if (!node_) {
      throw std::runtime_error("no node: ask for the next issuable one, or look one up");
    }
    return *node_;
  }

  std::shared_ptr<Chakra::ETFeederNode> node_;
};

/// A feeder and the node that it is at. Copies share the feeder. Whatever needs a file or a node and has none throws
/// std::runtime_error.
class WrapperNode {
 public:
  WrapperNode() = default;
  WrapperNode(std::string filename) { createWrapper(std::move(filename)); }

  /// Opens a file; which of the two forms it has is told by its content. Throws as Chakra::ETFeeder does.
  void createWrapper(std::string filename) {
    format_ = filename.find(".json") != std::string::npos ? JSON : Protobuf;
    feeder_ = std::make_shared<Chakra::ETFeeder>(std::move(filename));
    at_ = JSONNode();
  }
  /// Closes it.
  void releaseMemory() {
    feeder_.reset();
    at_ = JSONNode();
  }

  std::shared_ptr<Chakra::ETFeederNode> getProtobufNode() { return at_.node_; }
  JSONNode getJSONNode() { return at_; }
  format getFormat() const { return format_; }

  void addNode(JSONNode node) { feeder().addNode(node.node_); }
  void addNode(std::shared_ptr<Chakra::ETFeederNode> node) { feeder().addNode(std::move(node)); }
  void removeNode(std::uint64_t id) { feeder().removeNode(id); }
  void pushBackIssuableNode(std::uint64_t id) { feeder().pushBackIssuableNode(id); }
  void freeChildrenNodes(std::uint64_t id) { feeder().freeChildrenNodes(id); }
  bool hasNodesToIssue() { return feeder().hasNodesToIssue(); }
  /// Goes to the next issuable node; isValidNode() says whether there is one now.
  void getNextIssuableNode() { at_ = JSONNode(feeder().getNextIssuableNode()); }
  /// Goes to a node. Throws std::out_of_range if there is none of this id.
  void lookupNode(std::uint64_t id) { at_ = JSONNode(feeder().lookupNode(id)); }
  bool isValidNode() { return at_.node_ != nullptr; }

  /// A queue of nodes for the caller's use.
  void push_to_queue() { queue_.push(at_); }
  bool is_queue_empty() { return queue_.empty(); }
  void queue_front() {
    if (queue_.empty()) {
      throw std::runtime_error("the queue is empty");
    }
    at_ = queue_.front();
  }
  void pop_from_queue() {
    if (queue_.empty()) {
      throw std::runtime_error("the queue is empty");
    }
    queue_.pop();
  }

  std::uint64_t getNodeID() { return at_.id(); }
  std::string getNodeName() { return at_.name(); }
  int getNodeType() { return at_.type(); }
  bool isCPUOp() { return at_.isCPUOp(); }
  std::uint64_t getRuntime() { return at_.getRuntime(); }
  std::uint64_t getNumOps() { return at_.getNumOps(); }
  std::uint64_t getTensorSize() { return at_.getTensorSize(); }
  std::int64_t getCommType() { return at_.getCommType(); }
  std::uint32_t getCommPriority() { return at_.getCommPriority(); }
  std::uint64_t getCommSize() { return at_.getCommSize(); }
  std::uint32_t getCommSrc() { return at_.getCommSrc(); }
  std::uint32_t getCommDst() { return at_.getCommDst(); }
  std::uint32_t getCommTag() { return at_.getCommTag(); }

  void getChildren(std::vector<std::shared_ptr<Chakra::ETFeederNode>>& children) {
    children = at_.node().getChildren();
  }
  void getChildren(std::vector<JSONNode>& children) { children = at_.getChildren(); }

 private:
  Chakra::ETFeeder& feeder() {
    if (!feeder_) {
      throw std::runtime_error("no file is open: createWrapper() opens one");
    }
    return *feeder_;
  }

  format format_ = Protobuf;
  std::shared_ptr<Chakra::ETFeeder> feeder_;
  JSONNode at_;
  std::queue<JSONNode> queue_;
};
