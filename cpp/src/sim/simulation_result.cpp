// SPDX-License-Identifier: MIT
#include "chakra_core/simulation_result.hpp"

namespace chakra {

std::uint64_t collective_bytes(CollectiveType type, std::uint64_t size, std::uint32_t members) noexcept {
  const bool gathers = type == CollectiveType::all_gather || type == CollectiveType::gather;
  return gathers ? size * members : size;
}

double bus_factor(CollectiveType type, std::uint32_t members) noexcept {
  if (members == 0) return 0;
  const double share = static_cast<double>(members - 1) / members;
  switch (type) {
    case CollectiveType::all_reduce:
      return 2 * share;
    case CollectiveType::reduce:
    case CollectiveType::broadcast:
      return 1;
    case CollectiveType::barrier:
      return 0;
    default:
      return share;
  }
}

}  // namespace chakra
