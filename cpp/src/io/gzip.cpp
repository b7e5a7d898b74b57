// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <utility>

#include <zlib.h>

#include "io/codec.hpp"
#include "io/gzip_members.hpp"

namespace chakra::io {

namespace {

constexpr int gzip_only = 15 + 16;  // window bits, plus zlib's code for "gzip header and trailer"

/// zlib counts in unsigned int; longer input is given in pieces.
uInt piece(std::size_t left) noexcept {
  return static_cast<uInt>(std::min<std::size_t>(left, std::numeric_limits<uInt>::max()));
}

/// zlib's interface predates const, but it only reads the input.
Bytef* input_pointer(const void* bytes) noexcept { return static_cast<Bytef*>(const_cast<void*>(bytes)); }

class ZlibStream final : public GzipMembers {
 public:
  ZlibStream(std::unique_ptr<ByteStream> compressed, std::string name)
      : GzipMembers(std::move(compressed), std::move(name)) {
    if (inflateInit2(&inflate_, gzip_only) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~ZlibStream() override { inflateEnd(&inflate_); }

 private:
  MemberStep inflate_member(std::span<const std::byte> input, std::span<std::byte> into) override {
    inflate_.next_in = input_pointer(input.data());
    inflate_.avail_in = piece(input.size());
    inflate_.next_out = reinterpret_cast<Bytef*>(into.data());
    inflate_.avail_out = piece(into.size());
    const uInt room = inflate_.avail_out;
    const uInt there = inflate_.avail_in;
    const int status = inflate(&inflate_, Z_NO_FLUSH);
    MemberStep done{there - inflate_.avail_in, room - inflate_.avail_out, status == Z_STREAM_END};
    if (!done.at_end && status != Z_OK && status != Z_BUF_ERROR) {
      done.why = inflate_.msg != nullptr ? inflate_.msg : "inflate";
    }
    return done;
  }
  void begin_member() override { inflateReset(&inflate_); }

  z_stream inflate_{};
};

class GzipCompressor final : public Compressor {
 public:
  GzipCompressor(int level, Put put) : put_(std::move(put)) {
    constexpr int memory_level = 8;
    if (deflateInit2(&stream_, level, Z_DEFLATED, gzip_only, memory_level, Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~GzipCompressor() override { deflateEnd(&stream_); }

  void write(std::string_view bytes) override {
    constexpr std::size_t largest_piece = std::size_t{1} << 30;
    while (!bytes.empty()) {
      const std::string_view part = bytes.substr(0, largest_piece);
      run(part, Z_NO_FLUSH);
      bytes.remove_prefix(part.size());
    }
  }
  void finish() override { run({}, Z_FINISH); }

 private:
  void run(std::string_view part, int flush) {
    stream_.next_in = input_pointer(part.data());
    stream_.avail_in = static_cast<uInt>(part.size());
    int status = Z_OK;
    do {
      stream_.next_out = buffer_.data();
      stream_.avail_out = static_cast<uInt>(buffer_.size());
      status = deflate(&stream_, flush);
      put_({reinterpret_cast<const char*>(buffer_.data()), buffer_.size() - stream_.avail_out});
    } while (stream_.avail_out == 0 || (flush == Z_FINISH && status == Z_OK));
  }

  Put put_;
  z_stream stream_{};
  std::array<Bytef, 1 << 16> buffer_{};
};

}  // namespace

std::unique_ptr<ByteStream> make_zlib_stream(std::unique_ptr<ByteStream> compressed, std::string name) {
  return std::make_unique<ZlibStream>(std::move(compressed), std::move(name));
}

std::unique_ptr<Compressor> make_gzip_compressor(int level, Compressor::Put put) {
  return std::make_unique<GzipCompressor>(level, std::move(put));
}

}  // namespace chakra::io
