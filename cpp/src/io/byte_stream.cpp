// SPDX-License-Identifier: MIT
#include "io/byte_stream.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <fstream>
#include <limits>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <zlib.h>

#include "chakra_core/errors.hpp"

namespace chakra::io {

namespace {

class FileStream final : public ByteStream {
 public:
  explicit FileStream(const std::filesystem::path& path) : name_(path.string()) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) {
      throw ChakraError(name_ + ": is a directory, not a file");
    }
    file_.rdbuf()->pubsetbuf(nullptr, 0);  // the pieces are large; a second buffer would only copy
    file_.open(path, std::ios::binary);
    if (!file_) {
      throw ChakraError(name_ + ": cannot be opened: " + std::strerror(errno));
    }
    const std::uintmax_t size = std::filesystem::file_size(path, ignored);
    size_ = ignored ? 0 : size;
  }

  std::size_t read(std::span<std::byte> into) override {
    file_.read(reinterpret_cast<char*>(into.data()), static_cast<std::streamsize>(into.size()));
    if (file_.bad()) {
      throw ChakraError(name_ + ": reading failed at byte " + std::to_string(position_));
    }
    const auto count = static_cast<std::size_t>(file_.gcount());
    position_ += count;
    return count;
  }
  std::uint64_t source_position() const noexcept override { return position_; }
  std::uint64_t source_size() const noexcept override { return size_; }

 private:
  std::string name_;
  std::ifstream file_;
  std::uint64_t position_ = 0;
  std::uint64_t size_ = 0;
};

class MemoryStream final : public ByteStream {
 public:
  explicit MemoryStream(std::string_view bytes) : bytes_(bytes) {}

  std::size_t read(std::span<std::byte> into) override {
    const std::size_t count = std::min(into.size(), bytes_.size() - position_);
    if (count > 0) {
      std::memcpy(into.data(), bytes_.data() + position_, count);
    }
    position_ += count;
    return count;
  }
  std::uint64_t source_position() const noexcept override { return position_; }
  std::uint64_t source_size() const noexcept override { return bytes_.size(); }

 private:
  std::string_view bytes_;
  std::size_t position_ = 0;
};

/// Inflates one gzip member after the other.
class GzipStream final : public ByteStream {
 public:
  GzipStream(std::unique_ptr<ByteStream> compressed, std::string name)
      : compressed_(std::move(compressed)), name_(std::move(name)), input_(256 * 1024) {
    constexpr int gzip_window_bits = 15 + 16;
    if (inflateInit2(&inflate_, gzip_window_bits) != Z_OK) {
      throw ChakraError(name_ + ": zlib cannot be initialised (out of memory?)");
    }
  }
  ~GzipStream() override { inflateEnd(&inflate_); }

  std::size_t read(std::span<std::byte> into) override {
    if (pending_) {
      std::rethrow_exception(pending_);
    }
    std::size_t produced = 0;
    while (produced < into.size() && !finished_) {
      try {
        produced += step(into.subspan(produced));
      } catch (const ChakraError&) {
        if (produced == 0) {
          throw;
        }
        pending_ = std::current_exception();  // first hand out what is whole
        break;
      }
    }
    position_ += produced;
    return produced;
  }
  std::uint64_t source_position() const noexcept override { return compressed_->source_position(); }
  std::uint64_t source_size() const noexcept override { return compressed_->source_size(); }

 private:
  bool fill_input() {
    if (inflate_.avail_in > 0) {
      return true;
    }
    const std::size_t count = compressed_->read(input_);
    inflate_.next_in = reinterpret_cast<Bytef*>(input_.data());
    inflate_.avail_in = static_cast<uInt>(count);
    return count > 0;
  }

  /// Inflates into `into` once; returns how many bytes came out.
  std::size_t step(std::span<std::byte> into) {
    if (between_members_ && !start_member()) {
      finished_ = true;
      return 0;
    }
    if (!fill_input()) {
      fail("the gzip data ends in the middle; the file is truncated");
    }
    const auto room = static_cast<uInt>(std::min<std::size_t>(into.size(), std::numeric_limits<uInt>::max()));
    inflate_.next_out = reinterpret_cast<Bytef*>(into.data());
    inflate_.avail_out = room;
    const int status = inflate(&inflate_, Z_NO_FLUSH);
    const std::size_t produced = room - inflate_.avail_out;
    if (status == Z_STREAM_END) {
      between_members_ = true;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      if (produced == 0) {  // otherwise hand out what came; the next step fails again
        fail(std::string("the gzip data is damaged (") + (inflate_.msg != nullptr ? inflate_.msg : "inflate") + ")");
      }
    }
    return produced;
  }

