// SPDX-License-Identifier: MIT
#include "chakra_core/feeder.hpp"

#include <utility>

#include "chakra_core/errors.hpp"
#include "feeder/feed.hpp"

namespace chakra {

Feeder::Feeder(std::unique_ptr<detail::Feed> feed) : feed_(std::move(feed)) {}
Feeder::Feeder(TracePtr trace, DependencyKind dependencies)
    : Feeder(std::move(trace), FeederOptions{dependencies, {}}) {}
Feeder::Feeder(TracePtr trace, const FeederOptions& options)
    : Feeder(detail::make_whole_feed(std::move(trace), options)) {}
Feeder Feeder::stream(const std::filesystem::path& path, const FeederOptions& options, const StreamOptions& reading) {
  return Feeder(detail::make_streamed_feed(path, options, reading));
}
Feeder::~Feeder() = default;
Feeder::Feeder(Feeder&&) noexcept = default;
Feeder& Feeder::operator=(Feeder&&) noexcept = default;

const Trace& Feeder::trace() const {
  if (const Trace* trace = feed_->whole_trace()) {
    return *trace;
  }
  throw ChakraError("a feeder that streams has no whole trace; ask for node(row)");
}

bool Feeder::is_stream() const noexcept { return feed_->whole_trace() == nullptr; }
FeederNode Feeder::node(NodeIndex row) const { return feed_->node(row); }
NodeId Feeder::id(NodeIndex row) const { return feed_->id(row); }
std::optional<NodeIndex> Feeder::find(NodeId id) const noexcept { return feed_->find(id); }

std::optional<NodeIndex> Feeder::pop() { return feed_->pop(); }
std::size_t Feeder::pop_all(std::vector<NodeIndex>& rows, std::size_t most) { return feed_->pop_all(rows, most); }
std::optional<NodeIndex> Feeder::peek() const { return feed_->peek(); }
void Feeder::take(NodeIndex row) { feed_->take(row); }
void Feeder::push_back(NodeIndex row) { feed_->push_back(row); }
void Feeder::complete(NodeIndex row) { feed_->complete(row, nullptr); }
void Feeder::complete(NodeIndex row, std::vector<NodeIndex>& became_ready) { feed_->complete(row, &became_ready); }
void Feeder::complete_many(std::span<const NodeIndex> rows) { feed_->complete_many(rows); }

std::size_t Feeder::ready() const noexcept { return feed_->ready(); }
std::size_t Feeder::in_flight() const noexcept { return feed_->in_flight(); }
std::size_t Feeder::remaining() const noexcept { return feed_->remaining(); }
std::vector<NodeIndex> Feeder::ready_nodes() const { return feed_->ready_nodes(); }
Blockage Feeder::blocked(std::size_t most) const { return feed_->blocked(most); }
StreamStatistics Feeder::statistics() const noexcept { return feed_->statistics(); }
std::size_t Feeder::memory_bytes() const noexcept { return feed_->memory_bytes(); }
void Feeder::reset() { feed_->reset(); }

}  // namespace chakra
