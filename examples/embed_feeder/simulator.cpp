// SPDX-License-Identifier: MIT
#include "simulator.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

using chakra::CollectiveType;
using chakra::IntegerAttribute;
using chakra::NodeIndex;
using chakra::NodeType;
using chakra::Trace;

namespace {

std::uint64_t nanoseconds(double seconds) { return static_cast<std::uint64_t>(std::llround(seconds * 1e9)); }

std::uint64_t attribute(const Trace& trace, NodeIndex row, IntegerAttribute which, std::uint64_t fallback) {
  return static_cast<std::uint64_t>(trace.column(which).value_or(row, static_cast<std::int64_t>(fallback)));
}

std::string group_of(const Trace& trace, NodeIndex row) {
  const auto name = trace.pg_name().get(row);
  return name ? std::string(trace.string(*name)) : "all";
}

}  // namespace

Simulator::Simulator(const std::vector<chakra::TracePtr>& traces, const Machine& machine) : machine_(machine) {
  for (const auto& trace : traces) {
    std::set<std::string> groups;
    for (NodeIndex row = 0; row < trace->size(); ++row) {
      if (trace->types()[row] == NodeType::comm_coll) {
        groups.insert(group_of(*trace, row));
      }
    }
    for (const std::string& group : groups) {
      ++group_sizes_[group];
    }
    // All ranks could share one trace: a feeder costs its counters only.
    ranks_.emplace_back(trace);
  }
}

std::vector<RankResult> Simulator::run() {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    queue_ready_nodes(rank);
  }
  while (!events_.empty()) {
    const Event event = events_.top();
    events_.pop();
    now_ = event.time;
    finish(event);
  }
  std::vector<RankResult> results;
  for (const Rank& rank : ranks_) {
    if (!rank.feeder.done()) {
      throw std::runtime_error(stuck());
    }
    results.push_back(rank.result);
  }
  return results;
}

/// Takes whatever became ready, in the feeder's order, and puts it where it is to run.
void Simulator::queue_ready_nodes(std::size_t rank) {
  chakra::Feeder& feeder = ranks_[rank].feeder;
  while (const auto row = feeder.pop()) {
    ranks_[rank].waiting[lane_of(feeder.trace(), *row)].push_back(*row);
  }
  start_waiting_nodes(rank);
}

void Simulator::start_waiting_nodes(std::size_t rank) {
  Rank& it = ranks_[rank];
  for (std::size_t lane = 0; lane < lane_count; ++lane) {
    if (!it.busy[lane] && !it.waiting[lane].empty()) {
      const NodeIndex row = it.waiting[lane].front();
      it.waiting[lane].pop_front();
      it.busy[lane] = true;
      start(rank, row);
    }
  }
}

void Simulator::start(std::size_t rank, NodeIndex row) {
  Rank& it = ranks_[rank];
  const Trace& trace = it.feeder.trace();
  const auto bytes = static_cast<double>(attribute(trace, row, IntegerAttribute::comm_size, 0));
  const std::uint64_t tag = attribute(trace, row, IntegerAttribute::comm_tag, 0);
  const auto pair_key = [&](std::uint64_t from, std::uint64_t to) {
    return "message " + std::to_string(from) + " to " + std::to_string(to) + " tag " + std::to_string(tag);
  };
  switch (trace.types()[row]) {
    case NodeType::comm_coll: {
      const std::string group = group_of(trace, row);
      const auto type = static_cast<CollectiveType>(trace.column(IntegerAttribute::comm_type).value_or(row, 0));
      const std::string key = "collective " + std::to_string(it.collectives[group]++) + " of group " + group;
      meet(key, group_sizes_[group], rank, row, collective_time(type, group_sizes_[group], bytes));
      return;
    }
    case NodeType::comm_send:
      meet(pair_key(rank, attribute(trace, row, IntegerAttribute::comm_dst, rank)), 2, rank, row, message_time(bytes));
      return;
    case NodeType::comm_recv:
      meet(pair_key(attribute(trace, row, IntegerAttribute::comm_src, rank), rank), 2, rank, row, message_time(bytes));
      return;
    default:
      finish_at(now_ + compute_time(trace, row), rank, row, now_);
  }
}

/// Waits until all members are there; then all start, and finish together.
void Simulator::meet(const std::string& key, std::size_t members, std::size_t rank, NodeIndex row, Time duration) {
  Meeting& meeting = meetings_[key];
  meeting.arrived.emplace_back(rank, row);
  meeting.since.push_back(now_);
  if (meeting.arrived.size() < members) {
    return;
  }
  for (std::size_t i = 0; i < members; ++i) {
    finish_at(now_ + duration, meeting.arrived[i].first, meeting.arrived[i].second, meeting.since[i]);
  }
  meetings_.erase(key);
}

void Simulator::finish_at(Time time, std::size_t rank, NodeIndex row, Time started) {
  events_.push({time, events_made_++, rank, row, started});
}

void Simulator::finish(const Event& event) {
  Rank& rank = ranks_[event.rank];
  const Lane lane = lane_of(rank.feeder.trace(), event.row);
  const Time duration = now_ - event.started;
  rank.result.nodes += 1;
  rank.result.finish_ns = now_;
  rank.result.compute_ns += lane == compute ? duration : 0;
  rank.result.comm_ns += lane == network || lane == receive ? duration : 0;
  rank.busy[lane] = false;
  rank.feeder.complete(event.row);
  queue_ready_nodes(event.rank);
}

Simulator::Lane Simulator::lane_of(const Trace& trace, NodeIndex row) const {
  if (trace.types()[row] == NodeType::comm_recv) {
    return receive;
  }
  if (chakra::is_communication(trace.types()[row])) {
    return network;
  }
  return trace.is_cpu_op().value_or(row, 0) != 0 ? host : compute;
}

/// The recorded time if there is one, else what the roofline allows.
Simulator::Time Simulator::compute_time(const Trace& trace, NodeIndex row) const {
  if (trace.duration_ns()[row] != 0) {
    return trace.duration_ns()[row];
  }
  const auto operations = static_cast<double>(attribute(trace, row, IntegerAttribute::num_ops, 0));
  const auto bytes = static_cast<double>(attribute(trace, row, IntegerAttribute::tensor_size, 0));
  return nanoseconds(std::max(operations / machine_.flops, bytes / machine_.memory_bandwidth));
}

Simulator::Time Simulator::message_time(double bytes) const {
  return machine_.latency_ns + nanoseconds(bytes / machine_.link_bandwidth);
}

/// A ring where each rank passes parts on, a tree for all else.
Simulator::Time Simulator::collective_time(CollectiveType type, std::size_t members, double bytes) const {
  const std::uint64_t steps = members - 1;
  const double part = bytes / static_cast<double>(members);
  switch (type) {
    case CollectiveType::all_reduce:
      return 2 * steps * message_time(part);
    case CollectiveType::all_gather:
    case CollectiveType::reduce_scatter:
    case CollectiveType::all_to_all:
      return steps * message_time(part);
    default:
      return static_cast<std::uint64_t>(std::ceil(std::log2(static_cast<double>(members)))) * message_time(bytes);
  }
}

std::string Simulator::stuck() const {
  std::string text = "ranks wait for each other for ever";
  for (const auto& [key, meeting] : meetings_) {
    text += "\n  " + key + ": " + std::to_string(meeting.arrived.size()) + " arrived";
  }
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    text += "\nrank " + std::to_string(rank) + ": " + ranks_[rank].feeder.blocked(3).text;
  }
  return text;
}
