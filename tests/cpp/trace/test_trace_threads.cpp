// SPDX-License-Identifier: MIT
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "chakra_core/feeder.hpp"
#include "traces.hpp"

namespace chakra {
namespace {

/// A trace in layers: every node depends on some of the layer before.
TracePtr layered(NodeId layers, NodeId width) {
  TraceBuilder builder;
  for (NodeId id = 0; id < layers * width; ++id) {
    std::vector<NodeId> parents;
    if (id >= width) {
      parents = {id - width, id / width * width - 1};
    }
    const std::vector<Attribute> attributes = {make_int64("num_ops", static_cast<std::int64_t>(id)),
                                               make_string("note", "n" + std::to_string(id))};
    builder.add_node({.id = id, .name = "op", .type = NodeType::comp, .data_deps = parents, .attributes = attributes});
  }
  return builder.build();
}

/// Sums up everything that a reader can ask a trace for.
std::uint64_t read_everything(const Trace& trace) {
  std::uint64_t sum = validate(trace).errors() + find_cycles(trace).size();
  for (const auto kind : {DependencyKind::both, DependencyKind::data, DependencyKind::control}) {
    sum += trace.children(kind).indices.size();
  }
  for (NodeIndex row = 0; row < trace.size(); ++row) {
    sum += trace.ids()[row] + trace.name(row).size() + trace.attributes(row).size() + trace.record(row).size();
    sum += static_cast<std::uint64_t>(*trace.column(IntegerAttribute::num_ops).get(row)) + *trace.find(row);
  }
  return sum;
}

TEST(TraceThreads, ManyReadersSeeTheSame) {
  const TracePtr expected_from = layered(30, 20);
  const std::uint64_t expected = read_everything(*expected_from);
  const TracePtr trace = layered(30, 20);
  std::vector<std::uint64_t> sums(8);
  std::vector<std::thread> threads;
  for (auto& sum : sums) {
    threads.emplace_back([&sum, &trace] {
      (void)trace->memory_bytes();
      sum = read_everything(*trace);
      (void)trace->memory_bytes();
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  for (const std::uint64_t sum : sums) {
    EXPECT_EQ(sum, expected);
  }
}

TEST(TraceThreads, ManyFeedersShareOneTrace) {
  TracePtr trace = layered(30, 20);
  std::vector<std::vector<NodeIndex>> orders(6);
  std::vector<std::thread> threads;
  for (auto& order : orders) {
    threads.emplace_back([&order, trace] {
      Feeder feeder(trace);
      while (const auto row = feeder.pop()) {
        order.push_back(*row);
        feeder.complete(*row);
      }
    });
  }
  trace.reset();
  for (auto& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(orders[0].size(), 600U);
  for (const auto& order : orders) {
    EXPECT_EQ(order, orders[0]);
  }
}

}  // namespace
}  // namespace chakra
