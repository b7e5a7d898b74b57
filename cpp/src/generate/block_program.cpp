// SPDX-License-Identifier: MIT
#include "chakra_core/block_program.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "chakra_core/errors.hpp"
#include "chakra_core/trace_builder.hpp"

namespace chakra {

namespace {

/// Far more than any device has streams; keeps what is remembered for each in bounds.
constexpr std::uint32_t most_queues = 1U << 16;

std::string place_of(const BlockProgram& program, std::size_t placement) {
  return "block program, placement " + std::to_string(placement) + " (" + program.label[placement] + ")";
}

void check_block(const Block& block, std::size_t number) {
  for (std::size_t place = 0; place < block.nodes.size(); ++place) {
    const BlockNode& node = block.nodes[place];
    const bool parents_fit = std::ranges::all_of(node.parents, [&](std::uint32_t parent) { return parent < place; });
    const bool inputs_fit =
        std::ranges::all_of(node.inputs, [&](std::uint32_t input) { return input < block.num_inputs; });
    if (!parents_fit || !inputs_fit) {
      throw ChakraError("block program, block " + std::to_string(number) + ", node " + node.name + ": " +
                        (parents_fit ? "an input that the block does not have" : "a parent that is no earlier node"));
    }
    if (node.queue.value_or(0) >= most_queues) {
      throw ChakraError("block program, block " + std::to_string(number) + ", node " + node.name + ": queue " +
                        std::to_string(*node.queue) + " of at most " + std::to_string(most_queues));
    }
  }
}

/// First ids of all placements, and the number of nodes.
std::vector<NodeId> first_ids(const BlockProgram& program) {
  if (program.label.size() != program.block.size()) {
    throw ChakraError("block program: " + std::to_string(program.block.size()) + " placements have " +
                      std::to_string(program.label.size()) + " labels");
  }
  std::vector<NodeId> first{0};
  first.reserve(program.block.size() + 1);
  for (std::size_t placement = 0; placement < program.block.size(); ++placement) {
    if (program.block[placement] >= program.blocks.size()) {
      throw ChakraError(place_of(program, placement) + ": there is no block " +
                        std::to_string(program.block[placement]));
    }
    first.push_back(first.back() + program.blocks[program.block[placement]].nodes.size());
  }
  return first;
}

void check_link_lists(const BlockProgram& program) {
  std::uint64_t inputs = 0;
  for (const std::uint32_t block : program.block) {
    inputs += program.blocks[block].num_inputs;
  }
  const std::vector<std::uint64_t>& offsets = program.link_offsets;
  const bool fits = offsets.size() == inputs + 1 && offsets.front() == 0 && std::ranges::is_sorted(offsets) &&
                    offsets.back() == program.link_placement.size() &&
                    program.link_placement.size() == program.link_node.size();
  if (!fits) {
    throw ChakraError("block program: the links do not fit the " + std::to_string(inputs) +
                      " inputs of all placements");
  }
}

/// Goes through a program once and adds its nodes to a builder.
class ProgramRun {
 public:
  ProgramRun(const BlockProgram& program, std::span<const RankValue> values)
      : program_(program), values_(values), first_(first_ids(program)) {
    for (std::size_t number = 0; number < program.blocks.size(); ++number) {
      check_block(program.blocks[number], number);
      add_patterns(program.blocks[number]);
    }
    check_link_lists(program);
  }

  TracePtr trace() {
    for (std::size_t placement = 0; placement < program_.block.size(); ++placement) {
      add(placement);
    }
    return builder_.build();
  }

 private:
  void add_patterns(const Block& block) {
    first_pattern_.push_back(patterns_);
    for (const BlockNode& node : block.nodes) {
      std::vector<Attribute> attributes = node.attributes;
      for (const RankAttribute& attribute : node.rank_attributes) {
        attributes.push_back(rank_attribute(node, attribute));
      }
      patterns_ =
          1 + builder_.add_pattern({.type = node.type, .duration_ns = node.duration_ns, .attributes = attributes});
      if (node.queue) {
        last_of_queue_.resize(std::max<std::size_t>(last_of_queue_.size(), std::size_t{*node.queue} + 1), nobody);
      }
    }
  }

  Attribute rank_attribute(const BlockNode& node, const RankAttribute& attribute) const {
    if (attribute.value >= values_.size()) {
      throw ChakraError("block program, node " + node.name + ": attribute " + attribute.name + " is value " +
                        std::to_string(attribute.value) + " of a rank that has " + std::to_string(values_.size()));
    }
    const RankValue& value = values_[attribute.value];
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      return make_int64(attribute.name, *number);
    }
    return make_string(attribute.name, std::get<std::string>(value));
  }

  void add(std::size_t placement) {
    const std::size_t block = program_.block[placement];
    const std::vector<BlockNode>& nodes = program_.blocks[block].nodes;
    name_ = program_.label[placement];
    const std::size_t label_size = name_.size();
    for (std::size_t place = 0; place < nodes.size(); ++place) {
      const BlockNode& node = nodes[place];
      const NodeId id = first_[placement] + place;
      name_.resize(label_size);
      name_ += node.name;
      collect_parents(placement, node);
      builder_.add_node_like(first_pattern_[block] + place, id, name_, data_, before_in_queue(node, id));
    }
    input_ += program_.blocks[block].num_inputs;
  }

  void collect_parents(std::size_t placement, const BlockNode& node) {
    data_.clear();
    for (const std::uint32_t parent : node.parents) {
      data_.push_back(first_[placement] + parent);
    }
    for (const std::uint32_t input : node.inputs) {
      for (std::uint64_t link = program_.link_offsets[input_ + input]; link < program_.link_offsets[input_ + input + 1];
           ++link) {
        add_once(linked(placement, link));
      }
    }
  }

  NodeId linked(std::size_t placement, std::uint64_t link) const {
    const std::size_t source = program_.link_placement[link];
    const std::size_t node = program_.link_node[link];
    if (source >= placement || node >= first_[source + 1] - first_[source]) {
      throw ChakraError(place_of(program_, placement) + ": an input is connected to node " + std::to_string(node) +
                        " of placement " + std::to_string(source) + ", which is no earlier node");
    }
    return first_[source] + node;
  }

  void add_once(NodeId parent) {
    if (std::ranges::find(data_, parent) == data_.end()) {
      data_.push_back(parent);
    }
  }

  std::span<const NodeId> before_in_queue(const BlockNode& node, NodeId id) {
    if (!node.queue) {
      return {};
    }
    control_ = std::exchange(last_of_queue_[*node.queue], id);
    if (control_ == nobody || std::ranges::find(data_, control_) != data_.end()) {
      return {};
    }
    return {&control_, 1};
  }

  static constexpr NodeId nobody = std::numeric_limits<NodeId>::max();

  const BlockProgram& program_;
  std::span<const RankValue> values_;
  std::vector<NodeId> first_;
  TraceBuilder builder_;
  std::vector<std::size_t> first_pattern_;  ///< of each block
  std::size_t patterns_ = 0;
  std::vector<NodeId> last_of_queue_;
  std::uint64_t input_ = 0;  ///< of all placements, where those of the current one begin
  std::string name_;
  std::vector<NodeId> data_;
  NodeId control_ = nobody;
};

}  // namespace

std::uint64_t size(const BlockProgram& program) { return first_ids(program).back(); }

TracePtr build_trace(const BlockProgram& program, std::span<const RankValue> values) {
  return ProgramRun(program, values).trace();
}

}  // namespace chakra
