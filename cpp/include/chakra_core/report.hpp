// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chakra_core/node_type.hpp"

namespace chakra {

/// What can be wrong with a trace.
enum class ProblemKind : std::uint8_t {
  malformed_record,            ///< bytes that are no protobuf message of the schema
  truncated_file,              ///< the file ends inside a record
  duplicate_id,                ///< two nodes with one id
  missing_parent,              ///< a dependency on a node that is not there
  dependency_cycle,            ///< nodes that wait for each other
  attribute_type,              ///< a string or float where an integer belongs, or a value out of range
  communication_without_size,  ///< a communication node that lacks what its type needs
  time_backwards,              ///< a node that starts before one of its parents starts
  unknown_node_type,           ///< a type that the schema does not name
  communication_on_cpu,        ///< a communication node flagged is_cpu_op
  duplicate_dependency,        ///< a parent listed more than once
};
inline constexpr std::size_t problem_kind_count = 11;

/// Stable machine name, e.g. "missing_parent".
std::string_view to_string(ProblemKind kind) noexcept;

enum class Severity : std::uint8_t { error, warning };

/// An error makes a trace unusable for feeding; a warning does not.
Severity severity(ProblemKind kind) noexcept;

struct Problem {
  ProblemKind kind;
  std::string message;
  std::vector<NodeId> nodes = {};            ///< the nodes concerned; for a cycle its members in order
  std::optional<std::uint64_t> record = {};  ///< record number in the file
  std::optional<std::uint64_t> offset = {};  ///< byte offset in the uncompressed stream
};

/// Every problem found, counted by kind. Full texts are kept for the first `max_problems`, so that
/// a crafted file cannot fill memory with them; the counts are always complete.
class Report {
 public:
  static constexpr std::size_t max_problems = 100'000;

  void add(Problem problem);
  void merge(const Report& other);

  const std::vector<Problem>& problems() const noexcept { return problems_; }
  std::uint64_t count(ProblemKind kind) const noexcept { return counts_[static_cast<std::size_t>(kind)]; }
  std::uint64_t errors() const noexcept;
  std::uint64_t warnings() const noexcept;
  /// No errors (warnings are allowed).
  bool ok() const noexcept { return errors() == 0; }

 private:
  std::vector<Problem> problems_;
  std::array<std::uint64_t, problem_kind_count> counts_{};
};

}  // namespace chakra
