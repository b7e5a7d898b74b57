// SPDX-License-Identifier: MIT
#include "io/mapped_origin.hpp"

#include <functional>
#include <utility>

#include <fcntl.h>

#include "io/file_identity.hpp"

namespace chakra::io {

std::optional<MappedOrigin> MappedOrigin::reopen(const detail::TraceStorage& storage) {
  for (const auto& source : storage.sources) {
    const detail::FileIdentity* const mapped = source->file();
    if (mapped == nullptr) {
      continue;
    }
    FileDescriptor file(::open(mapped->path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.is_open() && identity_of(file.number(), mapped->path) == *mapped) {
      return MappedOrigin(std::move(file), source->bytes());
    }
  }
  return std::nullopt;
}

std::optional<MappedOrigin::Place> MappedOrigin::place_of(std::string_view bytes) const noexcept {
  const std::less<> before;  // of pointers that may belong to different objects
  if (before(bytes.data(), bytes_.data()) || before(bytes_.data() + bytes_.size(), bytes.data() + bytes.size())) {
    return std::nullopt;
  }
  return Place{file_.number(), static_cast<std::uint64_t>(bytes.data() - bytes_.data())};
}

}  // namespace chakra::io
