// SPDX-License-Identifier: MIT
// Instead of zstd.cpp in a build without libzstd.
#include "chakra_core/errors.hpp"
#include "io/codec.hpp"

namespace chakra {

bool has_zstd() noexcept { return false; }

}  // namespace chakra

namespace chakra::io {

std::unique_ptr<ByteStream> make_zstd_stream(std::unique_ptr<ByteStream> /*compressed*/, std::string name) {
  throw FormatError(
      {.path = std::move(name), .offset = 0},
      "is compressed with zstd, which this build of chakra_core cannot read; decompress it (zstd -d), use "
      "gzip, or build with libzstd-dev installed");
}

std::unique_ptr<Compressor> make_zstd_compressor(int /*level*/, Compressor::Put /*put*/) {
  throw ChakraError("zstd cannot be written: this build of chakra_core has no zstd");
}

}  // namespace chakra::io
