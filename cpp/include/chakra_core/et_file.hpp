// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
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
  Progress* progress = nullptr;  ///< optional; counts bytes of the file, of a compressed one the compressed bytes
  unsigned threads = 0;          ///< that decode; 0: as many as the machine has cores. The result does not depend on it
  /// Most bytes that compressed input may inflate to, against input made to fill memory; 0: any number.
  std::uint64_t max_inflated_bytes = 0;
  /// Dependencies whose parents must be there. Those of the other kind are dropped where they name an absent node, and
  /// Trace::load_report() says so, also with OnError::strict.
  DependencyKind needed = DependencyKind::both;
};

/// Reads an ET file: records or JSON, plain, gzip or zstd, all told by the first bytes, not the name. Plain records are
/// mapped, not copied, and stay mapped as long as the trace lives; compressed ones are inflated on a thread of their
/// own while they are decoded.
/// Throws FormatError (malformed, truncated, duplicate id, wrong attribute type, more bytes than the limit),
/// DependencyError (missing parent), IoError (cannot open or read), Cancelled.
TracePtr load(const std::filesystem::path& path, const LoadOptions& options = {});

/// Reads an ET from memory. With `owner`, records are used where they lie and must not change; the trace keeps the
/// owner alive. Without, they are copied. `name` stands in messages for the path.
TracePtr load_bytes(std::span<const std::byte> bytes, const std::string& name = "<bytes>",
                    const LoadOptions& options = {}, std::shared_ptr<const void> owner = nullptr);

enum class Compression : std::uint8_t { none, gzip, zstd };

/// Whether this build reads and writes zstd.
bool has_zstd() noexcept;

/// How a trace lies in a file; docs/formats.md has both.
enum class EtForm : std::uint8_t {
  records,  ///< length-delimited protobuf, ".et"
  json,     ///< an object with the list "workload_graph", ".json"
};

struct SaveOptions {
  std::optional<EtForm> form = {};                 ///< absent: by the name, ".json" (".json.gz", ...) is json
  std::optional<Compression> compression = {};     ///< absent: by the name's ending, ".gz" is gzip, ".zst" zstd
  std::optional<int> level = {};                   ///< gzip 1 to 9, by default 6; zstd 1 to 19, by default 3
  std::optional<std::string> schema_version = {};  ///< to be said in the metadata; absent: as the trace has it
  Progress* progress = nullptr;                    ///< optional; counts nodes
};

/// Writes a trace. Goes to a temporary file beside `path` that is renamed when complete. Nodes that
/// were read from records and not changed are written to records byte for byte. A device or pipe is written directly.
/// Throws IoError, Cancelled, and ChakraError for options that make no sense.
void save(const Trace& trace, const std::filesystem::path& path, const SaveOptions& options = {});

}  // namespace chakra
