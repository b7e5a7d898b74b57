// SPDX-License-Identifier: MIT
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "chakra_core/errors.hpp"
#include "chakra_core/trace.hpp"
#include "trace/cycles.hpp"

namespace chakra {

namespace {

std::string node_text(const Trace& trace, NodeIndex row) {
  std::string text = "node " + std::to_string(trace.ids()[row]);
  const std::string_view name = trace.name(row);
  return name.empty() ? text : text + " (" + std::string(name.substr(0, 80)) + ")";
}

class Validation {
 public:
  explicit Validation(const Trace& trace) : trace_(trace) {}

  Report run() {
    report_.merge(trace_.load_report());
    check_cycles();
    for (NodeIndex row = 0; row < trace_.size(); ++row) {
      check_type(row);
      check_communication(row);
      check_parents(row);
      check_cold_parts(row);
    }
    return std::move(report_);
  }

 private:
  void add(ProblemKind kind, NodeIndex row, const std::string& what, std::vector<NodeId> nodes) {
    report_.add({kind, node_text(trace_, row) + " " + what, std::move(nodes), {}, trace_.record_offset(row)});
  }

  void check_cycles() {
    constexpr auto all = std::numeric_limits<std::size_t>::max();
    for (const auto& cycle : detail::minimal_cycles(trace_, true, true, all)) {
      const char* const what = cycle.size() == 1 ? "node waits for itself: " : "nodes wait for each other: ";
      report_.add(
          {ProblemKind::dependency_cycle, what + detail::describe_cycle(trace_, cycle), detail::ids_of(trace_, cycle)});
    }
  }

  void check_type(NodeIndex row) {
    const auto type = static_cast<std::int32_t>(trace_.types()[row]);
    if (type < 0 || type > static_cast<std::int32_t>(NodeType::comm_coll)) {
      add(ProblemKind::unknown_node_type, row, "has type " + std::to_string(type) + ", which the schema does not name",
          {trace_.ids()[row]});
    }
  }

  bool has(NodeIndex row, IntegerAttribute attribute) const { return trace_.column(attribute).has(row); }

  void check_communication(NodeIndex row) {
    const NodeType type = trace_.types()[row];
    if (!is_communication(type)) {
      return;
    }
    std::string missing;
    const auto need = [&](IntegerAttribute attribute) {
      if (!has(row, attribute)) {
        missing += (missing.empty() ? "" : ", ") + std::string(to_string(attribute));
      }
    };
    const auto barrier = static_cast<std::int64_t>(CollectiveType::barrier);
    if (type != NodeType::comm_coll || trace_.column(IntegerAttribute::comm_type).value_or(row, -1) != barrier) {
      need(IntegerAttribute::comm_size);
    }
    if (type == NodeType::comm_coll) {
      need(IntegerAttribute::comm_type);
    } else {
      need(type == NodeType::comm_send ? IntegerAttribute::comm_dst : IntegerAttribute::comm_src);
    }
    if (!missing.empty()) {
      add(ProblemKind::communication_without_size, row, "is a " + to_string(type) + " without " + missing,
          {trace_.ids()[row]});
    }
    if (trace_.is_cpu_op().value_or(row, 0) != 0) {
      add(ProblemKind::communication_on_cpu, row, "is a " + to_string(type) + " flagged is_cpu_op",
          {trace_.ids()[row]});
    }
  }

  /// What loading leaves as bytes: attributes without a column, inputs and outputs.
  void check_cold_parts(NodeIndex row) {
    try {
      (void)trace_.attributes(row);
      (void)trace_.inputs(row);
      (void)trace_.outputs(row);
    } catch (const FormatError& error) {
      report_.add({ProblemKind::malformed_record, error.what(), {trace_.ids()[row]}, {}, error.location().offset});
    }
  }

  void check_parents(NodeIndex row) {
    parents_.clear();
    const auto take = [&](std::span<const NodeIndex> list) {
      const std::size_t before = parents_.size();
      parents_.insert(parents_.end(), list.begin(), list.end());
      const auto begin = parents_.begin() + static_cast<std::ptrdiff_t>(before);
      std::sort(begin, parents_.end());
      if (const auto twice = std::adjacent_find(begin, parents_.end()); twice != parents_.end()) {
        const NodeId id = trace_.ids()[*twice];
        add(ProblemKind::duplicate_dependency, row, "lists parent " + std::to_string(id) + " more than once",
            {trace_.ids()[row], id});
      }
    };
    take(trace_.data_deps()[row]);
    take(trace_.ctrl_deps()[row]);
    const std::uint64_t start = trace_.start_ns()[row];
    for (const NodeIndex parent : parents_) {
      // A start of 0 means that the file has none.
      if (start != 0 && trace_.start_ns()[parent] > start) {
        add(ProblemKind::time_backwards, row,
            "starts at " + std::to_string(start) + " ns, before its parent " + std::to_string(trace_.ids()[parent]) +
                " at " + std::to_string(trace_.start_ns()[parent]) + " ns",
            {trace_.ids()[row], trace_.ids()[parent]});
        break;
      }
    }
  }

  const Trace& trace_;
  Report report_;
  std::vector<NodeIndex> parents_;
};

}  // namespace

Report validate(const Trace& trace) { return Validation(trace).run(); }

}  // namespace chakra
