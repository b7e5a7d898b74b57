// SPDX-License-Identifier: MIT
#include "chakra_core/feeder.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "chakra_core/errors.hpp"
#include "feeder/issue_ranks.hpp"
#include "feeder/ready_set.hpp"
#include "trace/cycles.hpp"

namespace chakra {

namespace {

/// Number of different parents of a row.
std::uint32_t count_parents(std::span<const NodeIndex> data, std::span<const NodeIndex> ctrl,
                            std::vector<NodeIndex>& scratch) {
  if (data.size() + ctrl.size() <= 1) {
    return static_cast<std::uint32_t>(data.size() + ctrl.size());
  }
  scratch.assign(data.begin(), data.end());
  scratch.insert(scratch.end(), ctrl.begin(), ctrl.end());
  std::sort(scratch.begin(), scratch.end());
  return static_cast<std::uint32_t>(std::unique(scratch.begin(), scratch.end()) - scratch.begin());
}

}  // namespace

struct Feeder::State {
  TracePtr trace;
  DependencyKind dependencies;
  detail::IssueRanks ranks;
  Adjacency children;
  std::vector<std::uint32_t> parents;      ///< different parents of each row
  std::vector<std::uint32_t> waiting_for;  ///< of these, not complete yet
  std::vector<bool> taken;                 ///< in flight
  detail::ReadySet ready;
  std::size_t in_flight = 0;
  std::size_t remaining = 0;

  State(TracePtr from, const FeederOptions& options)
      : trace(std::move(from)),
        dependencies(options.dependencies),
        ranks(*trace, options.order),
        children(trace->children(dependencies)),
        taken(trace->size()),
        ready(trace->size()) {
    parents.resize(trace->size());
    std::vector<NodeIndex> scratch;
    for (NodeIndex row = 0; row < trace->size(); ++row) {
      parents[row] = count_parents(follows_data() ? trace->data_deps()[row] : std::span<const NodeIndex>{},
                                   follows_ctrl() ? trace->ctrl_deps()[row] : std::span<const NodeIndex>{}, scratch);
    }
    start();
  }

  bool follows_data() const noexcept { return dependencies != DependencyKind::control; }
  bool follows_ctrl() const noexcept { return dependencies != DependencyKind::data; }
  void start() {
    ready.clear();
    std::fill(taken.begin(), taken.end(), false);
    waiting_for = parents;
    in_flight = 0;
    remaining = trace->size();
    for (NodeIndex row = 0; row < trace->size(); ++row) {
      if (waiting_for[row] == 0) {
        ready.insert(ranks.rank(row));
      }
    }
  }

  void check_row(NodeIndex row, const char* what) const {
    if (row >= trace->size()) {
      throw ChakraError(std::string(what) + ": row " + std::to_string(row) + " is not in a trace of " +
                        std::to_string(trace->size()) + " nodes");
    }
  }

  void check_in_flight(NodeIndex row, const char* what) const {
    check_row(row, what);
    if (!taken[row]) {
      throw ChakraError(std::string(what) + ": node " + std::to_string(trace->ids()[row]) +
                        " is not in flight; pop() it first, and complete it once");
    }
  }

  void check_ready(NodeIndex row) const {
    check_row(row, "take");
    if (!ready.contains(ranks.rank(row))) {
      throw ChakraError("take: node " + std::to_string(trace->ids()[row]) + " is not ready");
    }
  }

  void take(NodeIndex row) {
    ready.erase(ranks.rank(row));
    taken[row] = true;
    ++in_flight;
  }

  template <class Visit>
  void complete(NodeIndex row, Visit&& became_ready) {
    check_in_flight(row, "complete");
    taken[row] = false;
    --in_flight;
    --remaining;
    for (const NodeIndex child : children[row]) {
      if (--waiting_for[child] == 0) {
        ready.insert(ranks.rank(child));
        became_ready(child);
      }
    }
  }

  [[noreturn]] void throw_stuck() const {
    const auto cycles = detail::minimal_cycles(*trace, follows_data(), follows_ctrl(), 1);
    const std::string text =
        std::to_string(remaining) + " of " + std::to_string(trace->size()) +
        " nodes can never become ready. Nodes wait for each other: " + detail::describe_cycle(*trace, cycles.front()) +
        ". Run validate() for all cycles";
    throw DependencyError((trace->source().empty() ? "" : trace->source() + ": ") + text,
                          detail::ids_of(*trace, cycles.front()));
  }
};

Feeder::Feeder(TracePtr trace, DependencyKind dependencies)
    : Feeder(std::move(trace), FeederOptions{dependencies, {}}) {}
Feeder::Feeder(TracePtr trace, const FeederOptions& options)
    : state_(std::make_unique<State>(std::move(trace), options)) {}
Feeder::~Feeder() = default;
Feeder::Feeder(Feeder&&) noexcept = default;
Feeder& Feeder::operator=(Feeder&&) noexcept = default;

const Trace& Feeder::trace() const noexcept { return *state_->trace; }

std::optional<NodeIndex> Feeder::peek() const noexcept {
  const auto rank = state_->ready.smallest();
  return rank ? std::optional(state_->ranks.row(*rank)) : std::nullopt;
}

std::optional<NodeIndex> Feeder::pop() {
  const auto rank = state_->ready.smallest();
  if (!rank) {
    if (state_->in_flight == 0 && state_->remaining != 0) {
      state_->throw_stuck();
    }
    return std::nullopt;
  }
  const NodeIndex row = state_->ranks.row(*rank);
  state_->take(row);
  return row;
}

void Feeder::take(NodeIndex row) {
  state_->check_ready(row);
  state_->take(row);
}

void Feeder::push_back(NodeIndex row) {
  state_->check_in_flight(row, "push_back");
  state_->taken[row] = false;
  --state_->in_flight;
  state_->ready.insert(state_->ranks.rank(row));
}

void Feeder::complete(NodeIndex row) {
  state_->complete(row, [](NodeIndex) {});
}

void Feeder::complete(NodeIndex row, std::vector<NodeIndex>& became_ready) {
  state_->complete(row, [&](NodeIndex child) { became_ready.push_back(child); });
}

std::size_t Feeder::ready() const noexcept { return state_->ready.size(); }
std::size_t Feeder::in_flight() const noexcept { return state_->in_flight; }
std::size_t Feeder::remaining() const noexcept { return state_->remaining; }

std::vector<NodeIndex> Feeder::ready_nodes() const {
  std::vector<NodeIndex> rows = state_->ready.members();
  std::transform(rows.begin(), rows.end(), rows.begin(), [&](std::uint32_t rank) { return state_->ranks.row(rank); });
  return rows;
}

void Feeder::reset() { state_->start(); }

}  // namespace chakra
