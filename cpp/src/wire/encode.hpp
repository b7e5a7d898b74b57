// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "chakra_core/attribute.hpp"
#include "chakra_core/trace.hpp"

/// Values to protobuf bytes. Everything is appended to the string given.
namespace chakra::wire {

/// The part of a Node that columns hold. Zero and empty values are left out, as proto3 does.
struct NodeHead {
  NodeId id = 0;
  std::string_view name = {};
  NodeType type = NodeType::invalid;
  std::span<const NodeId> ctrl_deps = {};
  std::span<const NodeId> data_deps = {};
  std::uint64_t start_micros = 0;
  std::uint64_t duration_micros = 0;
};

void append_head(std::string& message, const NodeHead& head);
/// The same to memory that has room for `head_bound` bytes; returns the end of what was written.
char* write_head(char* at, const NodeHead& head) noexcept;
std::size_t head_bound(const NodeHead& head) noexcept;
/// Nothing for 0, as proto3 does.
void append_id(std::string& message, NodeId id);
void append_name(std::string& message, std::string_view name);
void append_dependencies(std::string& message, std::span<const NodeId> ctrl_deps, std::span<const NodeId> data_deps);
void append_inputs(std::string& message, const IoInfo& info);
void append_outputs(std::string& message, const IoInfo& info);
void append_node_attribute(std::string& message, const Attribute& attribute);

std::string encode_metadata(const Metadata& metadata);
/// A GlobalMetadata message with another version; everything else stays byte for byte. Bytes that are no message are
/// left out from where they are none.
std::string with_version(std::string_view metadata_message, std::string_view version);

/// Most bytes of a record's length prefix.
inline constexpr std::size_t longest_frame = 10;
/// Writes the length prefix of a record to `at`, which has room for `longest_frame` bytes; returns its size.
std::size_t write_frame(char* at, std::size_t message_size);

}  // namespace chakra::wire
