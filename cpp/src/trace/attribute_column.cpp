// SPDX-License-Identifier: MIT
#include <bit>

#include "chakra_core/trace.hpp"

namespace chakra {

template <class Value>
std::size_t AttributeColumn<Value>::rank(NodeIndex row) const noexcept {
  const std::size_t word = row / 64;
  const std::uint64_t before = presence_[word] & ((std::uint64_t{1} << (row % 64)) - 1);
  return rank_before_word_[word] + static_cast<std::size_t>(std::popcount(before));
}

template <class Value>
std::optional<Value> AttributeColumn<Value>::get(NodeIndex row) const noexcept {
  return has(row) ? std::optional<Value>{values_[rank(row)]} : std::nullopt;
}

template <class Value>
Value AttributeColumn<Value>::value_or(NodeIndex row, Value fallback) const noexcept {
  return has(row) ? values_[rank(row)] : fallback;
}

template <class Value>
void AttributeColumn<Value>::append(NodeIndex row, Value value) {
  const std::size_t word = row / 64;
  while (presence_.size() <= word) {
    presence_.push_back(0);
    rank_before_word_.push_back(static_cast<std::uint32_t>(values_.size()));
  }
  presence_[word] |= std::uint64_t{1} << (row % 64);
  values_.push_back(value);
}

template <class Value>
void AttributeColumn<Value>::shrink_to_fit() {
  presence_.shrink_to_fit();
  rank_before_word_.shrink_to_fit();
  values_.shrink_to_fit();
}

template <class Value>
std::size_t AttributeColumn<Value>::memory_bytes() const noexcept {
  return presence_.capacity() * sizeof(std::uint64_t) + rank_before_word_.capacity() * sizeof(std::uint32_t) +
         values_.capacity() * sizeof(Value);
}

template class AttributeColumn<std::int64_t>;
template class AttributeColumn<std::uint32_t>;
template class AttributeColumn<std::uint8_t>;

}  // namespace chakra
