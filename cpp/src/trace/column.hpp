// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace chakra::detail {

/// Columns from this size on lie in large pages where the system has them: touching a column page by page for the first
/// time otherwise costs more than what is written there.
inline constexpr std::size_t large_column_bytes = std::size_t{8} << 20;

/// Throws std::bad_alloc.
void* allocate_large(std::size_t bytes);
void free_large(void* at) noexcept;

/// Allocator whose vectors do not write zeros first: resize() leaves numbers as they are, so that the thread which
/// fills a part of a column is the first to touch its pages.
template <class Value>
class UninitializedAllocator : public std::allocator<Value> {
 public:
  template <class Other>
  struct rebind {
    using other = UninitializedAllocator<Other>;
  };
  UninitializedAllocator() = default;
  template <class Other>
  explicit UninitializedAllocator(const UninitializedAllocator<Other>&) noexcept {}

  Value* allocate(std::size_t count) {
    return count >= large_column_bytes / sizeof(Value) ? static_cast<Value*>(allocate_large(count * sizeof(Value)))
                                                       : std::allocator<Value>::allocate(count);
  }
  void deallocate(Value* at, std::size_t count) noexcept {
    if (count >= large_column_bytes / sizeof(Value)) {
      free_large(at);
    } else {
      std::allocator<Value>::deallocate(at, count);
    }
  }

  template <class Type>
  void construct(Type* at) noexcept {
    ::new (static_cast<void*>(at)) Type;
  }
  template <class Type, class... Arguments>
  void construct(Type* at, Arguments&&... arguments) {
    ::new (static_cast<void*>(at)) Type(std::forward<Arguments>(arguments)...);
  }
};

/// One value a row. Values are numbers or enums: after resize() they are to be written before they are read.
template <class Value>
using Column = std::vector<Value, UninitializedAllocator<Value>>;

}  // namespace chakra::detail
