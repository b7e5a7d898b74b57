// SPDX-License-Identifier: MIT
#include "feeder/issue_key.hpp"

#include <limits>
#include <string>
#include <variant>

#include "chakra_core/errors.hpp"

namespace chakra::detail {

namespace {

/// Unsigned numbers in the order of the signed ones.
std::uint64_t without_sign(std::int64_t value) noexcept {
  return static_cast<std::uint64_t>(value) ^ (std::uint64_t{1} << 63);
}

std::optional<IntegerAttribute> column_of(const std::string& name) {
  for (std::size_t i = 0; i < integer_attribute_count; ++i) {
    if (name == to_string(static_cast<IntegerAttribute>(i))) {
      return static_cast<IntegerAttribute>(i);
    }
  }
  return std::nullopt;
}

}  // namespace

IssueKeys::IssueKeys(const IssueOrder& order) : order_(order) {
  if (order.by == IssueOrder::By::comparator && !order.before) {
    throw ChakraError("IssueOrder::By::comparator needs a comparator in `before`");
  }
  if (order.by == IssueOrder::By::attribute) {
    if (order.attribute.empty()) {
      throw ChakraError("IssueOrder::By::attribute needs the name of an attribute, e.g. comm_priority");
    }
    column_ = column_of(order.attribute);
  }
}

IssueKey IssueKeys::key(const Trace& trace, NodeIndex row, NodeIndex place) const {
  const NodeId id = trace.ids()[row];
  switch (order_.by) {
    case IssueOrder::By::id:
    case IssueOrder::By::comparator:
      break;
    case IssueOrder::By::start_time:
      return {false, trace.start_ns()[row], id};
    case IssueOrder::By::file:
      return {false, place, id};
    case IssueOrder::By::attribute:
      const auto value = attribute(trace, row);
      if (!value) {
        return {true, 0, id};
      }
      return {false, order_.smallest_first ? without_sign(*value) : ~without_sign(*value), id};
  }
  return {false, id, id};
}

std::optional<std::int64_t> IssueKeys::attribute(const Trace& trace, NodeIndex row) const {
  if (column_) {
    return trace.column(*column_).get(row);
  }
  const auto found = trace.attribute(row, order_.attribute);
  if (!found || found->kind == AttributeKind::none) {
    return std::nullopt;
  }
  if (const auto* number = std::get_if<std::int64_t>(&found->value)) {
    return *number;
  }
  if (const auto* number = std::get_if<std::uint64_t>(&found->value)) {
    if (*number <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return static_cast<std::int64_t>(*number);
    }
  }
  if (const auto* flag = std::get_if<bool>(&found->value)) {
    return *flag ? 1 : 0;
  }
  throw ChakraError("node " + std::to_string(trace.ids()[row]) + ": attribute " + order_.attribute +
                    " is no integer up to 2^63 - 1, which an issue order needs");
}

}  // namespace chakra::detail
