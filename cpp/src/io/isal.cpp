// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>

#include <isa-l/igzip_lib.h>
#include <zlib.h>

#include "io/codec.hpp"
#include "io/gzip_members.hpp"

namespace chakra::io {

namespace {

/// The library counts in 32 bits; longer pieces are given in parts.
std::uint32_t part(std::size_t size) noexcept {
  return static_cast<std::uint32_t>(std::min<std::size_t>(size, std::numeric_limits<std::uint32_t>::max()));
}

const char* in_words(int problem) noexcept {
  switch (problem) {
    case ISAL_INVALID_BLOCK:
      return "invalid block";
    case ISAL_INVALID_SYMBOL:
      return "invalid code";
    case ISAL_INVALID_LOOKBACK:
      return "invalid distance too far back";
    case ISAL_INVALID_WRAPPER:
      return "incorrect header check";
    case ISAL_UNSUPPORTED_METHOD:
      return "unknown compression method";
    case ISAL_INCORRECT_CHECKSUM:
      return "incorrect data check";
    default:
      return "inflate";
  }
}

/// Reads headers by zlib: ISA-L 2.30 takes the checksum of a header for wrong when the header comes in pieces.
class MemberHeader {
 public:
  MemberHeader() {
    constexpr int gzip_only = 15 + 16;
    if (inflateInit2(&stream_, gzip_only) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~MemberHeader() { inflateEnd(&stream_); }
  MemberHeader(const MemberHeader&) = delete;
  MemberHeader& operator=(const MemberHeader&) = delete;

  /// Returns how many bytes belong to the header.
  std::size_t take(std::span<const std::byte> input) noexcept {
    Bytef unused = 0;
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(input.data()));
    stream_.avail_in = part(input.size());
    stream_.next_out = &unused;
    stream_.avail_out = 1;
    const uInt there = stream_.avail_in;
    const int status = inflate(&stream_, Z_BLOCK);  // stops before the first block
    constexpr int before_block = 128;
    is_complete_ = (stream_.data_type & before_block) != 0;
    is_damaged_ = status != Z_OK && status != Z_BUF_ERROR;
    return there - stream_.avail_in;
  }
  bool is_complete() const noexcept { return is_complete_; }
  const char* damage() const noexcept {
    return !is_damaged_ ? nullptr : stream_.msg != nullptr ? stream_.msg : "header";
  }
  void reset() noexcept {
    inflateReset(&stream_);
    is_complete_ = false;
  }

 private:
  z_stream stream_{};
  bool is_complete_ = false;
  bool is_damaged_ = false;
};

class IsalStream final : public GzipMembers {
 public:
  IsalStream(std::unique_ptr<ByteStream> compressed, std::string name)
      : GzipMembers(std::move(compressed), std::move(name)), state_(std::make_unique<inflate_state>()) {
    isal_inflate_init(state_.get());
    state_->crc_flag = ISAL_GZIP_NO_HDR_VER;
  }

 private:
  MemberStep inflate_member(std::span<const std::byte> input, std::span<std::byte> into) override {
    if (!header_.is_complete()) {
      const std::size_t taken = header_.take(input);
      return {.taken = taken, .why = header_.damage()};
    }
    // Its interface predates const, but it only reads the input.
    state_->next_in = reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(input.data()));
    state_->avail_in = part(input.size());
    state_->next_out = reinterpret_cast<std::uint8_t*>(into.data());
    state_->avail_out = part(into.size());
    const std::uint32_t there = state_->avail_in;
    const std::uint32_t room = state_->avail_out;
    const int status = isal_inflate(state_.get());
    MemberStep done{there - state_->avail_in, room - state_->avail_out};
    if (status < 0) {
      done.why = in_words(status);
    } else if (state_->block_state == ISAL_BLOCK_FINISH) {
      done.at_end = true;
      // Whole bytes that it read ahead belong to what follows. All were in this piece: before the last eight bytes of
      // a member are there, nothing is read beyond them.
      done.taken -= std::min<std::size_t>(done.taken, static_cast<std::size_t>(state_->read_in_length / 8));
    }
    return done;
  }

  void begin_member() override {
    header_.reset();
    isal_inflate_reset(state_.get());
    state_->crc_flag = ISAL_GZIP_NO_HDR_VER;
  }

  MemberHeader header_;
  std::unique_ptr<inflate_state> state_;  ///< 80 KiB
};

}  // namespace

bool has_isal() noexcept { return true; }

std::unique_ptr<ByteStream> make_isal_stream(std::unique_ptr<ByteStream> compressed, std::string name) {
  return std::make_unique<IsalStream>(std::move(compressed), std::move(name));
}

}  // namespace chakra::io
