// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "chakra_core/feeder.hpp"

namespace chakra::detail {

/// What is behind a Feeder: a whole trace or a stream. The contracts are those of Feeder.
class Feed {
 public:
  Feed() = default;
  virtual ~Feed() = default;
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  /// Null for a stream.
  virtual const Trace* whole_trace() const noexcept = 0;
  virtual FeederNode node(NodeIndex row) const = 0;
  virtual NodeId id(NodeIndex row) const = 0;
  virtual std::optional<NodeIndex> find(NodeId id) const noexcept = 0;

  virtual std::optional<NodeIndex> pop() = 0;
  virtual std::size_t pop_all(std::vector<NodeIndex>& rows, std::size_t most) = 0;
  virtual std::optional<NodeIndex> peek() = 0;
  virtual void take(NodeIndex row) = 0;
  virtual void push_back(NodeIndex row) = 0;
  /// Appends what became ready to `became_ready` unless that is null.
  virtual void complete(NodeIndex row, std::vector<NodeIndex>* became_ready) = 0;
  virtual void complete_many(std::span<const NodeIndex> rows) = 0;

  virtual std::size_t ready() const noexcept = 0;
  virtual std::size_t in_flight() const noexcept = 0;
  virtual std::size_t remaining() const noexcept = 0;
  virtual std::vector<NodeIndex> ready_nodes() const = 0;
  virtual Blockage blocked(std::size_t most) const = 0;
  virtual StreamStatistics statistics() const noexcept = 0;
  virtual std::size_t memory_bytes() const noexcept = 0;
  virtual void reset() = 0;
};

std::unique_ptr<Feed> make_whole_feed(TracePtr trace, const FeederOptions& options);
std::unique_ptr<Feed> make_streamed_feed(const std::filesystem::path& path, const FeederOptions& options,
                                         const StreamOptions& reading);

}  // namespace chakra::detail
