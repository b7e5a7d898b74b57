// SPDX-License-Identifier: MIT
// Instead of isal.cpp in a build without ISA-L.
#include <utility>

#include "io/codec.hpp"
#include "io/gzip_members.hpp"

namespace chakra::io {

bool has_isal() noexcept { return false; }

std::unique_ptr<ByteStream> make_isal_stream(std::unique_ptr<ByteStream> compressed, std::string name) {
  return make_zlib_stream(std::move(compressed), std::move(name));
}

}  // namespace chakra::io
