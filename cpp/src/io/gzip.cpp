// SPDX-License-Identifier: MIT
#include "io/gzip.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <new>

#include <zlib.h>

namespace chakra::io {

namespace {

constexpr int gzip_only = 15 + 16;  // window bits, plus zlib's code for "gzip header and trailer"
constexpr std::size_t output_step = 1 << 20;

class InflateStream {
 public:
  InflateStream() {
    if (inflateInit2(&stream, gzip_only) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~InflateStream() { inflateEnd(&stream); }
  InflateStream(const InflateStream&) = delete;
  InflateStream& operator=(const InflateStream&) = delete;

  z_stream stream{};
};

/// zlib counts in unsigned int; longer input is given in pieces.
uInt piece(std::size_t left) noexcept {
  return static_cast<uInt>(std::min<std::size_t>(left, std::numeric_limits<uInt>::max()));
}

}  // namespace

bool is_gzip(std::string_view bytes) noexcept { return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b'; }

Inflated inflate_all(std::string_view compressed) {
  Inflated result;
  InflateStream inflater;
  z_stream& stream = inflater.stream;
  std::size_t taken = 0;
  std::size_t written = 0;
  const auto at = [&] { return " at byte offset " + std::to_string(taken) + " of the compressed file"; };
  while (true) {
    if (result.bytes.size() - written < output_step) {
      result.bytes.resize(std::max(written + output_step, result.bytes.size() * 2));
    }
    // zlib's interface predates const, but it only reads the input.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data() + taken));
    stream.avail_in = piece(compressed.size() - taken);
    stream.next_out = reinterpret_cast<Bytef*>(result.bytes.data() + written);
    stream.avail_out = piece(result.bytes.size() - written);
    const uInt in_before = stream.avail_in;
    const uInt out_before = stream.avail_out;
    const int status = inflate(&stream, Z_NO_FLUSH);
    taken += in_before - stream.avail_in;
    written += out_before - stream.avail_out;
    if (status == Z_STREAM_END) {
      if (taken == compressed.size()) {
        break;
      }
      if (compressed.find_first_not_of('\0', taken) == std::string_view::npos) {
        break;  // padding to a block size, which gzip(1) and Python's gzip skip too
      }
      if (!is_gzip(compressed.substr(taken))) {
        result.problem = "bytes that are no gzip member follow" + at();
        break;
      }
      inflateReset(&stream);
    } else if (status == Z_BUF_ERROR || (status == Z_OK && taken == compressed.size() && stream.avail_out != 0)) {
      result.problem = "the gzip stream is cut off" + at();
      break;
    } else if (status != Z_OK) {
      result.problem = "the gzip stream is damaged" + at();
      break;
    }
  }
  result.bytes.resize(written);
  result.bytes.shrink_to_fit();
  return result;
}

}  // namespace chakra::io
