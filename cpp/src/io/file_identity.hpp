// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <utility>

#include <sys/stat.h>

#include "trace/trace_storage.hpp"

namespace chakra::io {

inline detail::FileIdentity identity_of(const struct stat& status, std::filesystem::path path) {
  return {std::move(path), static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino),
          static_cast<std::uint64_t>(status.st_size),
          static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec};
}

/// None if the system cannot tell.
inline std::optional<detail::FileIdentity> identity_of(int descriptor, std::filesystem::path path) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    return std::nullopt;
  }
  return identity_of(status, std::move(path));
}

}  // namespace chakra::io
