// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace chakra::detail {

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
