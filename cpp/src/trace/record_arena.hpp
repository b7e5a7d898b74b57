// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "trace/trace_storage.hpp"

namespace chakra::detail {

/// Record bytes in blocks whose addresses stay while more come. Blocks grow with the arena, so that a small trace
/// has a small arena.
class RecordArena final : public RecordSource {
 public:
  std::string_view store(std::string_view record);

  std::string_view bytes() const noexcept override { return {}; }
  std::size_t memory_bytes() const noexcept override { return total_; }

 private:
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;
  std::size_t left_ = 0;
  std::size_t total_ = 0;
};

}  // namespace chakra::detail
