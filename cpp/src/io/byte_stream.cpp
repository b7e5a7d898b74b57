// SPDX-License-Identifier: MIT
#include "io/byte_stream.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include "chakra_core/errors.hpp"
#include "io/codec.hpp"
#include "io/read_ahead.hpp"

namespace chakra::io {

namespace {

class FileStream final : public ByteStream {
 public:
  explicit FileStream(const std::filesystem::path& path) : name_(path.string()) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) {
      throw IoError(name_, "cannot open", EISDIR);
    }
    file_.rdbuf()->pubsetbuf(nullptr, 0);  // the pieces are large; a second buffer would only copy
    file_.open(path, std::ios::binary);
    if (!file_) {
      throw IoError(name_, "cannot open", errno);
    }
    const std::uintmax_t size = std::filesystem::file_size(path, ignored);
    size_ = ignored ? 0 : size;
  }

  std::size_t read(std::span<std::byte> into) override {
    file_.read(reinterpret_cast<char*>(into.data()), static_cast<std::streamsize>(into.size()));
    if (file_.bad()) {
      throw IoError(name_, "cannot read at byte " + std::to_string(position_), errno);
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

}  // namespace

std::unique_ptr<ByteStream> open_byte_stream(const std::filesystem::path& path, bool own_thread) {
  std::array<char, magic_bytes> start{};
  const std::size_t count = FileStream(path).read(std::as_writable_bytes(std::span(start)));
  auto file = std::make_unique<FileStream>(path);
  const Compression compression = detect_compression({start.data(), count});
  if (compression == Compression::none) {
    return file;
  }
  auto inflating = make_inflating_stream(std::move(file), compression, path.string());
  if (!own_thread) {
    return inflating;
  }
  return make_read_ahead_stream(std::make_unique<ReadAhead>(std::move(inflating)));
}

std::unique_ptr<ByteStream> make_memory_stream(std::string_view bytes) { return std::make_unique<MemoryStream>(bytes); }

}  // namespace chakra::io
