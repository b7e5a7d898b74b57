// SPDX-License-Identifier: MIT
#include "trace/column.hpp"

#include <cstdlib>
#include <new>

#include <sys/mman.h>

namespace chakra::detail {

namespace {
constexpr std::size_t large_page = std::size_t{2} << 20;
}

void* allocate_large(std::size_t bytes) {
  const std::size_t whole_pages = (bytes + large_page - 1) / large_page * large_page;
  void* const at = whole_pages < bytes ? nullptr : std::aligned_alloc(large_page, whole_pages);
  if (at == nullptr) {
    throw std::bad_alloc();
  }
#ifdef MADV_HUGEPAGE
  (void)::madvise(at, whole_pages, MADV_HUGEPAGE);  // only a wish
#endif
  return at;
}

void free_large(void* at) noexcept { std::free(at); }

}  // namespace chakra::detail
