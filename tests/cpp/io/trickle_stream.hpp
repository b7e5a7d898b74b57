// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "io/byte_stream.hpp"

namespace chakra::test {

/// Hands out at most `piece` bytes a call, so that every token is cut somewhere.
class TrickleStream final : public io::ByteStream {
 public:
  TrickleStream(std::string bytes, std::size_t piece) : bytes_(std::move(bytes)), piece_(piece) {}

  std::size_t read(std::span<std::byte> into) override {
    const std::size_t count = std::min({into.size(), piece_, bytes_.size() - position_});
    std::memcpy(into.data(), bytes_.data() + position_, count);
    position_ += count;
    return count;
  }
  std::uint64_t source_position() const noexcept override { return position_; }
  std::uint64_t source_size() const noexcept override { return bytes_.size(); }

 private:
  std::string bytes_;
  std::size_t piece_;
  std::size_t position_ = 0;
};

}  // namespace chakra::test
