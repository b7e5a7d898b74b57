// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "io/byte_stream.hpp"

namespace chakra::io {

/// A piece of a stream in memory of its own: who holds the chunk may keep views of its bytes.
struct Chunk {
  std::unique_ptr<char[]> memory;
  std::size_t size = 0;

  std::string_view bytes() const noexcept { return {memory.get(), size}; }
};

/// Reads a stream ahead on a thread of its own; a bounded queue of chunks lies between.
class ReadAhead {
 public:
  /// With `max_bytes`, a longer stream ends with a FormatError after so many bytes at most; `name` stands in it.
  explicit ReadAhead(std::unique_ptr<ByteStream> stream, std::string name = {}, std::uint64_t max_bytes = 0);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// The next chunk, never empty; nothing at the end. Throws what the stream throws, after all chunks before that.
  std::optional<Chunk> next();
  /// The bytes of the chunk that next() will give; empty at the end, and where next() will throw.
  std::string_view peek();

  std::uint64_t source_position() const noexcept { return position_.load(std::memory_order_relaxed); }
  std::uint64_t source_size() const noexcept { return size_; }

 private:
  void wait_for_chunk(std::unique_lock<std::mutex>& lock);
  void produce() noexcept;
  bool produce_chunk(std::size_t capacity);

  std::unique_ptr<ByteStream> stream_;
  std::string name_;
  std::uint64_t max_bytes_;
  std::uint64_t size_;
  std::uint64_t produced_ = 0;
  std::atomic<std::uint64_t> position_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Chunk> full_;
  std::exception_ptr failure_;
  bool ended_ = false;
  bool stopping_ = false;
  std::jthread thread_;  // last, so that it is joined before anything it uses goes
};

/// The same as a ByteStream.
std::unique_ptr<ByteStream> make_read_ahead_stream(std::unique_ptr<ReadAhead> chunks);

}  // namespace chakra::io
