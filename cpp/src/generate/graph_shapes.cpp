// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include "chakra_core/trace_builder.hpp"
#include "generate/random_numbers.hpp"
#include "generate/testcase_maker.hpp"

namespace chakra::generate {

namespace {

/// Computations of one duration, by ids and parents alone.
class Computations {
 public:
  explicit Computations(const Parameters& parameters) {
    const Attribute on_device = make_bool("is_cpu_op", false);
    pattern_ = builder_.add_pattern(
        {.type = NodeType::comp, .duration_ns = parameters["duration_ns"], .attributes = {&on_device, 1}});
  }

  void add(NodeId id, std::span<const NodeId> parents = {}) {
    builder_.add_node_like(pattern_, id, "COMP_NODE", parents);
  }
  void add(NodeId id, std::initializer_list<NodeId> parents) { add(id, std::span(parents.begin(), parents.size())); }
  TracePtr build() { return builder_.build(); }

 private:
  TraceBuilder builder_;
  std::size_t pattern_ = 0;
};

/// A case of computations whose graph `fill` makes.
TestcaseMaker computations_case(std::string name, std::string description, std::vector<TestcaseParameter> parameters,
                                void (*fill)(Computations&, const Parameters&)) {
  parameters.push_back(duration_ns_parameter());
  return {{std::move(name), std::move(description), std::move(parameters)},
          true,
          [fill](const Parameters& given, std::uint64_t) {
            Computations graph(given);
            fill(graph, given);
            return graph.build();
          }};
}

void chain(Computations& graph, const Parameters& parameters) {
  graph.add(0);
  for (NodeId id = 1; id < parameters["nodes"]; ++id) {
    graph.add(id, {id - 1});
  }
}

void isolated(Computations& graph, const Parameters& parameters) {
  for (NodeId id = 0; id < parameters["nodes"]; ++id) {
    graph.add(id);
  }
}

void fan_out(Computations& graph, const Parameters& parameters) {
  graph.add(0);
  for (NodeId id = 1; id <= parameters["children"]; ++id) {
    graph.add(id, {0});
  }
}

void fan_in(Computations& graph, const Parameters& parameters) {
  std::vector<NodeId> parents(parameters["parents"]);
  for (NodeId id = 0; id < parents.size(); ++id) {
    graph.add(id);
    parents[id] = id;
  }
  graph.add(parents.size(), parents);
}

void diamonds(Computations& graph, const Parameters& parameters) {
  const std::uint64_t width = parameters["width"];
  std::vector<NodeId> middle(width);
  NodeId top = 0;
  graph.add(top);
  for (std::uint64_t diamond = 0; diamond < parameters["diamonds"]; ++diamond) {
    for (std::uint64_t place = 0; place < width; ++place) {
      middle[place] = top + 1 + place;
      graph.add(middle[place], {top});
    }
    top += width + 1;
    graph.add(top, middle);
  }
}

/// Children come before their parents in the file and have the smaller ids.
void forward_references(Computations& graph, const Parameters& parameters) {
  const NodeId last = parameters["nodes"] - 1;
  for (NodeId id = 0; id < last; ++id) {
    graph.add(id, {id + 1});
  }
  graph.add(last);
}

/// Ids go down in the file: a chain from the smallest id, written from its end.
void reverse_order(Computations& graph, const Parameters& parameters) {
  for (NodeId id = parameters["nodes"] - 1; id > 0; --id) {
    graph.add(id, {id - 1});
  }
  graph.add(0);
}

/// Different ids over all 64 bits: the largest, 0, and between them what an odd factor (a bijection) makes of the
/// place.
NodeId sparse_id(std::uint64_t place) {
  return place == 0 ? std::numeric_limits<NodeId>::max() : (place - 1) * 0x9e3779b97f4a7c15U;
}

void sparse_ids(Computations& graph, const Parameters& parameters) {
  graph.add(sparse_id(0));
  for (std::uint64_t place = 1; place < parameters["nodes"]; ++place) {
    graph.add(sparse_id(place), {sparse_id(place - 1)});
  }
}

/// Each node of the chain but the first names its parent as data and as control dependency of two nodes.
void ladder(Computations& graph, const Parameters& parameters) {
  graph.add(0);
  graph.add(1);
  for (NodeId id = 2; id + 1 < 2 * parameters["rungs"]; id += 2) {
    graph.add(id, {id - 2, id - 1});
    graph.add(id + 1, {id - 2, id - 1});
  }
}

void cycle(Computations& graph, const Parameters& parameters) {
  const std::uint64_t length = parameters["nodes"];
  for (NodeId id = 0; id < length; ++id) {
    graph.add(id, {(id + length - 1) % length});
  }
}

/// Levels of nodes; each has one parent in the level before it, and others in any earlier one.
class LayeredRandom {
 public:
  explicit LayeredRandom(const Parameters& parameters)
      : parameters_(parameters), random_(parameters["seed"]), width_(parameters["width"]) {}

