// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "io/codec.hpp"

namespace chakra::io {

/// A file that appears under its name only when it is complete: written to a temporary file beside it
/// and renamed by commit(). Without commit() nothing is left behind. Optionally compressed. A link stays a link to the
/// file that is written; a device or pipe is written directly.
class OutputFile {
 public:
  /// Throws IoError.
  explicit OutputFile(std::filesystem::path path, const Encoding& encoding = {});
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Throws IoError.
  void write(std::string_view bytes);
  /// Has the system copy bytes of another file; returns how many, which may be fewer than `size` or none where it
  /// cannot or the output is compressed.
  std::size_t copy_from(int descriptor, std::uint64_t offset, std::size_t size);
  /// Throws IoError.
  void commit();

 private:
  void put(std::string_view bytes);

  std::filesystem::path path_;
  std::filesystem::path temporary_;  ///< empty when the target is written directly, and after commit()
  std::FILE* file_ = nullptr;
  std::unique_ptr<Compressor> compressor_;
};

}  // namespace chakra::io
