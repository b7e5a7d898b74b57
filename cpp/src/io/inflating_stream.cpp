// SPDX-License-Identifier: MIT
#include "io/inflating_stream.hpp"

#include <utility>

#include "chakra_core/errors.hpp"

namespace chakra::io {

namespace {
constexpr std::size_t input_bytes = 256 * 1024;
}

InflatingStream::InflatingStream(std::unique_ptr<ByteStream> compressed, std::string name)
    : compressed_(std::move(compressed)), name_(std::move(name)), buffer_(input_bytes) {}

std::size_t InflatingStream::read(std::span<std::byte> into) {
  if (pending_) {
    std::rethrow_exception(pending_);
  }
  std::size_t produced = 0;
  while (produced < into.size() && !finished_) {
    try {
      fill_input();
      const Step done = step(input_, into.subspan(produced));
      input_ = input_.subspan(done.taken);
      produced += done.produced;
      position_ += done.produced;
    } catch (const ChakraError&) {
      if (produced == 0) {
        throw;
      }
      pending_ = std::current_exception();  // first hand out what is whole
      break;
    }
  }
  return produced;
}

void InflatingStream::fill_input() {
  if (input_.empty()) {
    input_ = std::span(buffer_).first(compressed_->read(buffer_));
  }
}

void InflatingStream::fail(const std::string& problem, std::size_t taken) const {
  const std::uint64_t place = compressed_->source_position() - input_.size() + taken;
  throw FormatError({.path = name_, .offset = position_},
                    problem + " (byte " + std::to_string(place) + " of the compressed file)");
}

}  // namespace chakra::io