  TracePtr make() {
    add_patterns();
    for (std::uint64_t level = 0; level < parameters_["levels"]; ++level) {
      for (std::uint64_t place = 0; place < width_; ++place) {
        add(level, level * width_ + place);
      }
    }
    return builder_.build();
  }

 private:
  void add_patterns() {
    const Attribute on_device = make_bool("is_cpu_op", false);
    for (std::size_t kind = 0; kind < computations_.size(); ++kind) {
      computations_[kind] = builder_.add_pattern({.type = NodeType::comp,
                                                  .duration_ns = parameters_["duration_ns"] * (kind + 1),
                                                  .attributes = {&on_device, 1}});
    }
    const std::array attributes{on_device,
                                make_int64("comm_type", static_cast<std::int64_t>(CollectiveType::all_reduce)),
                                make_int64("comm_size", static_cast<std::int64_t>(parameters_["comm_size"]))};
    collective_ = builder_.add_pattern({.type = NodeType::comm_coll, .attributes = attributes});
  }

  void add(std::uint64_t level, NodeId id) {
    choose_parents(level);
    const bool is_collective = random_.below(100) < parameters_["collective_percent"];
    const std::size_t pattern = is_collective ? collective_ : computations_[random_.below(computations_.size())];
    builder_.add_node_like(pattern, id, is_collective ? "ALL_REDUCE" : "COMP_NODE", parents_);
  }

  void choose_parents(std::uint64_t level) {
    parents_.clear();
    if (level == 0) {
      return;
    }
    parents_.push_back((level - 1) * width_ + random_.below(width_));
    for (std::uint64_t more = random_.below(parameters_["most_parents"]); more > 0; --more) {
      parents_.push_back(random_.below(level * width_));
    }
    std::ranges::sort(parents_);
    parents_.erase(std::unique(parents_.begin(), parents_.end()), parents_.end());
  }

  const Parameters& parameters_;
  RandomNumbers random_;
  std::uint64_t width_;
  TraceBuilder builder_;
  std::array<std::size_t, 4> computations_{};
  std::size_t collective_ = 0;
  std::vector<NodeId> parents_;
};

TestcaseMaker layered_random_case() {
  return {{"layered_random",
           "a random graph of levels, computations and all-reduces; the same for the same seed",
           {{"levels", 100, 1, 1 << 24, "levels"},
            {"width", 10, 1, 1 << 24, "nodes of a level"},
            {"most_parents", 4, 1, 1 << 20, "parents of a node, at most"},
            {"collective_percent", 10, 0, 100, "all-reduces of a hundred nodes, on average"},
            {"comm_size", 65536, 0, std::uint64_t{1} << 62, "bytes of an all-reduce"},
            {"duration_ns", 5000, 0, std::uint64_t{1} << 60, "shortest computation; others take 2 to 4 times as long"},
            {"seed", 0, 0, std::numeric_limits<std::uint64_t>::max(), "of the random numbers"}}},
          true,
          [](const Parameters& parameters, std::uint64_t) { return LayeredRandom(parameters).make(); }};
}

}  // namespace

std::vector<TestcaseMaker> graph_shape_cases() {
  constexpr std::uint64_t most = std::uint64_t{1} << 28;
  std::vector<TestcaseMaker> cases;
  cases.push_back(computations_case("chain", "each node waits for the one before it", {nodes_parameter(1000)}, &chain));
  cases.push_back(computations_case("isolated", "nodes without dependencies", {nodes_parameter(1000)}, &isolated));
  cases.push_back(computations_case("fan_out", "one node that all others wait for",
                                    {{"children", 1000, 0, most, "nodes that wait for it"}}, &fan_out));
  cases.push_back(computations_case("fan_in", "one node that waits for all others",
                                    {{"parents", 100000, 0, most, "nodes that it waits for"}}, &fan_in));
  cases.push_back(computations_case(
      "diamonds", "nodes of which several wait for one, and one for these, again and again",
      {{"diamonds", 100, 1, 1 << 24, "number of diamonds"}, {"width", 2, 1, 1 << 20, "nodes in the middle of each"}},
      &diamonds));
  cases.push_back(computations_case("ladder",
                                    "two nodes that both wait for the two before them, again and again: 2^rungs paths",
                                    {{"rungs", 100, 1, most / 2, "pairs of nodes"}}, &ladder));
  cases.push_back(computations_case("forward_references",
                                    "a chain in which each node waits for the next one in the file",
                                    {nodes_parameter(1000)}, &forward_references));
  cases.push_back(computations_case("reverse_order", "a chain that is written from its end, so that ids go down",
                                    {nodes_parameter(1000)}, &reverse_order));
  cases.push_back(computations_case("sparse_ids", "a chain of ids all over 64 bits, 0 and the largest among them",
                                    {nodes_parameter(1000)}, &sparse_ids));
  cases.push_back(computations_case("cycle", "nodes that wait for each other in a circle: not a valid trace",
                                    {nodes_parameter(3)}, &cycle));
  cases.push_back(layered_random_case());
  return cases;
}

}  // namespace chakra::generate
