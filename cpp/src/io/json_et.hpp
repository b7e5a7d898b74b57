// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "chakra_core/et_file.hpp"
#include "io/byte_stream.hpp"

/// The JSON form of an ET: an object whose list "workload_graph" holds the nodes. docs/formats.md says how.
namespace chakra::io {

/// Names of the form, for the reader and the writer.
namespace json_et {
inline constexpr std::string_view graph = "workload_graph";
inline constexpr std::string_view version = "version";
inline constexpr std::string_view id = "Id";
inline constexpr std::string_view name = "Name";
inline constexpr std::string_view type = "NodeType";
inline constexpr std::string_view ctrl_deps = "ctrl_deps";
inline constexpr std::string_view data_deps = "data_deps";
inline constexpr std::string_view start = "start_time_micros";
inline constexpr std::string_view duration = "runtime";
inline constexpr std::string_view inputs = "inputs";
inline constexpr std::string_view outputs = "outputs";
inline constexpr std::string_view attributes = "attr";
}  // namespace json_et

/// Members of a node, and of the file, that are no attributes.
bool is_node_member(std::string_view name) noexcept;
bool is_file_member(std::string_view name) noexcept;

/// An object of JSON begins here. No ET of records does: its first bytes would have to be a metadata record of the
/// length "{" that holds a name in quotes and a colon.
bool looks_like_json(std::string_view start) noexcept;

/// Throws FormatError (no JSON, a node without id, a duplicate id, a value of the wrong type), DependencyError,
/// Cancelled.
TracePtr read_json_et(ByteStream& stream, const std::string& name, const LoadOptions& options);

/// Gives the text to `put` in pieces. Throws Cancelled, and FormatError where a node's bytes cannot be decoded.
void write_json_et(const Trace& trace, std::string_view version, Progress* progress,
                   const std::function<void(std::string_view)>& put);

}  // namespace chakra::io
