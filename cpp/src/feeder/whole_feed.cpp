// SPDX-License-Identifier: MIT
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "chakra_core/errors.hpp"
#include "feeder/describe_blockage.hpp"
#include "feeder/feed.hpp"
#include "feeder/issue_ranks.hpp"
#include "feeder/ready_set.hpp"
#include "trace/children.hpp"
#include "trace/column.hpp"
#include "trace/cycles.hpp"

namespace chakra::detail {

namespace {

// A counter counts the parents that are not complete; 0 is a ready node. No node has as many parents as these.
constexpr std::uint32_t taken = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t complete_mark = taken - 1;

/// Numbers nodes twice. A place says where a node's counter and children are: the rank in the order of ids if that is
/// the issue order, so that the walk touches neighbours in memory; the row otherwise. A rank is the place in the issue
/// order, as the ready set has it.
class WholeFeed final : public Feed {
 public:
  WholeFeed(TracePtr trace, const FeederOptions& options)
      : trace_(std::move(trace)),
        dependencies_(options.dependencies),
        by_id_(options.order.by == IssueOrder::By::id),
        places_(by_id_ ? id_order(*trace_) : IdOrder{}),
        ranks_(by_id_ ? IssueRanks() : IssueRanks(*trace_, options.order)),
        children_(by_id_ ? children_by_id(*trace_, dependencies_) : trace_->children(dependencies_)),
        waiting_for_(trace_->size()),
        ready_(trace_->size()) {
    start();
  }

  const Trace* whole_trace() const noexcept override { return trace_.get(); }

  FeederNode node(NodeIndex row) const override {
    check_row(row, "node");
    return {trace_, row};
  }

  NodeId id(NodeIndex row) const override {
    check_row(row, "id");
    return trace_->ids()[row];
  }

  std::optional<NodeIndex> find(NodeId id) const noexcept override { return trace_->find(id); }

  std::optional<NodeIndex> pop() override {
    if (ready_.size() == 0) {
      check_not_stuck();
      return std::nullopt;
    }
    return take_place(ranks_.row(ready_.take_smallest()));
  }

  std::size_t pop_all(std::vector<NodeIndex>& rows, std::size_t most) override {
    const std::size_t count = std::min(most, ready_.size());
    if (count == 0) {
      check_not_stuck();
    }
    for (std::size_t i = 0; i < count; ++i) {
      rows.push_back(take_place(ranks_.row(ready_.take_smallest())));
    }
    return count;
  }

  std::optional<NodeIndex> peek() override {
    const auto rank = ready_.smallest();
    return rank ? std::optional(row_at(ranks_.row(*rank))) : std::nullopt;
  }

  void take(NodeIndex row) override {
    check_row(row, "take");
    const NodeIndex place = place_of(row);
    if (waiting_for_[place] != 0) {
      throw ChakraError("take: node " + std::to_string(trace_->ids()[row]) + " is not ready" + state_of(place));
    }
    ready_.erase(ranks_.rank(place));
    take_place(place);
  }

  void push_back(NodeIndex row) override {
    const NodeIndex place = place_in_flight(row, "push_back");
    --in_flight_;
    waiting_for_[place] = 0;
    ready_.insert(ranks_.rank(place));
  }

  void complete(NodeIndex row, std::vector<NodeIndex>* became_ready) override {
    const NodeIndex place = place_in_flight(row, "complete");
    if (became_ready == nullptr) {
      complete_place(place, [](NodeIndex) {});
      return;
    }
    const auto begin = static_cast<std::ptrdiff_t>(became_ready->size());
    complete_place(place, [&](NodeIndex child) { became_ready->push_back(row_at(child)); });
    std::sort(became_ready->begin() + begin, became_ready->end(), [&](NodeIndex one, NodeIndex other) {
      return ranks_.rank(place_of(one)) < ranks_.rank(place_of(other));
    });
  }

  void complete_many(std::span<const NodeIndex> rows) override {
    std::size_t checked = 0;
    try {
      // Marked as they are checked, so that a row that stands there twice is found.
      for (; checked < rows.size(); ++checked) {
        waiting_for_[place_in_flight(rows[checked], "complete_many")] = complete_mark;
      }
    } catch (const ChakraError&) {
      while (checked > 0) {
        waiting_for_[place_of(rows[--checked])] = taken;
      }
      throw;
    }
    for (const NodeIndex row : rows) {
      complete_place(place_of(row), [](NodeIndex) {});
    }
  }

  std::size_t ready() const noexcept override { return ready_.size(); }
  std::size_t in_flight() const noexcept override { return in_flight_; }
  std::size_t remaining() const noexcept override { return remaining_; }

  std::vector<NodeIndex> ready_nodes() const override {
    std::vector<NodeIndex> rows = ready_.members();
    for (NodeIndex& row : rows) {
      row = row_at(ranks_.row(row));
    }
    return rows;
  }

  Blockage blocked(std::size_t most) const override {
    Blockage found;
    found.ready = ready_.size();
    found.in_flight = in_flight_;
    for_each_by_id([&](NodeIndex row, std::uint32_t state) {
      if (state == taken && found.flying.size() < most) {
        found.flying.push_back(trace_->ids()[row]);
      } else if (state != 0 && state < complete_mark && ++found.waiting <= most) {
        found.nodes.push_back({trace_->ids()[row], unfinished_parents(row)});
      }
    });
    if (found.waiting > 0) {
      const auto cycles = minimal_cycles(*trace_, follows_data(), follows_ctrl(), 1);
      if (!cycles.empty()) {
        found.cycle = ids_of(*trace_, cycles.front());
      }
    }
    found.text = describe(found, remaining_);
    return found;
  }

