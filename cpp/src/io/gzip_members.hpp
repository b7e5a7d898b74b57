// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "io/inflating_stream.hpp"

namespace chakra::io {

/// Inflates one gzip member after the other; which library does so is for the classes below it.
class GzipMembers : public InflatingStream {
 public:
  using InflatingStream::InflatingStream;

 protected:
  struct MemberStep {
    std::size_t taken = 0;
    std::size_t produced = 0;
    bool at_end = false;        ///< of the member, whose checksum is right
    const char* why = nullptr;  ///< the member is damaged
  };

  /// Inflates a part of a member, once. What follows its end is not taken.
  virtual MemberStep inflate_member(std::span<const std::byte> input, std::span<std::byte> into) = 0;
  virtual void begin_member() = 0;

 private:
  Step step(std::span<const std::byte> input, std::span<std::byte> into) final;
  std::size_t start_member(std::span<const std::byte> input);

  bool between_members_ = false;
  const char* damage_ = nullptr;  ///< not every library fails again when it is asked again
};

/// By zlib, which is always there.
std::unique_ptr<ByteStream> make_zlib_stream(std::unique_ptr<ByteStream> compressed, std::string name);

/// By ISA-L, which takes a third of the time or less; by zlib where it is not built in.
std::unique_ptr<ByteStream> make_isal_stream(std::unique_ptr<ByteStream> compressed, std::string name);

}  // namespace chakra::io
