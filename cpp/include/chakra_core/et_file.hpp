// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "chakra_core/progress.hpp"
#include "chakra_core/trace.hpp"

namespace chakra {

/// What a reader does with input that is not right.
enum class OnError : std::uint8_t {
  strict,   ///< throw at the first problem
  recover,  ///< keep every whole record, drop what cannot be used, and say so in Trace::load_report()
};

struct LoadOptions {
  OnError on_error = OnError::strict;
  Progress* progress = nullptr;  ///< optional; counts uncompressed bytes
  unsigned threads = 0;          ///< that decode; 0: as many as the machine has cores. The result does not depend on it
};

/// Reads an ET file, plain or gzip (told by its first bytes, not its name). A plain file is mapped,
/// not copied, and stays mapped as long as the trace lives.
/// Throws FormatError (malformed, truncated, duplicate id, wrong attribute type), DependencyError
/// (missing parent), IoError (cannot open or read), Cancelled.
TracePtr load(const std::filesystem::path& path, const LoadOptions& options = {});

/// Reads an ET from memory; the bytes are copied. `name` stands in messages for the path.
TracePtr load_bytes(std::span<const std::byte> bytes, const std::string& name = "<bytes>",
                    const LoadOptions& options = {});

enum class Compression : std::uint8_t { none, gzip };

struct SaveOptions {
  std::optional<Compression> compression = {};  ///< absent: by the name's ending, ".gz" is gzip
  int level = 6;                                ///< gzip level, 1 to 9
  Progress* progress = nullptr;                 ///< optional; counts nodes
};

/// Writes a trace. Goes to a temporary file beside `path` that is renamed when complete. Nodes that
/// were read from a file and not changed are written byte for byte. A device or pipe is written directly.
/// Throws IoError, Cancelled, and ChakraError for options that make no sense.
void save(const Trace& trace, const std::filesystem::path& path, const SaveOptions& options = {});

}  // namespace chakra
