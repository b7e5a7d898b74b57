// SPDX-License-Identifier: MIT
#include "io/output_file.hpp"

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chakra_core/errors.hpp"

namespace chakra::io {

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

OutputFile::OutputFile(fs::path path, const Encoding& encoding)
    : path_(follow_links(std::move(path))),
      compressor_(make_compressor(encoding, [this](std::string_view bytes) { put(bytes); })) {
  if (is_replaceable(path_)) {
    file_ = create_beside(path_, temporary_);
  } else if ((file_ = open_stream(path_, 0)) == nullptr) {
    throw IoError(path_.string(), "cannot write", errno);
  }
}

OutputFile::~OutputFile() {
  if (file_ != nullptr) {
    (void)std::fclose(file_);  // what was written is thrown away
  }
  if (!temporary_.empty()) {
    std::error_code ignored;
    fs::remove(temporary_, ignored);
  }
}

void OutputFile::put(std::string_view bytes) {
  if (bytes.empty()) return;  // which may have no address, and fwrite wants one
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) {
    throw IoError(path_.string(), "cannot write", errno);
  }
}

void OutputFile::write(std::string_view bytes) {
  if (compressor_) {
    compressor_->write(bytes);
  } else {
    put(bytes);
  }
}

std::size_t OutputFile::copy_from([[maybe_unused]] int descriptor, [[maybe_unused]] std::uint64_t offset,
                                  [[maybe_unused]] std::size_t size) {
  std::size_t copied = 0;
#ifdef __linux__
  if (compressor_ || std::fflush(file_) != 0) {  // the write that follows will tell of a full disk
    return 0;
  }
  auto from = static_cast<off64_t>(offset);
  while (copied < size) {
    const ssize_t got = ::copy_file_range(descriptor, &from, ::fileno(file_), nullptr, size - copied, 0);
    if (got <= 0) {
      break;
    }
    copied += static_cast<std::size_t>(got);
  }
#endif
  return copied;
}

void OutputFile::commit() {
  if (compressor_) {
    compressor_->finish();
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

}  // namespace chakra::io