  StreamStatistics statistics() const noexcept override { return {}; }

  std::size_t memory_bytes() const noexcept override {
    return sizeof(*this) + waiting_for_.capacity() * sizeof(std::uint32_t) + ready_.memory_bytes() +
           ranks_.memory_bytes();
  }

  void reset() override { start(); }

 private:
  bool follows_data() const noexcept { return dependencies_ != DependencyKind::control; }
  bool follows_ctrl() const noexcept { return dependencies_ != DependencyKind::data; }
  NodeIndex place_of(NodeIndex row) const noexcept {
    // The node that was taken last is often the next to complete: no need to look for it all over the memory.
    return places_.rank_of_row.empty() ? row : row == last_row_ ? last_place_ : places_.rank_of_row[row];
  }
  NodeIndex row_at(NodeIndex place) const noexcept {
    return places_.row_of_rank.empty() ? place : places_.row_of_rank[place];
  }

  void start() {
    ready_.clear();
    in_flight_ = 0;
    remaining_ = trace_->size();
    std::fill(waiting_for_.begin(), waiting_for_.end(), 0);
    // Each parent lists a child once, so that a doubled dependency counts once.
    for (const NodeIndex child : children_.indices) {
      ++waiting_for_[child];
    }
    for (NodeIndex place = 0; place < waiting_for_.size(); ++place) {
      if (waiting_for_[place] == 0) {
        ready_.insert(ranks_.rank(place));
      }
    }
  }

  NodeIndex take_place(NodeIndex place) noexcept {
    waiting_for_[place] = taken;
    ++in_flight_;
    last_place_ = place;
    last_row_ = row_at(place);
    return last_row_;
  }

  template <class Visit>
  void complete_place(NodeIndex place, Visit&& became_ready) {
    waiting_for_[place] = complete_mark;
    --in_flight_;
    --remaining_;
    for (const NodeIndex child : children_[place]) {
      if (--waiting_for_[child] == 0) {
        ready_.insert(ranks_.rank(child));
        became_ready(child);
      }
    }
  }

  void check_row(NodeIndex row, const char* what) const {
    if (row >= trace_->size()) {
      throw ChakraError(std::string(what) + ": row " + std::to_string(row) + " is not in a trace of " +
                        std::to_string(trace_->size()) + " nodes");
    }
  }

  NodeIndex place_in_flight(NodeIndex row, const char* what) const {
    check_row(row, what);
    const NodeIndex place = place_of(row);
    if (waiting_for_[place] != taken) {
      throw ChakraError(std::string(what) + ": node " + std::to_string(trace_->ids()[row]) +
                        " is not in flight; pop() it first, and complete it once" + state_of(place));
    }
    return place;
  }

  std::string state_of(NodeIndex place) const {
    const std::uint32_t state = waiting_for_[place];
    return state == 0               ? " (it is ready)"
           : state == taken         ? " (it is in flight)"
           : state == complete_mark ? " (it is complete)"
                                    : " (it waits for " + std::to_string(state) + " more)";
  }

  std::string prefix() const { return trace_->source().empty() ? "" : trace_->source() + ": "; }

  void check_not_stuck() const {
    if (in_flight_ == 0 && remaining_ != 0) {
      const Blockage found = blocked(0);
      throw DependencyError(
          prefix() + describe_deadlock(found, remaining_, trace_->size()) + ". Run validate() for all cycles",
          found.cycle);
    }
  }

  template <class Visit>
  void for_each_by_id(Visit&& visit) const {
    const IdOrder order = id_order(*trace_);
    for (NodeIndex rank = 0; rank < waiting_for_.size(); ++rank) {
      const NodeIndex row = order.row_of_rank.empty() ? rank : order.row_of_rank[rank];
      visit(row, waiting_for_[place_of(row)]);
    }
  }

  std::vector<NodeId> unfinished_parents(NodeIndex row) const {
    std::vector<NodeIndex> rows;
    const auto look = [&](std::span<const NodeIndex> parents) {
      for (const NodeIndex parent : parents) {
        if (waiting_for_[place_of(parent)] != complete_mark) {
          rows.push_back(parent);
        }
      }
    };
    if (follows_data()) {
      look(trace_->data_deps()[row]);
    }
    if (follows_ctrl()) {
      look(trace_->ctrl_deps()[row]);
    }
    std::vector<NodeId> ids = ids_of(*trace_, rows);
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
  }

  TracePtr trace_;
  DependencyKind dependencies_;
  bool by_id_;
  IdOrder places_;
  IssueRanks ranks_;  ///< of places
  Adjacency children_;
  Column<std::uint32_t> waiting_for_;  ///< by place
  ReadySet ready_;
  std::size_t in_flight_ = 0;
  std::size_t remaining_ = 0;
  NodeIndex last_row_ = std::numeric_limits<NodeIndex>::max();  ///< taken last
  NodeIndex last_place_ = 0;
};

}  // namespace

std::unique_ptr<Feed> make_whole_feed(TracePtr trace, const FeederOptions& options) {
  return std::make_unique<WholeFeed>(std::move(trace), options);
}

}  // namespace chakra::detail
