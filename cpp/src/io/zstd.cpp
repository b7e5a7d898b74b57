// SPDX-License-Identifier: MIT
#include <new>
#include <utility>
#include <vector>

#include <zstd.h>
#include <zstd_errors.h>

#include "chakra_core/errors.hpp"
#include "io/codec.hpp"
#include "io/inflating_stream.hpp"

namespace chakra {

bool has_zstd() noexcept { return true; }

}  // namespace chakra

namespace chakra::io {

namespace {

template <auto Free>
struct FreeWith {
  template <class Object>
  void operator()(Object* object) const noexcept {
    Free(object);
  }
};

/// Inflates one zstd frame after the other. Windows beyond the library's usual limit (128 MiB) are refused, so that a
/// crafted header cannot ask for much memory.
class ZstdStream final : public InflatingStream {
 public:
  ZstdStream(std::unique_ptr<ByteStream> compressed, std::string name)
      : InflatingStream(std::move(compressed), std::move(name)), context_(ZSTD_createDCtx()) {
    if (!context_) {
      throw std::bad_alloc();
    }
  }

 protected:
  Step step(std::span<const std::byte> input, std::span<std::byte> into) override {
    if (input.empty() && between_frames_) {
      end_of_data();
      return {};
    }
    ZSTD_inBuffer in{input.data(), input.size(), 0};
    ZSTD_outBuffer out{into.data(), into.size(), 0};
    const std::size_t status = ZSTD_decompressStream(context_.get(), &out, &in);
    if (ZSTD_isError(status) != 0) {
      fail_for(status, in.pos);
    }
    if (input.empty() && out.pos == 0) {
      fail("the zstd data ends in the middle; the file is truncated");
    }
    between_frames_ = status == 0;
    first_frame_ = first_frame_ && !between_frames_;
    return {in.pos, out.pos};
  }

 private:
  [[noreturn]] void fail_for(std::size_t status, std::size_t taken) const {
    if (between_frames_ && !first_frame_ && ZSTD_getErrorCode(status) == ZSTD_error_prefix_unknown) {
      fail("bytes that are not zstd follow the end of the zstd data", taken);
    }
    fail(std::string("the zstd data is damaged (") + ZSTD_getErrorName(status) + ")", taken);
  }

  std::unique_ptr<ZSTD_DCtx, FreeWith<ZSTD_freeDCtx>> context_;
  bool between_frames_ = true;
  bool first_frame_ = true;
};

class ZstdCompressor final : public Compressor {
 public:
  ZstdCompressor(int level, Put put)
      : put_(std::move(put)), context_(ZSTD_createCCtx()), buffer_(ZSTD_CStreamOutSize()) {
    if (!context_) {
      throw std::bad_alloc();
    }
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
  }

  void write(std::string_view bytes) override { run(bytes, ZSTD_e_continue); }
  void finish() override { run({}, ZSTD_e_end); }

 private:
  void run(std::string_view bytes, ZSTD_EndDirective directive) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    std::size_t left = 0;
    do {
      ZSTD_outBuffer out{buffer_.data(), buffer_.size(), 0};
      left = ZSTD_compressStream2(context_.get(), &out, &in, directive);
      if (ZSTD_isError(left) != 0) {
        throw ChakraError(std::string("zstd cannot compress: ") + ZSTD_getErrorName(left));
      }
      put_({buffer_.data(), out.pos});
    } while (in.pos < in.size || (directive == ZSTD_e_end && left != 0));
  }

  Put put_;
  std::unique_ptr<ZSTD_CCtx, FreeWith<ZSTD_freeCCtx>> context_;
  std::vector<char> buffer_;
};

}  // namespace

std::unique_ptr<ByteStream> make_zstd_stream(std::unique_ptr<ByteStream> compressed, std::string name) {
  return std::make_unique<ZstdStream>(std::move(compressed), std::move(name));
}

std::unique_ptr<Compressor> make_zstd_compressor(int level, Compressor::Put put) {
  return std::make_unique<ZstdCompressor>(level, std::move(put));
}

}  // namespace chakra::io
