// SPDX-License-Identifier: MIT
// A discrete-event simulator of several ranks, as small as it can be and still be one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <chakra_core/feeder.hpp>
#include <chakra_core/trace.hpp>

/// What the ranks and the network between them can do.
struct Machine {
  double flops = 100e12;             ///< operations a second
  double memory_bandwidth = 1e12;    ///< bytes a second
  double link_bandwidth = 50e9;      ///< bytes a second
  std::uint64_t latency_ns = 1'000;  ///< of one message
};

struct RankResult {
  std::uint64_t nodes = 0;
  std::uint64_t finish_ns = 0;
  std::uint64_t compute_ns = 0;  ///< time in which the device computed
  std::uint64_t comm_ns = 0;     ///< time in which it communicated, from the start of a node to its end
};

class Simulator {
 public:
  /// One trace a rank.
  Simulator(const std::vector<chakra::TracePtr>& traces, const Machine& machine);

  /// Runs to the end. Throws chakra::DependencyError for a trace with a cycle, and std::runtime_error, saying who waits
  /// for what, if ranks wait for each other for ever.
  std::vector<RankResult> run();

 private:
  using Time = std::uint64_t;
  enum Lane { host, compute, network, receive, lane_count };

  struct Rank {
    explicit Rank(chakra::TracePtr trace) : feeder(std::move(trace)) {}

    chakra::Feeder feeder;
    RankResult result;
    std::array<std::deque<chakra::NodeIndex>, lane_count> waiting;  ///< ready nodes of a lane that is busy
    std::array<bool, lane_count> busy = {};
    std::map<std::string, int> collectives;  ///< how many were issued, a process group
  };

  /// A node that runs. Events are ordered by time, and by their number where times are equal.
  struct Event {
    Time time;
    std::uint64_t number;
    std::size_t rank;
    chakra::NodeIndex row;
    Time started;
    bool operator>(const Event& other) const { return std::tie(time, number) > std::tie(other.time, other.number); }
  };

  /// Nodes of several ranks that start together.
  struct Meeting {
    std::vector<std::pair<std::size_t, chakra::NodeIndex>> arrived = {};
    std::vector<Time> since = {};
  };

  void queue_ready_nodes(std::size_t rank);
  void start_waiting_nodes(std::size_t rank);
  void start(std::size_t rank, chakra::NodeIndex row);
  void meet(const std::string& key, std::size_t members, std::size_t rank, chakra::NodeIndex row, Time duration);
  void finish_at(Time time, std::size_t rank, chakra::NodeIndex row, Time started);
  void finish(const Event& event);

  Lane lane_of(const chakra::Trace& trace, chakra::NodeIndex row) const;
  Time compute_time(const chakra::Trace& trace, chakra::NodeIndex row) const;
  Time message_time(double bytes) const;
  Time collective_time(chakra::CollectiveType type, std::size_t members, double bytes) const;
  std::string stuck() const;

  Machine machine_;
  std::vector<Rank> ranks_;
  std::map<std::string, std::size_t> group_sizes_;  ///< ranks that take part, by the name of the group
  std::map<std::string, Meeting> meetings_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t events_made_ = 0;
  Time now_ = 0;
};
