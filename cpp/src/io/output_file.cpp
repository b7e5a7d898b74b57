// SPDX-License-Identifier: MIT
#include "io/output_file.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "chakra_core/errors.hpp"

namespace chakra::io {

class OutputFile::Deflater {
 public:
  Deflater(OutputFile& file, int level) : file_(file) {
    constexpr int gzip_format = 15 + 16;
    constexpr int memory_level = 8;
    if (deflateInit2(&stream_, level, Z_DEFLATED, gzip_format, memory_level, Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~Deflater() { deflateEnd(&stream_); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  void write(std::string_view bytes) {
    constexpr std::size_t largest_piece = std::size_t{1} << 30;
    while (!bytes.empty()) {
      const std::string_view piece = bytes.substr(0, largest_piece);
      run(piece, Z_NO_FLUSH);
      bytes.remove_prefix(piece.size());
    }
  }
  void finish() { run({}, Z_FINISH); }

 private:
  void run(std::string_view piece, int flush) {
    // zlib's interface predates const, but it only reads the input.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
    stream_.avail_in = static_cast<uInt>(piece.size());
    int status = Z_OK;
    do {
      stream_.next_out = buffer_.data();
      stream_.avail_out = static_cast<uInt>(buffer_.size());
      status = deflate(&stream_, flush);
      file_.put({reinterpret_cast<const char*>(buffer_.data()), buffer_.size() - stream_.avail_out});
    } while (stream_.avail_out == 0 || (flush == Z_FINISH && status == Z_OK));
  }

  OutputFile& file_;
  z_stream stream_{};
  std::array<Bytef, 1 << 16> buffer_{};
};

namespace {

/// Creates "<name>.tmp-XXXXXX" beside the target, with the permissions that a new file would have.
std::FILE* create_beside(const std::filesystem::path& path, std::filesystem::path& temporary) {
  std::string name = path.string() + ".tmp-XXXXXX";
  const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) {
    throw IoError(path.string(), "cannot write", errno);
  }
  temporary = name;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(descriptor, 0666 & ~mask);
  std::FILE* const file = ::fdopen(descriptor, "wb");
  if (file == nullptr) {
    const int error = errno;
    ::close(descriptor);
    ::unlink(name.c_str());
    throw IoError(path.string(), "cannot write", error);
  }
  return file;
}

}  // namespace

OutputFile::OutputFile(std::filesystem::path path, int gzip_level) : path_(std::move(path)) {
  file_ = create_beside(path_, temporary_);
  if (gzip_level > 0) {
    deflater_ = std::make_unique<Deflater>(*this, gzip_level);
  }
}

OutputFile::~OutputFile() {
  if (file_ != nullptr) {
    std::fclose(file_);
    std::error_code ignored;
    std::filesystem::remove(temporary_, ignored);
  }
}

void OutputFile::put(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) {
    throw IoError(path_.string(), "cannot write", errno);
  }
}

void OutputFile::write(std::string_view bytes) {
  if (deflater_) {
    deflater_->write(bytes);
  } else {
    put(bytes);
  }
}

void OutputFile::commit() {
  if (deflater_) {
    deflater_->finish();
  }
  if (std::fflush(file_) != 0) {
    throw IoError(path_.string(), "cannot write", errno);
  }
  std::error_code error;
  std::filesystem::rename(temporary_, path_, error);
  if (error) {
    throw IoError(path_.string(), "cannot rename the finished file", error.value());
  }
  std::fclose(std::exchange(file_, nullptr));
}

bool has_gzip_name(const std::filesystem::path& path) { return path.extension() == ".gz"; }

}  // namespace chakra::io
