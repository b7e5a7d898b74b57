// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

namespace chakra::io {

/// A source of bytes that is read once, front to back, in pieces. Nothing of the input is held but the piece under way,
/// so a compressed file of any size streams in constant memory.
class ByteStream {
 public:
  ByteStream() = default;
  virtual ~ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  /// Writes up to into.size() bytes and returns their number; 0 means the end (unless `into` is empty).
  /// Throws FormatError on damaged compression, after every byte before the damage was handed out, and IoError
  /// when the device fails.
  virtual std::size_t read(std::span<std::byte> into) = 0;

  /// Bytes taken so far from the file as it lies on disk, and its size: how far a long read has come.
  virtual std::uint64_t source_position() const noexcept = 0;
  virtual std::uint64_t source_size() const noexcept = 0;
};

/// Opens a plain, gzip or zstd file; which it is, its first bytes tell, not its name. Compressed bytes are inflated on
/// a thread of its own, a few blocks ahead of the reader, unless `own_thread` is false. Throws IoError (cannot
/// open, a directory) and FormatError (zstd in a build without it).
std::unique_ptr<ByteStream> open_byte_stream(const std::filesystem::path& path, bool own_thread = true);

/// Streams bytes that lie in memory and must stay there as long as the stream; never compressed.
std::unique_ptr<ByteStream> make_memory_stream(std::string_view bytes);

}  // namespace chakra::io
