// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "io/file_descriptor.hpp"
#include "trace/trace_storage.hpp"

namespace chakra::io {

/// The file that a trace's records are mapped from, opened again, so that the system can copy from it without our
/// touching the bytes. A mapping does not keep its file open: thousands of traces would need thousands of descriptors.
class MappedOrigin {
 public:
  /// None if no source is a mapped file, or if the file is no longer there or no longer the same.
  static std::optional<MappedOrigin> reopen(const detail::TraceStorage& storage);

  /// A descriptor of the file, and where in it the bytes lie.
  struct Place {
    int descriptor;
    std::uint64_t offset;
  };
  std::optional<Place> place_of(std::string_view bytes) const noexcept;

 private:
  MappedOrigin(FileDescriptor file, std::string_view bytes) noexcept : file_(std::move(file)), bytes_(bytes) {}

  FileDescriptor file_;
  std::string_view bytes_;
};

}  // namespace chakra::io
