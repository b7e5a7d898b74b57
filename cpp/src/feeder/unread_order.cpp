// SPDX-License-Identifier: MIT
#include "feeder/unread_order.hpp"

#include <algorithm>

#include "chakra_core/errors.hpp"
#include "io/block_reader.hpp"
#include "io/node_messages.hpp"
#include "wire/decode.hpp"

namespace chakra::detail {

namespace {

/// The id of a message that begins with it, as those of all known writers do; nothing for any other.
std::optional<NodeId> leading_id(std::string_view message) noexcept {
  constexpr char id_tag = 0x08;
  constexpr std::size_t longest_varint = 10;
  if (message.empty() || message.front() != id_tag) {
    return std::nullopt;
  }
  NodeId id = 0;
  for (std::size_t i = 1; i < std::min(message.size(), longest_varint + 1); ++i) {
    const auto byte = static_cast<unsigned char>(message[i]);
    id |= static_cast<NodeId>(byte & 0x7FU) << (7 * (i - 1));
    if (byte < 0x80) {
      return id;
    }
  }
  return std::nullopt;
}

NodeId id_of(const io::NodeMessages::Message& message, const std::string& name, wire::DecodedNode& node) {
  if (const auto id = leading_id(message.bytes)) {
    return *id;
  }
  try {
    wire::decode_node(message.bytes, node);
  } catch (const wire::Malformed& error) {
    throw FormatError({name, message.record, message.begin + error.offset()},
                      "no Node message: " + std::string(error.what()));
  }
  return node.id;
}

}  // namespace

UnreadOrder::UnreadOrder(const std::shared_ptr<const RecordSource>& source, const std::string& name,
                         const IssueOrder& order, unsigned threads) {
  if (order.by == IssueOrder::By::id) {
    read_ids(source, name);
  } else {
    read_blocks(source, name, order, threads);
  }
  for (std::size_t block = first_from_.size(); block-- > 1;) {
    first_from_[block - 1] = std::min(first_from_[block - 1], first_from_[block]);
  }
}

void UnreadOrder::add(const IssueKey& key) {
  if (nodes_++ % io::BlockReader::block_rows == 0) {
    first_from_.push_back(key);
  } else {
    first_from_.back() = std::min(first_from_.back(), key);
  }
}

void UnreadOrder::read_ids(const std::shared_ptr<const RecordSource>& source, const std::string& name) {
  io::NodeMessages messages(source, name);
  wire::DecodedNode node{};
  while (const auto message = messages.next()) {
    const NodeId id = id_of(*message, name, node);
    add({false, id, id});
    if (nodes_ % io::BlockReader::block_rows == 0) {
      messages.let_go();
    }
  }
}

void UnreadOrder::read_blocks(const std::shared_ptr<const RecordSource>& source, const std::string& name,
                              const IssueOrder& order, unsigned threads) {
  const IssueKeys keys(order);
  io::BlockReader blocks(source, name, threads);
  while (const TracePtr block = blocks.next()) {
    for (NodeIndex row = 0; row < block->size(); ++row) {
      add(keys.key(*block, row, static_cast<NodeIndex>(nodes_)));
    }
  }
}

}  // namespace chakra::detail
