// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>

#include "chakra_core/feeder.hpp"
#include "node.hpp"

namespace chakra::bindings {

/// A Feeder that several Python threads may call: what takes long lets the others run.
class PyFeeder {
 public:
  /// `trace` is null for a stream.
  PyFeeder(TracePtr trace, Feeder feeder) : trace_(std::move(trace)), feeder_(std::move(feeder)) {}

  const TracePtr& trace() const noexcept { return trace_; }

  /// Calls a function with the feeder. One thread at a time; for short work with the interpreter's lock held.
  template <class Work>
  auto with(Work&& work) {
    const std::lock_guard lock(mutex_);
    return work(feeder_);
  }
  /// The same for work that may take long, or wait for a file.
  template <class Work>
  auto with_long(Work&& work) {
    const pybind11::gil_scoped_release release;
    const std::lock_guard lock(mutex_);
    return work(feeder_);
  }
  /// For work that is short over a whole trace, but may have to read a stream.
  template <class Work>
  auto with_reading(Work&& work) {
    return trace_ ? with(work) : with_long(work);
  }

  std::optional<Node> node_at(std::optional<NodeIndex> row, const Feeder& feeder) const {
    if (!row) {
      return std::nullopt;
    }
    if (trace_) {
      return Node{trace_, *row};
    }
    FeederNode node = feeder.node(*row);
    return Node{std::move(node.trace), node.row};
  }

  /// Ids of rows that are held. `ids` is overwritten.
  void ids_of(const Feeder& feeder, const std::vector<NodeIndex>& rows, std::vector<NodeId>& ids) const {
    ids.resize(rows.size());
    if (trace_) {
      const auto all = trace_->ids();
      std::transform(rows.begin(), rows.end(), ids.begin(), [&](NodeIndex row) { return all[row]; });
    } else {
      std::transform(rows.begin(), rows.end(), ids.begin(), [&](NodeIndex row) { return feeder.id(row); });
    }
  }

  /// Memory that short batches use again, for whoever holds the interpreter's lock.
  struct Scratch {
    std::vector<NodeIndex> rows;
    std::vector<NodeId> ids;
  };
  Scratch& scratch() noexcept { return scratch_; }

 private:
  TracePtr trace_;
  std::mutex mutex_;
  Feeder feeder_;
  Scratch scratch_;
};

inline NodeIndex row_of(const Feeder& feeder, NodeId id) {
  if (const auto row = feeder.find(id)) {
    return *row;
  }
  throw pybind11::key_error("no node has the id " + std::to_string(id) +
                            (feeder.is_stream() ? ", of those that are read and not complete" : ""));
}

/// Defines the methods that take or give many ids.
void bind_feeder_batches(const pybind11::object& feeder_class);

}  // namespace chakra::bindings
