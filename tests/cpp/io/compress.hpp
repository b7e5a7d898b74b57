// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <zlib.h>

#include "chakra_core/errors.hpp"
#include "io/codec.hpp"

namespace chakra::test {

struct GzipMember {
  int level = 6;
  int strategy = Z_DEFAULT_STRATEGY;
  bool whole_header = false;  ///< with everything that a header may have
};

/// One gzip member, made by zlib itself.
inline std::string compress(std::string_view bytes, const GzipMember& member = {}) {
  z_stream stream{};
  deflateInit2(&stream, member.level, Z_DEFLATED, 15 + 16, 8, member.strategy);
  gz_header header{};
  Bytef extra[] = "extra";
  Bytef name[] = "name";
  Bytef comment[] = "comment";
  header.extra = extra;
  header.extra_len = sizeof(extra);
  header.name = name;
  header.comment = comment;
  header.hcrc = 1;
  if (member.whole_header) {
    deflateSetHeader(&stream, &header);
  }
  std::string out(deflateBound(&stream, bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// All that the bytes inflate to, and why that ended early, if it did.
struct Inflated {
  std::string bytes;
  std::string problem;
};

inline Inflated inflate(std::string_view compressed) {
  Inflated result;
  try {
    const Compression compression = io::detect_compression(compressed);
    const auto stream = io::make_inflating_stream(io::make_memory_stream(compressed), compression, "<test>");
    std::string piece(10'007, '\0');
    while (const std::size_t count = stream->read(std::as_writable_bytes(std::span(piece)))) {
      result.bytes.append(piece, 0, count);
    }
  } catch (const FormatError& error) {
    result.problem = error.what();
  }
  return result;
}

/// Compressed by the library itself.
inline std::string compress_as(Compression compression, std::string_view bytes, int level = 1) {
  std::string out;
  const auto compressor = io::make_compressor({compression, level}, [&](std::string_view part) { out += part; });
  compressor->write(bytes);
  compressor->finish();
  return out;
}

}  // namespace chakra::test
