// SPDX-License-Identifier: MIT
#include "collective/custom_collective.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "chakra_core/errors.hpp"

namespace chakra {

namespace {

using Tags = std::map<std::int64_t, std::uint32_t>;

/// Reads the traces of the members, and knows what to say of a node.
class Reader {
 public:
  Reader(const std::string& name, std::size_t members) : name_(name), members_(members) {}

  CustomCollective::Member member(std::size_t position, const TracePtr& trace) {
    position_ = position;
    trace_ = trace.get();
    if (trace == nullptr) fail("the trace is missing");
    CustomCollective::Member member;
    member.trace = trace;
    for (NodeIndex row = 0; row < trace->size(); ++row) member.steps.push_back(step(row));
    count_parents(member);
    check_order(member);
    return member;
  }

 private:
  [[noreturn]] void fail(const std::string& text) const {
    throw ConfigError(name_ + ", member " + std::to_string(position_) + ": " + text);
  }
  [[noreturn]] void fail(NodeIndex row, const std::string& text) const {
    fail("node " + std::to_string(trace_->ids()[row]) + ": " + text);
  }

  CustomStep step(NodeIndex row) {
    switch (trace_->types()[row]) {
      case NodeType::comm_send:
        return {CustomStep::Kind::send, peer(row, IntegerAttribute::comm_dst), tag(row), size(row)};
      case NodeType::comm_recv:
        return {CustomStep::Kind::receive, peer(row, IntegerAttribute::comm_src), tag(row), size(row)};
      case NodeType::comp:
        return {CustomStep::Kind::wait, 0, 0, trace_->duration_ns()[row]};
      case NodeType::invalid:
      case NodeType::metadata:
        return {};
      default:
        fail(row, "a collective is made of COMP, COMM_SEND and COMM_RECV nodes");
    }
  }

  std::uint32_t peer(NodeIndex row, IntegerAttribute attribute) const {
    const auto position = trace_->column(attribute).get(row);
    if (!position) fail(row, std::string(to_string(attribute)) + " is missing");
    if (*position < 0 || static_cast<std::uint64_t>(*position) >= members_) {
      fail(row, std::string(to_string(attribute)) + " is " + std::to_string(*position) +
                    ", but it counts members from 0, and there are " + std::to_string(members_));
    }
    return static_cast<std::uint32_t>(*position);
  }

  std::uint64_t size(NodeIndex row) const {
    const auto bytes = trace_->column(IntegerAttribute::comm_size).get(row);
    if (!bytes || *bytes < 0) fail(row, "comm_size is missing or negative");
    return static_cast<std::uint64_t>(*bytes);
  }

  std::uint32_t tag(NodeIndex row) {
    const std::int64_t tag = trace_->column(IntegerAttribute::comm_tag).get(row).value_or(0);
    const auto number = static_cast<std::uint32_t>(tags_.size() + 1);
    if (number > CustomCollective::most_tags) {
      fail(row, "there are more than " + std::to_string(CustomCollective::most_tags) + " different tags");
    }
    return tags_.emplace(tag, number).first->second;
  }

  void count_parents(CustomCollective::Member& member) const {
    member.parents.resize(trace_->size());
    for (NodeIndex row = 0; row < trace_->size(); ++row) {
      for (const NodeIndex child : trace_->children()[row]) ++member.parents[child];
    }
  }

  void check_order(const CustomCollective::Member& member) const {
    std::vector<std::uint32_t> missing = member.parents;
    std::vector<NodeIndex> ready;
    for (NodeIndex row = 0; row < missing.size(); ++row) {
      if (missing[row] == 0) ready.push_back(row);
    }
    for (std::size_t next = 0; next < ready.size(); ++next) {
      for (const NodeIndex child : trace_->children()[ready[next]]) {
        if (--missing[child] == 0) ready.push_back(child);
      }
    }
    if (ready.size() == missing.size()) return;
    const auto waiting = std::find_if(missing.begin(), missing.end(), [](std::uint32_t count) { return count > 0; });
    fail(static_cast<NodeIndex>(waiting - missing.begin()), "it waits for a cycle of dependencies");
  }

  const std::string& name_;
  std::size_t members_;
  Tags tags_;
  std::size_t position_ = 0;
  const Trace* trace_ = nullptr;
};

}  // namespace

CustomCollective::CustomCollective(std::string name, std::span<const TracePtr> traces) : name_(std::move(name)) {
  Reader reader(name_, traces.size());
  for (std::size_t position = 0; position < traces.size(); ++position) {
    members_.push_back(reader.member(position, traces[position]));
  }
}

}  // namespace chakra
