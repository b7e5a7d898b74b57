// SPDX-License-Identifier: MIT
// embed_feeder [--flops N] [--memory B] [--bandwidth B] [--latency NS] RANK0.et RANK1.et ...
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <chakra_core/et_file.hpp>

#include "simulator.hpp"

namespace {

double number(const std::string& text) {
  std::size_t used = 0;
  const double value = std::stod(text, &used);
  if (used != text.size() || !(value > 0)) {
    throw std::invalid_argument(text);
  }
  return value;
}

/// Takes the options out of the arguments; what is left are paths.
std::vector<std::string> read_options(std::vector<std::string> arguments, Machine& machine) {
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& option = arguments[i];
    if (option.rfind("--", 0) != 0) {
      paths.push_back(option);
      continue;
    }
    if (i + 1 == arguments.size()) {
      throw std::invalid_argument(option);
    }
    const double value = number(arguments[++i]);
    if (option == "--flops") {
      machine.flops = value;
    } else if (option == "--memory") {
      machine.memory_bandwidth = value;
    } else if (option == "--bandwidth") {
      machine.link_bandwidth = value;
    } else if (option == "--latency") {
      machine.latency_ns = static_cast<std::uint64_t>(value);
    } else {
      throw std::invalid_argument(option);
    }
  }
  return paths;
}

void print(const std::vector<RankResult>& results) {
  std::printf("%4s %8s %14s %14s %14s\n", "rank", "nodes", "finish ns", "compute ns", "comm ns");
  for (std::size_t rank = 0; rank < results.size(); ++rank) {
    const RankResult& result = results[rank];
    std::printf("%4zu %8llu %14llu %14llu %14llu\n", rank, static_cast<unsigned long long>(result.nodes),
                static_cast<unsigned long long>(result.finish_ns), static_cast<unsigned long long>(result.compute_ns),
                static_cast<unsigned long long>(result.comm_ns));
  }
}

}  // namespace

int main(int argc, char** argv) {
  Machine machine;
  std::vector<std::string> paths;
  try {
    paths = read_options({argv + 1, argv + argc}, machine);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "embed_feeder: cannot use '%s'\n", error.what());
    return 2;
  }
  if (paths.empty()) {
    std::fputs("usage: embed_feeder [--flops N] [--memory B] [--bandwidth B] [--latency NS] RANK0.et ...\n", stderr);
    return 2;
  }
  try {
    std::vector<chakra::TracePtr> traces;
    for (const std::string& path : paths) {
      traces.push_back(chakra::load(path));
    }
    print(Simulator(traces, machine).run());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "embed_feeder: %s\n", error.what());
    return 1;
  }
  return 0;
}
