// SPDX-License-Identifier: MIT
#include "io/record_source.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chakra_core/errors.hpp"
#include "io/file_descriptor.hpp"
#include "io/file_identity.hpp"

namespace chakra::io {

namespace {

class OwnedBytes final : public detail::RecordSource {
 public:
  explicit OwnedBytes(std::string bytes) : bytes_(std::move(bytes)) {}
  std::string_view bytes() const noexcept override { return bytes_; }
  std::size_t memory_bytes() const noexcept override { return bytes_.capacity(); }

 private:
  std::string bytes_;
};

class BorrowedBytes final : public detail::RecordSource {
 public:
  BorrowedBytes(std::string_view bytes, std::shared_ptr<const void> owner) : bytes_(bytes), owner_(std::move(owner)) {}
  std::string_view bytes() const noexcept override { return bytes_; }
  std::size_t memory_bytes() const noexcept override { return 0; }

 private:
  std::string_view bytes_;
  std::shared_ptr<const void> owner_;
};

class MappedFile final : public detail::RecordSource {
 public:
  MappedFile(void* address, detail::FileIdentity file) : address_(address), file_(std::move(file)) {}
  ~MappedFile() override { ::munmap(address_, file_.size); }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const noexcept override { return {static_cast<const char*>(address_), file_.size}; }
  std::size_t memory_bytes() const noexcept override { return 0; }
  void will_read([[maybe_unused]] std::size_t begin, [[maybe_unused]] std::size_t size) const noexcept override {
#ifdef MADV_POPULATE_READ
    constexpr std::size_t page = 4096;  // or a part of one; the system asks for a beginning that is a whole one
    begin = begin / page * page;
    if (begin < file_.size) {
      (void)::madvise(static_cast<char*>(address_) + begin, std::min(size + page, file_.size - begin),
                      MADV_POPULATE_READ);  // only a wish
    }
#endif
  }
  void release_pages() const noexcept override {
    (void)::madvise(address_, file_.size, MADV_DONTNEED);  // only a wish
  }
  const detail::FileIdentity* file() const noexcept override { return &file_; }

 private:
  void* address_;
  detail::FileIdentity file_;
};

FileDescriptor open_to_read(const std::filesystem::path& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) {
    throw IoError(path.string(), "cannot open", errno);
  }
  return file;
}

std::string read_whole(const FileDescriptor& file, const std::filesystem::path& path) {
  std::string bytes;
  std::array<char, 1 << 16> buffer{};
  while (true) {
    const ssize_t got = ::read(file.number(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      throw IoError(path.string(), "cannot read", errno);
    }
    if (got == 0) {
      return bytes;
    }
    bytes.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

std::shared_ptr<const detail::RecordSource> make_record_source(std::string bytes) {
  return std::make_shared<OwnedBytes>(std::move(bytes));
}

std::shared_ptr<const detail::RecordSource> make_record_source(std::string_view bytes,
                                                               std::shared_ptr<const void> owner) {
  return std::make_shared<BorrowedBytes>(bytes, std::move(owner));
}

std::shared_ptr<const detail::RecordSource> open_record_source(const std::filesystem::path& path) {
  const FileDescriptor file = open_to_read(path);
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) {
    throw IoError(path.string(), "cannot read", errno);
  }
  if (S_ISDIR(status.st_mode)) {
    throw IoError(path.string(), "cannot read", EISDIR);
  }
  if (S_ISREG(status.st_mode) && status.st_size > 0) {
    const auto size = static_cast<std::size_t>(status.st_size);
    void* const address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
    if (address != MAP_FAILED) {
      return std::make_shared<MappedFile>(address, identity_of(status, std::filesystem::absolute(path)));
    }
  }
  return make_record_source(read_whole(file, path));
}

}  // namespace chakra::io
