// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "trace/trace_storage.hpp"

namespace chakra::io {

/// A file's bytes without a copy: mapped where the system can, read whole otherwise (a pipe, say).
/// Throws IoError.
std::shared_ptr<const detail::RecordSource> open_record_source(const std::filesystem::path& path);

/// Bytes that lie in memory and stay there, unchanged, as long as their owner lives.
std::shared_ptr<const detail::RecordSource> make_record_source(std::string_view bytes,
                                                               std::shared_ptr<const void> owner);

/// Bytes held in memory.
std::shared_ptr<const detail::RecordSource> make_record_source(std::string bytes);

}  // namespace chakra::io
