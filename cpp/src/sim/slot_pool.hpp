// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

namespace chakra::sim {

/// End of a list of pool indices.
inline constexpr std::uint32_t none = ~std::uint32_t{0};

/// Values addressed by 32-bit index; a released index is used again. References do not survive take().
template <class Value>
class SlotPool {
 public:
  /// What it holds is for the taker to set.
  std::uint32_t take() {
    if (free_.empty()) {
      values_.emplace_back();
      return static_cast<std::uint32_t>(values_.size() - 1);
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    return index;
  }
  std::uint32_t take(const Value& value) {
    const std::uint32_t index = take();
    values_[index] = value;
    return index;
  }
  void release(std::uint32_t index) { free_.push_back(index); }

  Value& operator[](std::uint32_t index) noexcept { return values_[index]; }
  const Value& operator[](std::uint32_t index) const noexcept { return values_[index]; }

 private:
  std::vector<Value> values_;
  std::vector<std::uint32_t> free_;
};

}  // namespace chakra::sim
