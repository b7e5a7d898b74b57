// SPDX-License-Identifier: MIT
#include "sim/stall_report.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace chakra::sim {

namespace {

constexpr std::size_t most_ranks = 32;
constexpr std::size_t most_nodes = 8;

/// A point-to-point message of which one side is missing.
struct Half {
  MatchKey key;
  std::uint32_t rank;
  NodeIndex row;
};

class Report {
 public:
  Report(const NodeRunner& nodes, const CollectiveRunner& collectives, const WholePhases& phases,
         const Transport& transport, const ChunkPool& chunks, const GroupTable& groups)
      : nodes_(nodes),
        collectives_(collectives),
        phases_(phases),
        transport_(transport),
        chunks_(chunks),
        groups_(groups) {
    for (const Mailbox::Waiting& waiting : transport.mailbox().unmatched()) sort_in(waiting);
  }

  std::string text(std::uint32_t ranks) {
    std::size_t stuck = 0;
    for (std::uint32_t r = 0; r < ranks; ++r) {
      if (nodes_.is_unfinished(r) && ++stuck <= most_ranks) add_rank(r);
    }
    if (stuck > most_ranks) line("... and " + std::to_string(stuck - most_ranks) + " more ranks");
    for (const std::string& open : collectives_.open_collectives()) line(open);
    return "the simulation cannot go on: " + std::to_string(stuck) + " of " + std::to_string(ranks) +
           " ranks wait for what will never happen" + body_;
  }

 private:
  void line(const std::string& text) { body_ += "\n" + text; }

  void sort_in(const Mailbox::Waiting& waiting) {
    for (const Continuation& entry : waiting.entries) {
      MatchKey key = waiting.key;
      Continuation side = entry;
      if (entry.then == Then::start_send) {
        key = transport_.held_key(entry.a);
        side = transport_.held_continuation(entry.a);
      }
      if (side.then == Then::send_done) sends_.push_back({key, side.a, side.b});
      if (side.then == Then::receive_done) receives_[{side.a, side.b}] = key;
      const bool of_chunk = side.then == Then::chunk_received || side.then == Then::child_received ||
                            side.then == Then::parent_received || side.then == Then::custom_step;
      if (of_chunk && !waiting.arrived) chunk_waits_[chunks_[side.a].collective].push_back(key);
    }
  }

  void add_rank(std::uint32_t r) {
    std::size_t listed = 0;
    line("rank " + std::to_string(r) + " has " + std::to_string(nodes_.remaining(r)) + " unfinished nodes:");
    for (const NodeIndex row : nodes_.running(r)) {
      if (++listed <= most_nodes) line("  " + nodes_.describe_node(r, row) + " waits for " + running_wait(r, row));
    }
    for (const NodeIndex row : nodes_.ready(r)) {
      if (++listed > most_nodes) continue;
      line("  " + nodes_.describe_node(r, row) + " waits for a free slot of \"" + nodes_.lane_name(r, row) + "\"");
    }
    for (const NodeIndex row : nodes_.held(r)) {
      if (++listed > most_nodes) continue;
      line("  " + nodes_.describe_node(r, row) + " waits for a collective of its group that was launched before it");
    }
    add_blocked(r, listed);
  }

  /// Nodes whose parents are not complete. A parent that is itself blocked is listed before or after.
  void add_blocked(std::uint32_t r, std::size_t listed) {
    const Trace& trace = nodes_.trace(r);
    std::vector<NodeIndex> parents = nodes_.running(r);
    for (const auto& rows : {nodes_.ready(r), nodes_.held(r)}) parents.insert(parents.end(), rows.begin(), rows.end());
    for (const NodeIndex parent : parents) {
      for (const NodeIndex child : trace.children()[parent]) {
        if (++listed > most_nodes) return line("  ... and what depends on these");
        line("  " + nodes_.describe_node(r, child) + " waits for its parent " + nodes_.describe_node(r, parent));
      }
    }
  }

  std::string running_wait(std::uint32_t r, NodeIndex row) const {
    switch (nodes_.trace(r).types()[row]) {
      case NodeType::comm_recv:
        return receive_wait(r, row);
      case NodeType::comm_send:
        return send_wait(r, row);
      case NodeType::comm_coll:
        return collective_wait(r, row);
      default:
        return "an event that will not happen";
    }
  }

  static std::string message(const MatchKey& key) {
    return std::to_string(key.bytes) + " bytes with tag " + std::to_string(key.tag);
  }

  std::string receive_wait(std::uint32_t r, NodeIndex row) const {
    const auto place = receives_.find({r, row});
    if (place == receives_.end()) return "a sender that never came";
    const MatchKey& key = place->second;
    std::string text = "a message from rank " + std::to_string(key.src) + " of " + message(key);
    std::size_t others = 0;
    for (const Half& send : sends_) {
      if (send.key.src != key.src || send.key.dst != r || ++others > most_nodes) continue;
      text += "; " + nodes_.describe(send.rank, send.row) + " sent " + message(send.key);
    }
    return others == 0 ? text + "; rank " + std::to_string(key.src) + " has sent nothing that is not received" : text;
  }

  std::string send_wait(std::uint32_t r, NodeIndex row) const {
    for (const Half& send : sends_) {
      if (send.rank != r || send.row != row) continue;
      return "rank " + std::to_string(send.key.dst) + " to be ready to receive " + message(send.key);
    }
    return "its message to land";
  }

  std::string collective_wait(std::uint32_t r, NodeIndex row) const {
    for (std::uint32_t index = 0; index < chunks_.size(); ++index) {
      const Chunk& chunk = chunks_[index];
      if (!chunk.in_use || chunk.rank != r || collectives_.row_of_collective(chunk.collective) != row) continue;
      std::string text = "group \"" + groups_[collectives_.group_of_collective(chunk.collective)].name + "\"";
      if (const auto missing = phases_.missing(index); !missing.empty()) {
        text += ": rank ";
        for (std::size_t i = 0; i < std::min(missing.size(), most_nodes); ++i) {
          text += (i > 0 ? ", " : "") + std::to_string(missing[i]);
        }
        if (missing.size() > most_nodes) text += " and " + std::to_string(missing.size() - most_nodes) + " more";
        return text + " to begin it";
      }
      const auto waits = chunk_waits_.find(chunk.collective);
      if (waits == chunk_waits_.end()) return text + ": a slot of its dimension";
      text += ": a message from ";
      for (std::size_t i = 0; i < std::min(waits->second.size(), most_nodes); ++i) {
        const MatchKey& key = waits->second[i];
        text +=
            (i > 0 ? ", " : "") + ("rank " + std::to_string(key.src)) + " (" + std::to_string(key.bytes) + " bytes)";
      }
      return text;
    }
    return "its group";
  }

  const NodeRunner& nodes_;
  const CollectiveRunner& collectives_;
  const WholePhases& phases_;
  const Transport& transport_;
  const ChunkPool& chunks_;
  const GroupTable& groups_;
  std::vector<Half> sends_;
  std::map<std::pair<std::uint32_t, NodeIndex>, MatchKey> receives_;
  std::map<std::uint32_t, std::vector<MatchKey>> chunk_waits_;  ///< by collective
  std::string body_;
};

}  // namespace

std::string stall_report(const NodeRunner& nodes, const CollectiveRunner& collectives, const WholePhases& phases,
                         const Transport& transport, const ChunkPool& chunks, const GroupTable& groups) {
  return Report(nodes, collectives, phases, transport, chunks, groups).text(nodes.ranks());
}

}  // namespace chakra::sim
