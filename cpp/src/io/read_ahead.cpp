// SPDX-License-Identifier: MIT
#include "io/read_ahead.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "chakra_core/errors.hpp"

namespace chakra::io {

namespace {

/// Chunks grow, so that a short stream needs little memory.
constexpr std::size_t first_chunk_bytes = std::size_t{1} << 16;
constexpr std::size_t largest_chunk_bytes = std::size_t{1} << 20;
constexpr std::size_t max_chunks = 4;

Chunk read_chunk(ByteStream& stream, std::size_t capacity) {
  Chunk chunk{std::make_unique_for_overwrite<char[]>(capacity), 0};
  chunk.size = stream.read(std::as_writable_bytes(std::span(chunk.memory.get(), capacity)));
  if (chunk.size < capacity) {
    auto fitting = std::make_unique_for_overwrite<char[]>(chunk.size);
    std::copy_n(chunk.memory.get(), chunk.size, fitting.get());
    chunk.memory = std::move(fitting);
  }
  return chunk;
}

class ReadAheadStream final : public ByteStream {
 public:
  explicit ReadAheadStream(std::unique_ptr<ReadAhead> chunks) : chunks_(std::move(chunks)) {}

  std::size_t read(std::span<std::byte> into) override {
    if (taken_ == current_.size) {
      taken_ = 0;
      current_ = chunks_->next().value_or(Chunk{});
    }
    const std::size_t count = std::min(into.size(), current_.size - taken_);
    if (count > 0) {
      std::memcpy(into.data(), current_.memory.get() + taken_, count);
    }
    taken_ += count;
    return count;
  }
  std::uint64_t source_position() const noexcept override { return chunks_->source_position(); }
  std::uint64_t source_size() const noexcept override { return chunks_->source_size(); }

 private:
  std::unique_ptr<ReadAhead> chunks_;
  Chunk current_;
  std::size_t taken_ = 0;
};

}  // namespace

ReadAhead::ReadAhead(std::unique_ptr<ByteStream> stream, std::string name, std::uint64_t max_bytes)
    : stream_(std::move(stream)),
      name_(std::move(name)),
      max_bytes_(max_bytes),
      size_(stream_->source_size()),
      thread_([this] { produce(); }) {}

ReadAhead::~ReadAhead() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
}

void ReadAhead::wait_for_chunk(std::unique_lock<std::mutex>& lock) {
  changed_.wait(lock, [this] { return !full_.empty() || ended_; });
}

std::string_view ReadAhead::peek() {
  std::unique_lock lock(mutex_);
  wait_for_chunk(lock);
  return full_.empty() ? std::string_view() : full_.front().bytes();
}

std::optional<Chunk> ReadAhead::next() {
  std::optional<Chunk> chunk;
  {
    std::unique_lock lock(mutex_);
    wait_for_chunk(lock);
    if (full_.empty()) {
      if (failure_) {
        std::rethrow_exception(failure_);
      }
      return chunk;
    }
    chunk = std::move(full_.front());
    full_.pop_front();
  }
  changed_.notify_all();
  return chunk;
}

void ReadAhead::produce() noexcept {
  std::exception_ptr failure;
  try {
    std::size_t capacity = first_chunk_bytes;
    while (produce_chunk(capacity)) {
      capacity = std::min(capacity * 2, largest_chunk_bytes);
    }
  } catch (...) {
    failure = std::current_exception();
  }
  {
    const std::lock_guard lock(mutex_);
    failure_ = failure;
    ended_ = true;
  }
  changed_.notify_all();
}

bool ReadAhead::produce_chunk(std::size_t capacity) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stopping_ || full_.size() < max_chunks; });
    if (stopping_) {
      return false;
    }
  }
  Chunk chunk = read_chunk(*stream_, capacity);
  position_.store(stream_->source_position(), std::memory_order_relaxed);
  if (chunk.size == 0) {
    return false;
  }
  if (max_bytes_ != 0 && chunk.size > max_bytes_ - produced_) {
    throw FormatError({name_, {}, produced_}, "the file inflates to more than the limit of " +
                                                  std::to_string(max_bytes_) +
                                                  " bytes; raise the limit if the file is to be trusted");
  }
  produced_ += chunk.size;
  {
    const std::lock_guard lock(mutex_);
    full_.push_back(std::move(chunk));
  }
  changed_.notify_all();
  return true;
}

std::unique_ptr<ByteStream> make_read_ahead_stream(std::unique_ptr<ReadAhead> chunks) {
  return std::make_unique<ReadAheadStream>(std::move(chunks));
}

}  // namespace chakra::io
