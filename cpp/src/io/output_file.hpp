// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace chakra::io {

/// A file that appears under its name only when it is complete: written to a temporary file beside it
/// and renamed by commit(). Without commit() nothing is left behind. Optionally gzip-compressed
/// (without time or name in the header, so that equal content gives equal bytes). A link stays a link to the file
/// that is written; a device or pipe is written directly.
class OutputFile {
 public:
  /// `gzip_level` 0 writes plain bytes. Throws IoError.
  explicit OutputFile(std::filesystem::path path, int gzip_level = 0);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Throws IoError.
  void write(std::string_view bytes);
  void commit();

 private:
  class Deflater;
  void put(std::string_view bytes);

  std::filesystem::path path_;
  std::filesystem::path temporary_;  ///< empty when the target is written directly, and after commit()
  std::FILE* file_ = nullptr;
  std::unique_ptr<Deflater> deflater_;
};

/// The name ends in ".gz".
bool has_gzip_name(const std::filesystem::path& path);

}  // namespace chakra::io
