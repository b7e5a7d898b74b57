// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <cstdint>
#include <optional>

#include "chakra_core/feeder.hpp"

namespace chakra::detail {

/// What decides among ready nodes: the smallest comes first. Different for different nodes of a trace.
struct IssueKey {
  bool last = false;  ///< behind all others: the node lacks the attribute
  std::uint64_t value = 0;
  NodeId id = 0;

  auto operator<=>(const IssueKey&) const = default;
};

/// Makes the keys of nodes for an order other than by a comparator.
class IssueKeys {
 public:
  /// Throws ChakraError for an order that lacks its attribute or comparator.
  explicit IssueKeys(const IssueOrder& order);

  /// `place` is the row in the file. Throws ChakraError if the attribute is not an integer.
  IssueKey key(const Trace& trace, NodeIndex row, NodeIndex place) const;

 private:
  std::optional<std::int64_t> attribute(const Trace& trace, NodeIndex row) const;

  IssueOrder order_;
  std::optional<IntegerAttribute> column_;  ///< of the attribute, if it is one of those
};

}  // namespace chakra::detail
