// SPDX-License-Identifier: MIT
#include "io/codec.hpp"

#include <utility>

#include "chakra_core/errors.hpp"

namespace chakra::io {

namespace {

struct Levels {
  const char* name;
  int smallest;
  int usual;
  int largest;
};

constexpr Levels gzip_levels = {"gzip", 1, 6, 9};
constexpr Levels zstd_levels = {"zstd", 1, 3, 19};

/// Frames of other programs' own data, which decoders skip; some compressors put one first.
bool is_skippable_zstd_frame(std::string_view start) noexcept {
  return start.size() >= 4 && (static_cast<unsigned char>(start[0]) & 0xF0U) == 0x50U &&
         start.substr(1, 3) == "\x2a\x4d\x18";
}

}  // namespace

Compression detect_compression(std::string_view start) noexcept {
  if (start.starts_with("\x1f\x8b")) {
    return Compression::gzip;
  }
  if (start.starts_with("\x28\xb5\x2f\xfd") || is_skippable_zstd_frame(start)) {
    return Compression::zstd;
  }
  return Compression::none;
}

Compression compression_by_name(const std::filesystem::path& path) {
  const std::filesystem::path suffix = path.extension();
  if (suffix == ".gz") {
    return Compression::gzip;
  }
  return suffix == ".zst" ? Compression::zstd : Compression::none;
}

std::filesystem::path without_compression_suffix(const std::filesystem::path& path) {
  return compression_by_name(path) == Compression::none ? path : path.parent_path() / path.stem();
}

Encoding choose_encoding(const std::filesystem::path& path, std::optional<Compression> compression,
                         std::optional<int> level) {
  Encoding encoding{compression.value_or(compression_by_name(path)), 0};
  if (encoding.compression == Compression::none) {
    return encoding;
  }
  const Levels& levels = encoding.compression == Compression::gzip ? gzip_levels : zstd_levels;
  encoding.level = level.value_or(levels.usual);
  if (encoding.level < levels.smallest || encoding.level > levels.largest) {
    throw ChakraError(std::string(levels.name) + " level " + std::to_string(encoding.level) + " is not in " +
                      std::to_string(levels.smallest) + " to " + std::to_string(levels.largest));
  }
  if (encoding.compression == Compression::zstd && !has_zstd()) {
    throw ChakraError(path.string() +
                      ": zstd cannot be written: this build of chakra_core has no zstd; use .gz, or give the "
                      "compression");
  }
  return encoding;
}

std::unique_ptr<ByteStream> make_inflating_stream(std::unique_ptr<ByteStream> compressed, Compression compression,
                                                  std::string name) {
  return compression == Compression::gzip ? make_gzip_stream(std::move(compressed), std::move(name))
                                          : make_zstd_stream(std::move(compressed), std::move(name));
}

std::unique_ptr<Compressor> make_compressor(const Encoding& encoding, Compressor::Put put) {
  switch (encoding.compression) {
    case Compression::gzip:
      return make_gzip_compressor(encoding.level, std::move(put));
    case Compression::zstd:
      return make_zstd_compressor(encoding.level, std::move(put));
    case Compression::none:
      break;
  }
  return nullptr;
}

}  // namespace chakra::io
