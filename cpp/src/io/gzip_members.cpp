// SPDX-License-Identifier: MIT
#include "io/gzip_members.hpp"

#include <algorithm>
#include <utility>

#include "io/codec.hpp"

namespace chakra::io {

InflatingStream::Step GzipMembers::step(std::span<const std::byte> input, std::span<std::byte> into) {
  if (between_members_) {
    return {start_member(input), 0};
  }
  MemberStep done;
  if (damage_ == nullptr) {
    done = inflate_member(input, into);
    damage_ = done.why;
  }
  if (damage_ != nullptr && done.produced == 0) {
    // What was produced is handed out first.
    fail(std::string("the gzip data is damaged (") + damage_ + ")", done.taken);
  }
  if (done.at_end) {
    between_members_ = true;
  } else if (input.empty() && done.produced == 0) {
    fail("the gzip data ends in the middle; the file is truncated");
  }
  return {done.taken, done.produced};
}

/// Looks for another member. Zero bytes may pad the end, as tape and copy tools do; anything else is an error.
std::size_t GzipMembers::start_member(std::span<const std::byte> input) {
  if (input.empty()) {
    end_of_data();
    return 0;
  }
  const auto next = std::find_if(input.begin(), input.end(), [](std::byte byte) { return byte != std::byte{0}; });
  const auto zeros = static_cast<std::size_t>(next - input.begin());
  if (next != input.end()) {
    if (*next != std::byte{0x1F}) {
      fail("bytes that are not gzip follow the end of the gzip data", zeros);
    }
    begin_member();
    between_members_ = false;
  }
  return zeros;
}

std::unique_ptr<ByteStream> make_gzip_stream(std::unique_ptr<ByteStream> compressed, std::string name) {
  return make_isal_stream(std::move(compressed), std::move(name));
}

}  // namespace chakra::io
