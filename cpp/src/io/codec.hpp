// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "chakra_core/et_file.hpp"
#include "io/byte_stream.hpp"

namespace chakra::io {

/// How many first bytes tell how a file is compressed.
inline constexpr std::size_t magic_bytes = 4;

/// How bytes are compressed, told by the first `magic_bytes` of them.
Compression detect_compression(std::string_view start) noexcept;

/// What the end of a name asks for: ".gz" gzip, ".zst" zstd.
Compression compression_by_name(const std::filesystem::path& path);

/// The name without the end that compression_by_name() goes by.
std::filesystem::path without_compression_suffix(const std::filesystem::path& path);

/// How to compress. The level is of no meaning for plain bytes.
struct Encoding {
  Compression compression = Compression::none;
  int level = 0;
};

/// What is to be used for a file: what is asked for, otherwise what its name says, at the usual level.
/// Throws ChakraError for a level that the compression does not have, and for one that is not built in.
Encoding choose_encoding(const std::filesystem::path& path, std::optional<Compression> compression = {},
                         std::optional<int> level = {});

/// Inflates gzip or zstd. `name` stands in messages for the input. Throws FormatError for zstd where it is not built
/// in.
std::unique_ptr<ByteStream> make_inflating_stream(std::unique_ptr<ByteStream> compressed, Compression compression,
                                                  std::string name);

/// Compresses bytes that come in pieces.
class Compressor {
 public:
  /// Takes compressed bytes; they are valid during the call only.
  using Put = std::function<void(std::string_view)>;

  Compressor() = default;
  virtual ~Compressor() = default;
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  virtual void write(std::string_view bytes) = 0;
  /// Writes what is left, and the end.
  virtual void finish() = 0;
};

/// Null for plain bytes. Equal bytes give equal compressed bytes: there is no time or name in them.
std::unique_ptr<Compressor> make_compressor(const Encoding& encoding, Compressor::Put put);

/// Whether ISA-L inflates gzip, rather than zlib.
bool has_isal() noexcept;

// One pair for each compression; gzip_members.cpp, gzip.cpp and zstd.cpp.
std::unique_ptr<ByteStream> make_gzip_stream(std::unique_ptr<ByteStream> compressed, std::string name);
std::unique_ptr<Compressor> make_gzip_compressor(int level, Compressor::Put put);
std::unique_ptr<ByteStream> make_zstd_stream(std::unique_ptr<ByteStream> compressed, std::string name);
std::unique_ptr<Compressor> make_zstd_compressor(int level, Compressor::Put put);

}  // namespace chakra::io