  /// Looks for another member. Zero bytes may pad the end, as tape and copy tools do; anything else is an error.
  bool start_member() {
    while (fill_input()) {
      const Bytef first = *inflate_.next_in;
      if (first == 0x1F) {
        inflateReset(&inflate_);
        between_members_ = false;
        return true;
      }
      if (first != 0) {
        fail("bytes that are not gzip follow the end of the gzip data");
      }
      ++inflate_.next_in;
      --inflate_.avail_in;
    }
    return false;
  }

  [[noreturn]] void fail(const std::string& problem) const {
    const std::uint64_t compressed_offset = compressed_->source_position() - inflate_.avail_in;
    throw FormatError({.path = name_, .offset = position_},
                      problem + " (byte " + std::to_string(compressed_offset) + " of the compressed file)");
  }

  std::unique_ptr<ByteStream> compressed_;
  std::string name_;
  std::vector<std::byte> input_;
  z_stream inflate_{};
  std::exception_ptr pending_;
  std::uint64_t position_ = 0;
  bool between_members_ = false;
  bool finished_ = false;
};

/// Reads another stream ahead on a thread of its own; a bounded queue of blocks lies between.
class ReadAheadStream final : public ByteStream {
 public:
  explicit ReadAheadStream(std::unique_ptr<ByteStream> inner)
      : inner_(std::move(inner)), size_(inner_->source_size()), thread_([this] { produce(); }) {}

  ~ReadAheadStream() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
  }

  std::size_t read(std::span<std::byte> into) override {
    if (taken_ == current_.size() && !take_block()) {
      return 0;
    }
    const std::size_t count = std::min(into.size(), current_.size() - taken_);
    if (count > 0) {
      std::memcpy(into.data(), current_.data() + taken_, count);
    }
    taken_ += count;
    return count;
  }
  std::uint64_t source_position() const noexcept override { return position_.load(std::memory_order_relaxed); }
  std::uint64_t source_size() const noexcept override { return size_; }

 private:
  using Block = std::vector<std::byte>;
  static constexpr std::size_t block_bytes = 1 << 20;
  static constexpr std::size_t max_blocks = 4;

  bool take_block() {
    std::unique_lock lock(mutex_);
    if (!current_.empty()) {
      spare_.push_back(std::move(current_));
    }
    current_.clear();
    taken_ = 0;
    changed_.wait(lock, [this] { return !full_.empty() || ended_; });
    if (full_.empty()) {
      if (failure_) {
        std::rethrow_exception(failure_);
      }
      return false;
    }
    current_ = std::move(full_.front());
    full_.pop_front();
    lock.unlock();
    changed_.notify_all();
    return true;
  }

  void produce() noexcept {
    std::exception_ptr failure;
    try {
      while (produce_block()) {
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

  bool produce_block() {
    Block block;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || full_.size() < max_blocks; });
      if (stopping_) {
        return false;
      }
      if (!spare_.empty()) {
        block = std::move(spare_.back());
        spare_.pop_back();
      }
    }
    block.resize(block_bytes);
    const std::size_t count = inner_->read(block);
    position_.store(inner_->source_position(), std::memory_order_relaxed);
    if (count == 0) {
      return false;
    }
    block.resize(count);
    {
      const std::lock_guard lock(mutex_);
      full_.push_back(std::move(block));
    }
    changed_.notify_all();
    return true;
  }

  std::unique_ptr<ByteStream> inner_;
  std::uint64_t size_;
  std::atomic<std::uint64_t> position_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Block> full_;
  std::vector<Block> spare_;
  std::exception_ptr failure_;
  bool ended_ = false;
  bool stopping_ = false;
  Block current_;          // of the reading thread only
  std::size_t taken_ = 0;  // likewise
  std::jthread thread_;    // last, so that it is joined before anything it uses goes
};

}  // namespace

std::unique_ptr<ByteStream> open_byte_stream(const std::filesystem::path& path, bool own_thread) {
  std::array<std::byte, 4> start{};
  const std::size_t count = FileStream(path).read(start);
  const auto starts_with = [&](std::initializer_list<unsigned char> magic) {
    return count >= magic.size() && std::equal(magic.begin(), magic.end(), start.begin(),
                                               [](unsigned char a, std::byte b) { return std::byte{a} == b; });
  };
  if (starts_with({0x28, 0xB5, 0x2F, 0xFD})) {
    throw FormatError({.path = path.string(), .offset = 0},
                      "is compressed with zstd, which cannot be streamed here; decompress it or use gzip");
  }
  auto file = std::make_unique<FileStream>(path);
  if (!starts_with({0x1F, 0x8B})) {
    return file;
  }
  auto inflating = std::make_unique<GzipStream>(std::move(file), path.string());
  if (!own_thread) {
    return inflating;
  }
  return std::make_unique<ReadAheadStream>(std::move(inflating));
}

std::unique_ptr<ByteStream> make_memory_stream(std::string_view bytes) { return std::make_unique<MemoryStream>(bytes); }

}  // namespace chakra::io
