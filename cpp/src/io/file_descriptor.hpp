// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include <unistd.h>

namespace chakra::io {

/// An open file's number; closes it.
class FileDescriptor {
 public:
  /// Takes what open() gave; negative is no file.
  explicit FileDescriptor(int number) noexcept : number_(number) {}
  ~FileDescriptor() {
    if (is_open()) {
      ::close(number_);
    }
  }
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  bool is_open() const noexcept { return number_ >= 0; }
  int number() const noexcept { return number_; }

 private:
  int number_;
};

}  // namespace chakra::io
