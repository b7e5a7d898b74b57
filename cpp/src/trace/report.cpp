// SPDX-License-Identifier: MIT
#include "chakra_core/report.hpp"

#include <utility>

namespace chakra {

std::string_view to_string(ProblemKind kind) noexcept {
  switch (kind) {
    case ProblemKind::malformed_record:
      return "malformed_record";
    case ProblemKind::truncated_file:
      return "truncated_file";
    case ProblemKind::duplicate_id:
      return "duplicate_id";
    case ProblemKind::missing_parent:
      return "missing_parent";
    case ProblemKind::dependency_cycle:
      return "dependency_cycle";
    case ProblemKind::attribute_type:
      return "attribute_type";
    case ProblemKind::communication_without_size:
      return "communication_without_size";
    case ProblemKind::time_backwards:
      return "time_backwards";
    case ProblemKind::unknown_node_type:
      return "unknown_node_type";
    case ProblemKind::communication_on_cpu:
      return "communication_on_cpu";
    case ProblemKind::duplicate_dependency:
      return "duplicate_dependency";
  }
  return "unknown";
}

Severity severity(ProblemKind kind) noexcept {
  switch (kind) {
    case ProblemKind::malformed_record:
    case ProblemKind::truncated_file:
    case ProblemKind::duplicate_id:
    case ProblemKind::missing_parent:
    case ProblemKind::dependency_cycle:
    case ProblemKind::attribute_type:
    case ProblemKind::communication_without_size:
      return Severity::error;
    case ProblemKind::time_backwards:
    case ProblemKind::unknown_node_type:
    case ProblemKind::communication_on_cpu:
    case ProblemKind::duplicate_dependency:
      return Severity::warning;
  }
  return Severity::error;
}

void Report::add(Problem problem) {
  ++counts_[static_cast<std::size_t>(problem.kind)];
  if (problems_.size() < max_problems) {
    problems_.push_back(std::move(problem));
  }
}

void Report::merge(const Report& other) {
  for (std::size_t kind = 0; kind < counts_.size(); ++kind) {
    counts_[kind] += other.counts_[kind];
  }
  for (const Problem& problem : other.problems_) {
    if (problems_.size() >= max_problems) {
      break;
    }
    problems_.push_back(problem);
  }
}

std::uint64_t Report::errors() const noexcept {
  std::uint64_t sum = 0;
  for (std::size_t kind = 0; kind < counts_.size(); ++kind) {
    sum += severity(static_cast<ProblemKind>(kind)) == Severity::error ? counts_[kind] : 0;
  }
  return sum;
}

std::uint64_t Report::warnings() const noexcept {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : counts_) {
    sum += count;
  }
  return sum - errors();
}

}  // namespace chakra
