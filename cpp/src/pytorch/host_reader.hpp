// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

#include "io/byte_stream.hpp"
#include "io/json_scanner.hpp"
#include "pytorch/host_trace.hpp"
#include "pytorch/linked_file.hpp"
#include "pytorch/read_options.hpp"

namespace chakra::pytorch {

/// Reads a host trace (ExecutionTraceObserver) of any schema, plain, gzip or zstd, in one pass and a constant window
/// beside the result. Which layout a node has (1.0.1 or later) is told by its own keys, not by the schema.
///
/// Strict: throws FormatError at the first byte that is not JSON, at a node without a usable id, and for a file that is
/// no host trace. Recovering: keeps every whole node and says in the report what was mended or lost; throws FormatError
/// only where no list of nodes can be found. Throws IoError where the file cannot be read, Cancelled.
HostTrace read_host_trace(const std::filesystem::path& path, const ReadOptions& options = {});

/// The same from a stream; `name` stands for the path. `json` sets the scanner's window (its on_error is not used).
HostTrace read_host_trace(io::ByteStream& stream, const std::string& name, const ReadOptions& options = {},
                          const io::JsonOptions& json = {});

/// Reads the nodes of a linked trace, ours or that of older linkers: nodes with what they have as nodes of a host
/// trace, in the order of the file and with the ids that they have there, and `extras` beside them.
HostTrace read_linked_nodes(const std::filesystem::path& path, const ReadOptions& options, LinkedExtras& extras);

}  // namespace chakra::pytorch
