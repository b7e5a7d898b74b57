// SPDX-License-Identifier: MIT
#include "io/output_file.hpp"

#include <array>
#include <cerrno>
#include <new>
#include <string>
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

namespace fs = std::filesystem;

/// The file behind a link, so that the link stays one.
fs::path follow_links(fs::path path) {
  std::error_code error;
  if (!fs::is_symlink(fs::symlink_status(path, error))) {
    return path;
  }
  fs::path target = fs::canonical(path, error);
  return error ? path : target;
}

/// A device or pipe cannot be replaced by a file; it is written directly.
bool is_replaceable(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) {
    throw IoError(path.string(), "cannot write", EISDIR);
  }
  return !fs::exists(status) || fs::is_regular_file(status);
}

std::FILE* open_stream(const fs::path& path, int flags) {
  constexpr mode_t permissions = 0666;  // less what the process masks
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, permissions);
  std::FILE* const file = descriptor < 0 ? nullptr : ::fdopen(descriptor, "wb");
  if (file == nullptr && descriptor >= 0) {
    const int error = errno;
    ::close(descriptor);
    errno = error;
  }
  return file;
}

/// Creates "<name>.tmp-<process>-<number>" beside the target.
std::FILE* create_beside(const fs::path& path, fs::path& temporary) {
  for (unsigned number = 0;; ++number) {
    temporary = path;
    temporary += ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(number);
    std::FILE* const file = open_stream(temporary, O_CREAT | O_EXCL);
    if (file != nullptr) {
      return file;
    }
    if (errno != EEXIST) {
      throw IoError(path.string(), "cannot write", errno);
    }
  }
}

}  // namespace

OutputFile::OutputFile(fs::path path, int gzip_level) : path_(follow_links(std::move(path))) {
  if (gzip_level > 0) {
    deflater_ = std::make_unique<Deflater>(*this, gzip_level);
  }
  if (is_replaceable(path_)) {
    file_ = create_beside(path_, temporary_);
  } else if ((file_ = open_stream(path_, 0)) == nullptr) {
    throw IoError(path_.string(), "cannot write", errno);
  }
}

OutputFile::~OutputFile() {
  if (file_ != nullptr) {
    std::fclose(file_);
  }
  if (!temporary_.empty()) {
    std::error_code ignored;
    fs::remove(temporary_, ignored);
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
  // Closing can fail where writing did not, on a network file system for one.
  if (std::fclose(std::exchange(file_, nullptr)) != 0) {
    throw IoError(path_.string(), "cannot write", errno);
  }
  if (temporary_.empty()) {
    return;
  }
  std::error_code error;
  fs::rename(temporary_, path_, error);
  if (error) {
    throw IoError(path_.string(), "cannot rename the finished file", error.value());
  }
  temporary_.clear();
}

bool has_gzip_name(const std::filesystem::path& path) { return path.extension() == ".gz"; }

}  // namespace chakra::io
