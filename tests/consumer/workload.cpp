// SPDX-License-Identifier: MIT
// Calls the feeder as ASTRA-sim's workload layer does: looks at the free nodes after every event, issues what a
// resource is there for, takes and finishes by id. Time goes on by one event a step. Prints what ran.
#include <cstdint>
#include <cstdio>
#include <deque>
#include <exception>
#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "extern/graph_frontend/chakra/src/feeder_v3/et_feeder.h"

typedef ChakraProtoMsg::NodeType ChakraNodeType;
typedef ChakraProtoMsg::CollectiveCommType ChakraCollectiveCommType;

using Chakra::FeederV3::ETFeederNode;

class Resources {
 public:
  bool is_available(const std::shared_ptr<ETFeederNode> node) const { return busy_[lane(node)] == 0; }
  void occupy(const std::shared_ptr<ETFeederNode> node) { ++busy_[lane(node)]; }
  void release(const std::shared_ptr<ETFeederNode> node) { --busy_[lane(node)]; }
  bool idle() const { return busy_[0] + busy_[1] + busy_[2] == 0; }

 private:
  static std::size_t lane(const std::shared_ptr<ETFeederNode>& node) {
    if (node->is_cpu_op()) {
      return 0;
    }
    return node->type() == ChakraNodeType::COMP_NODE ? 1 : 2;
  }
  int busy_[3] = {0, 0, 0};
};

class Workload {
 public:
  explicit Workload(const std::string& path) : et_feeder_(new Chakra::FeederV3::ETFeeder(path)) {}
  ~Workload() { delete et_feeder_; }
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;

  void run() {
    issue_dep_free_nodes();
    while (!events_.empty()) {
      const uint64_t id = events_.front();
      events_.pop_front();
      call(id);
    }
    const auto& resolver = et_feeder_->getDependancyResolver();
    const bool finished =
        resolver.get_dependancy_free_nodes().empty() && resolver.get_ongoing_nodes().empty() && resources_.idle();
    std::cout << (finished ? "finished\n" : "stuck\n");
  }

 private:
  void issue_dep_free_nodes() {
    auto& resolver = et_feeder_->getDependancyResolver();
    auto free_nodes = resolver.get_dependancy_free_nodes();
    std::set<uint64_t> sorted;
    for (const auto node_id : free_nodes) {
      sorted.insert(node_id);
    }
    for (const auto node_id : sorted) {
      std::shared_ptr<ETFeederNode> node = et_feeder_->lookupNode(node_id);
      if (resources_.is_available(node)) {
        issue(node);
      }
    }
  }

  void issue(std::shared_ptr<ETFeederNode> node) {
    et_feeder_->getDependancyResolver().take_node(node->id());
    resources_.occupy(node);
    if (node->type() == ChakraNodeType::METADATA_NODE || node->type() == ChakraNodeType::INVALID_NODE) {
      std::cout << node->id() << " skipped " << node->get_inputs_values() << "\n";
      et_feeder_->getDependancyResolver().finish_node(node->id());
      resources_.release(node);
      return;
    }
    describe(node);
    events_.push_back(node->id());
  }

  void describe(std::shared_ptr<ETFeederNode> node) {
    std::cout << node->id() << " " << node->name();
    switch (node->type()) {
      case ChakraNodeType::COMP_NODE:
        std::cout << " runtime " << node->runtime() * 1000 << " ops " << node->num_ops<uint64_t>(0);
        break;
      case ChakraNodeType::COMM_COLL_NODE: {
        const auto type = static_cast<ChakraCollectiveCommType>(node->comm_type<uint64_t>());
        std::cout << " collective " << type << " size " << node->comm_size<uint64_t>() << " priority "
                  << node->comm_priority<uint32_t>() << " group '" << node->pg_name<std::string>("") << "' dims ";
        for (const bool involved : involved_dims(node)) {
          std::cout << involved;
        }
        break;
      }
      case ChakraNodeType::COMM_SEND_NODE:
        std::cout << " from " << node->comm_src<uint32_t>(rank_) << " to " << node->comm_dst<uint32_t>() << " tag "
                  << node->comm_tag<uint32_t>();
        break;
      default:
        break;
    }
    std::cout << "\n";
  }

  static std::vector<bool> involved_dims(std::shared_ptr<ETFeederNode> node) {
    std::vector<bool> dims;
    if (!node->has_attr("involved_dim")) {
      return std::vector<bool>(4, true);
    }
    const ChakraProtoMsg::AttributeProto& attr = node->get_attr_msg("involved_dim");
    if (attr.has_bool_list()) {
      const ChakraProtoMsg::BoolList& list = attr.bool_list();
      for (int i = 0; i < list.values_size(); ++i) {
        dims.push_back(list.values(i));
      }
    }
    return dims;
  }

  void call(uint64_t node_id) {
    std::shared_ptr<ETFeederNode> node = et_feeder_->lookupNode(node_id);
    resources_.release(node);
    et_feeder_->getDependancyResolver().finish_node(node_id);
    issue_dep_free_nodes();
  }

  Chakra::ETFeeder* et_feeder_;
  Resources resources_;
  std::deque<uint64_t> events_;
  uint32_t rank_ = 5;
};

int main(int argc, char** argv) {
  if (argc != 2) {
    return 2;
  }
  try {
    Workload(argv[1]).run();
  } catch (const std::runtime_error& error) {
    std::cout << "refused: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
