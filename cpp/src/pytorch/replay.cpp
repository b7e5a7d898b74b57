// SPDX-License-Identifier: MIT
#include "chakra_core/replay.hpp"

#include <algorithm>
#include <iomanip>
#include <sstream>
#include <utility>

#include "chakra_core/errors.hpp"

namespace chakra {

namespace {

constexpr std::uint64_t unexplained_wait_ns = 20'000;

class Player {
 public:
  Player(const Trace& trace, ReplayDependencies dependencies)
      : trace_(trace), both_(dependencies == ReplayDependencies::both), start_(trace.size(), 0) {}

  // Replayed start of every row, in topological order.
  const std::vector<std::uint64_t>& run() {
    const Adjacency data = trace_.data_deps();
    const Adjacency ctrl = trace_.ctrl_deps();
    const auto durations = trace_.duration_ns();
    const Adjacency children = trace_.children();
    std::vector<std::uint32_t> open(trace_.size(), 0);
    for (NodeIndex row = 0; row < trace_.size(); ++row) open[row] = static_cast<std::uint32_t>(parents(row).size());
    std::vector<NodeIndex> ready;
    for (NodeIndex row = 0; row < trace_.size(); ++row) {
      if (open[row] == 0) ready.push_back(row);
    }
    std::size_t played = 0;
    while (!ready.empty()) {
      const NodeIndex row = ready.back();
      ready.pop_back();
      ++played;
      for (const NodeIndex parent : data[row]) start_[row] = std::max(start_[row], start_[parent] + durations[parent]);
      if (both_) {
        for (const NodeIndex parent : ctrl[row])
          start_[row] = std::max(start_[row], start_[parent] + durations[parent]);
      }
      for (const NodeIndex child : children[row]) {
        const std::vector<NodeIndex>& of_child = parents(child);
        if (!std::binary_search(of_child.begin(), of_child.end(), row)) continue;
        if (--open[child] == 0) ready.push_back(child);
      }
    }
    if (played != trace_.size()) refuse_cycle();
    return start_;
  }

 private:
  // Distinct parents that count, ascending.
  const std::vector<NodeIndex>& parents(NodeIndex row) {
    const auto data = trace_.data_deps()[row];
    parents_.assign(data.begin(), data.end());
    if (both_) {
      const auto ctrl = trace_.ctrl_deps()[row];
      parents_.insert(parents_.end(), ctrl.begin(), ctrl.end());
    }
    std::sort(parents_.begin(), parents_.end());
    parents_.erase(std::unique(parents_.begin(), parents_.end()), parents_.end());
    return parents_;
  }

  [[noreturn]] void refuse_cycle() const {
    const std::vector<std::vector<NodeId>> cycles = find_cycles(trace_);
    std::string message = "the trace cannot be replayed: nodes wait for each other";
    std::vector<NodeId> nodes = cycles.empty() ? std::vector<NodeId>{} : cycles.front();
    for (std::size_t i = 0; i < std::min<std::size_t>(nodes.size(), 8); ++i) {
      message += (i == 0 ? ": " : " -> ") + std::to_string(nodes[i]);
    }
    throw DependencyError(message, std::move(nodes));
  }

  const Trace& trace_;
  bool both_;
  std::vector<std::uint64_t> start_;
  std::vector<NodeIndex> parents_;
};

void measure_starts(const Trace& trace, const std::vector<std::uint64_t>& start, ReplayReport& report) {
  const auto recorded = trace.start_ns();
  const auto& streams = trace.column(IntegerAttribute::stream);
  std::vector<std::uint64_t> errors(trace.size());
  for (NodeIndex row = 0; row < trace.size(); ++row) {
    errors[row] = start[row] > recorded[row] ? start[row] - recorded[row] : recorded[row] - start[row];
    if (const auto stream = streams.get(row)) {
      std::uint64_t& worst = report.start_error_by_stream[*stream];
      worst = std::max(worst, errors[row]);
    }
  }
  if (errors.empty()) return;
  std::sort(errors.begin(), errors.end());
  report.start_error_max_ns = errors.back();
  report.start_error_median_ns = errors[errors.size() / 2];
  report.start_error_p95_ns = errors[(errors.size() - 1) * 95 / 100];
}

void count_inversions(const Trace& trace, const std::vector<std::uint64_t>& start, ReplayReport& report) {
  const auto& streams = trace.column(IntegerAttribute::stream);
  std::map<std::int64_t, std::vector<NodeIndex>> rows;
  for (NodeIndex row = 0; row < trace.size(); ++row) {
    if (trace.is_cpu_op().value_or(row, 1) != 0) continue;
    if (const auto stream = streams.get(row)) rows[*stream].push_back(row);
  }
  for (auto& [stream, order] : rows) {
    std::stable_sort(order.begin(), order.end(),
                     [&trace](NodeIndex a, NodeIndex b) { return trace.start_ns()[a] < trace.start_ns()[b]; });
    for (std::size_t i = 1; i < order.size(); ++i) {
      if (start[order[i]] < start[order[i - 1]]) ++report.inversions;
    }
  }
}

void measure_unexplained(const Trace& trace, ReplayReport& report) {
  std::vector<std::uint8_t> is_lag(trace.string_count(), 0);
  for (std::uint32_t id = 0; id < is_lag.size(); ++id) is_lag[id] = trace.string(id) == "lag" ? 1 : 0;
  for (NodeIndex row = 0; row < trace.size(); ++row) {
    if (is_lag[trace.name_ids()[row]] == 0 || !trace.column(IntegerAttribute::stream).has(row)) continue;
    if (trace.duration_ns()[row] <= unexplained_wait_ns) continue;
    ++report.unexplained_device_waits;
    report.unexplained_device_wait_ns += trace.duration_ns()[row];
  }
}

}  // namespace

ReplayReport replay(const Trace& trace, ReplayDependencies dependencies) {
  ReplayReport report;
  report.nodes = trace.size();
  Player player(trace, dependencies);
  const std::vector<std::uint64_t>& start = player.run();
  for (NodeIndex row = 0; row < trace.size(); ++row) {
    report.recorded_ns = std::max(report.recorded_ns, trace.start_ns()[row] + trace.duration_ns()[row]);
    report.replayed_ns = std::max(report.replayed_ns, start[row] + trace.duration_ns()[row]);
  }
  if (report.recorded_ns > 0) {
    const auto recorded = static_cast<double>(report.recorded_ns);
    report.total_error = (static_cast<double>(report.replayed_ns) - recorded) / recorded;
  }
  measure_starts(trace, start, report);
  count_inversions(trace, start, report);
  measure_unexplained(trace, report);
  return report;
}

std::string ReplayReport::text() const {
  std::ostringstream out;
  out << "nodes: " << nodes << "\nrecorded: " << recorded_ns << " ns\nreplayed: " << replayed_ns << " ns ("
      << std::showpos << std::fixed << std::setprecision(4) << 100 * total_error << std::noshowpos
      << "%)\nstart error: median " << start_error_median_ns << ", p95 " << start_error_p95_ns << ", max "
      << start_error_max_ns << " ns\ninversions on streams: " << inversions
      << "\nunexplained device waits: " << unexplained_device_waits << ", " << unexplained_device_wait_ns << " ns\n";
  return out.str();
}

}  // namespace chakra
