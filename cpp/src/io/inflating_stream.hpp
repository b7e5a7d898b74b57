// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/byte_stream.hpp"

namespace chakra::io {

/// What the streams of all compressions share: input that comes in pieces, and errors only after every whole byte.
class InflatingStream : public ByteStream {
 public:
  InflatingStream(std::unique_ptr<ByteStream> compressed, std::string name);

  std::size_t read(std::span<std::byte> into) final;
  std::uint64_t source_position() const noexcept final { return compressed_->source_position(); }
  std::uint64_t source_size() const noexcept final { return compressed_->source_size(); }

 protected:
  struct Step {
    std::size_t taken = 0;
    std::size_t produced = 0;
  };

  /// Inflates from `input`, which is empty only at the end of it, into `into`, once. Calls end_of_data() or throws by
  /// fail() when nothing more can come. `taken` is counted before anything is thrown.
  virtual Step step(std::span<const std::byte> input, std::span<std::byte> into) = 0;

  void end_of_data() noexcept { finished_ = true; }
  /// Throws FormatError for the place after `taken` bytes of the piece given to step().
  [[noreturn]] void fail(const std::string& problem, std::size_t taken = 0) const;

 private:
  void fill_input();

  std::unique_ptr<ByteStream> compressed_;
  std::string name_;
  std::vector<std::byte> buffer_;
  std::span<const std::byte> input_;  ///< the part of the buffer not taken so far
  std::exception_ptr pending_;
  std::uint64_t position_ = 0;
  bool finished_ = false;
};

}  // namespace chakra::io
