// SPDX-License-Identifier: MIT
// What a feeder costs a node and a dependency, beside a bare walk over the same arrays. Prints one line a comparison:
// task, ratio, rival and note, with tabs between, for benchmarks/bench_feeder.py. Arguments: number of nodes, and a
// file for the first comparison.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <chakra_core/et_file.hpp>
#include <chakra_core/feeder.hpp>
#include <chakra_core/trace_builder.hpp>

namespace {

using chakra::NodeId;
using chakra::NodeIndex;

struct Graph {
  std::vector<NodeId> ids;
  std::vector<std::vector<NodeId>> parents;
};

chakra::TracePtr make_trace(const Graph& graph) {
  chakra::TraceBuilder builder;
  for (std::size_t i = 0; i < graph.ids.size(); ++i) {
    builder.add_node({.id = graph.ids[i], .data_deps = graph.parents[i]});
  }
  return builder.build();
}

/// Two or three parents a node, near it, as converted traces have them; ids ascend.
Graph typical(std::size_t nodes) {
  Graph graph;
  for (NodeId id = 0; id < nodes; ++id) {
    graph.ids.push_back(id);
    graph.parents.emplace_back();
    if (id > 0) {
      graph.parents.back() = {id - 1 - id % 5 % std::min<NodeId>(id, 4), id - std::min<NodeId>(id, 1 + id % 7)};
      if (id >= 10 && id % 5 != 4) {
        graph.parents.back().push_back(id - 1 - id % 4);
      }
    }
  }
  return graph;
}

Graph in_file_order(const Graph& graph, const std::vector<std::size_t>& order) {
  Graph moved;
  for (const std::size_t i : order) {
    moved.ids.push_back(graph.ids[i]);
    moved.parents.push_back(graph.parents[i]);
  }
  return moved;
}

std::vector<std::size_t> numbers(std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

void drain(chakra::Feeder& feeder) {
  while (const auto row = feeder.pop()) {
    feeder.complete(*row);
  }
}

/// Kahn's algorithm over the same children: no order among ready nodes, no checks.
class BareWalk {
 public:
  explicit BareWalk(const chakra::Trace& trace) : children_(trace.children()) {}

  std::size_t run() {
    std::vector<std::uint32_t> waiting(children_.offsets.size() - 1, 0);
    for (const NodeIndex child : children_.indices) {
      ++waiting[child];
    }
    std::vector<NodeIndex> ready;
    for (NodeIndex row = 0; row < waiting.size(); ++row) {
      if (waiting[row] == 0) {
        ready.push_back(row);
      }
    }
    std::size_t ran = 0;
    for (; !ready.empty(); ++ran) {
      const NodeIndex row = ready.back();
      ready.pop_back();
      for (const NodeIndex child : children_[row]) {
        if (--waiting[child] == 0) {
          ready.push_back(child);
        }
      }
    }
    return ran;
  }

 private:
  chakra::Adjacency children_;
};

double seconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

struct Times {
  double ours;
  double rival;
};

/// Best of runs in turn, so that a noisy machine disturbs both alike.
Times compare(const std::function<void()>& ours, const std::function<void()>& rival) {
  Times best{1e30, 1e30};
  for (int repeat = 0; repeat < 7; ++repeat) {
    best.ours = std::min(best.ours, seconds(ours));
    best.rival = std::min(best.rival, seconds(rival));
  }
  return best;
}

void print(const std::string& task, const std::string& rival, const Times& times, double units, const char* unit) {
  std::printf("%s\t%.3f\t%s\t%.1f ns a %s, against %.1f\n", task.c_str(), times.rival / times.ours, rival.c_str(),
              times.ours / units * 1e9, unit, times.rival / units * 1e9);
  std::fflush(stdout);
}

void drain_again(chakra::Feeder& feeder) {
  feeder.reset();
  drain(feeder);
}

void against_bare_walk(const chakra::TracePtr& trace) {
  chakra::Feeder feeder(trace);
  BareWalk walk(*trace);
  print("drain", "a bare walk without order", compare([&] { drain_again(feeder); }, [&] { walk.run(); }),
        static_cast<double>(trace->size()), "node");
  std::printf("memory\t%.3f\t16 bytes a node\t%.1f bytes a node\n",
              16.0 * static_cast<double>(trace->size()) / static_cast<double>(feeder.memory_bytes()),
              static_cast<double>(feeder.memory_bytes()) / static_cast<double>(trace->size()));
}

/// A new trace for each run, so that what a trace makes on first use is counted too.
double first_drain(const Graph& graph) {
  double best = 1e30;
  for (int repeat = 0; repeat < 3; ++repeat) {
    const auto trace = make_trace(graph);
    best = std::min(best, seconds([&] {
                      chakra::Feeder feeder(trace);
                      drain(feeder);
                    }));
  }
  return best;
}

void file_orders(const Graph& graph) {
  const std::size_t size = graph.ids.size();
  std::mt19937_64 random(1);
  std::vector<std::size_t> shuffled = numbers(size);
  std::shuffle(shuffled.begin(), shuffled.end(), random);
  std::vector<std::size_t> reversed = numbers(size);
  std::reverse(reversed.begin(), reversed.end());
  std::vector<std::size_t> forward = numbers(size);
  for (std::size_t i = 0; i < size / 100; ++i) {
    std::swap(forward[random() % size], forward[random() % size]);
  }
  const auto ordered = make_trace(graph);
  chakra::Feeder in_order(ordered);
  const double first = first_drain(graph);
  const auto one = [&](const char* name, const std::vector<std::size_t>& order) {
    const Graph moved = in_file_order(graph, order);
    const auto trace = make_trace(moved);
    chakra::Feeder feeder(trace);
    print(std::string("drain, ") + name, "nodes in order",
          compare([&] { drain_again(feeder); }, [&] { drain_again(in_order); }), static_cast<double>(size), "node");
    print(std::string("make a feeder and drain, ") + name, "nodes in order", {first_drain(moved), first},
          static_cast<double>(size), "node");
  };
  one("shuffled", shuffled);
  one("reversed", reversed);
  one("1% of pairs swapped", forward);
}

/// Against a chain, which has as many dependencies a node as these.
void wide_nodes(std::size_t nodes) {
  Graph children;
  Graph parents;
  for (NodeId id = 0; id <= 1'000'000; ++id) {
    children.ids.push_back(id);
    children.parents.push_back(id == 0 ? std::vector<NodeId>{} : std::vector<NodeId>{0});
  }
  for (NodeId id = 0; id <= 100'000; ++id) {
    parents.ids.push_back(id);
    parents.parents.emplace_back();
  }
  parents.parents.back().resize(100'000);
  std::iota(parents.parents.back().begin(), parents.parents.back().end(), NodeId{0});
  Graph chain;
  for (NodeId id = 0; id < nodes; ++id) {
    chain.ids.push_back(id);
    chain.parents.push_back(id == 0 ? std::vector<NodeId>{} : std::vector<NodeId>{id - 1});
  }
  const auto usual_trace = make_trace(chain);
  chakra::Feeder usual(usual_trace);
  const auto usual_dependencies = static_cast<double>(usual_trace->children().indices.size());
  const auto one = [&](const char* name, const Graph& wide) {
    const auto trace = make_trace(wide);
    chakra::Feeder feeder(trace);
    const auto dependencies = static_cast<double>(trace->children().indices.size());
    Times times = compare([&] { drain_again(feeder); }, [&] { drain_again(usual); });
    times.rival *= dependencies / usual_dependencies;
    print(name, "a chain, a dependency", times, dependencies, "dependency");
  };
  one("a node with 1,000,000 children", children);
  one("a node with 100,000 parents", parents);
}

void linear(const Graph& graph, const Graph& ten_times) {
  const auto small = make_trace(graph);
  const auto large = make_trace(ten_times);
  chakra::Feeder of_small(small);
  chakra::Feeder of_large(large);
  Times times = compare([&] { drain_again(of_large); }, [&] { drain_again(of_small); });
  times.rival *= static_cast<double>(large->size()) / static_cast<double>(small->size());
  print("drain, ten times the nodes", "so many times one", times, static_cast<double>(large->size()), "node");
}

}  // namespace

int main(int count, char** arguments) {
  const std::size_t nodes = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1'000'000;
  const Graph graph = typical(nodes);
  against_bare_walk(count > 2 ? chakra::load(arguments[2]) : make_trace(graph));
  file_orders(graph);
  wide_nodes(nodes);
  linear(graph, typical(nodes * 10));
  return 0;
}
