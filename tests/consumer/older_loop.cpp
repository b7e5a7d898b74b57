// SPDX-License-Identifier: MIT
// Calls the feeder as programs of the Chakra repository's own one do: issues what there is a place for, pushes the rest
// back, frees the children of what is done and removes it. Prints what ran.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "et_feeder.h"
#include "wrapper_node.h"

class Program {
 public:
  explicit Program(const std::string& path) : feeder_(std::make_unique<Chakra::ETFeeder>(path)) {}

  void run() {
    issue_dep_free_nodes();
    while (!in_flight_.empty()) {
      const auto node_id = in_flight_.front();
      in_flight_.pop();
      const std::shared_ptr<Chakra::ETFeederNode> node = feeder_->lookupNode(node_id);
      (node->is_cpu_op() ? cpu_busy_ : gpu_busy_) = false;
      feeder_->freeChildrenNodes(node_id);
      issue_dep_free_nodes();
      feeder_->removeNode(node_id);
    }
    std::cout << (feeder_->hasNodesToIssue() ? "stuck\n" : "finished\n");
  }

 private:
  void issue_dep_free_nodes() {
    std::queue<std::shared_ptr<Chakra::ETFeederNode>> push_back;
    std::shared_ptr<Chakra::ETFeederNode> node = feeder_->getNextIssuableNode();
    while (node != nullptr) {
      bool& busy = node->is_cpu_op() ? cpu_busy_ : gpu_busy_;
      if (!busy) {
        busy = true;
        std::cout << node->id() << " " << node->name() << " runtime " << node->runtime() << " children "
                  << node->getChildren().size() << " parents " << node->getChakraNode()->data_deps_size() << "\n";
        in_flight_.push(node->id());
      } else {
        push_back.push(node);
      }
      node = feeder_->getNextIssuableNode();
    }
    for (; !push_back.empty(); push_back.pop()) {
      feeder_->pushBackIssuableNode(push_back.front()->id());
    }
  }

  std::unique_ptr<Chakra::ETFeeder> feeder_;
  std::queue<uint64_t> in_flight_;
  bool cpu_busy_ = false;
  bool gpu_busy_ = false;
};

static void run_wrapper(const std::string& path) {
  WrapperNode wrapper;
  wrapper.createWrapper(path);
  uint64_t count = 0;
  while (wrapper.hasNodesToIssue()) {
    wrapper.getNextIssuableNode();
    if (!wrapper.isValidNode()) {
      break;
    }
    const uint64_t id = wrapper.getNodeID();
    wrapper.freeChildrenNodes(id);
    wrapper.removeNode(id);
    ++count;
  }
  std::cout << "wrapper " << count << "\n";
  wrapper.releaseMemory();
}

int main(int argc, char** argv) {
  if (argc != 2) {
    return 2;
  }
  try {
    Program(argv[1]).run();
    run_wrapper(argv[1]);
  } catch (const std::runtime_error& error) {
    std::cout << "refused: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
