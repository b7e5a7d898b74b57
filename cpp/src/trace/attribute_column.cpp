// SPDX-License-Identifier: MIT
#include <algorithm>
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
void AttributeColumn<Value>::add_words(std::size_t count) {
  presence_.resize(count, 0);
  rank_before_word_.resize(count, static_cast<std::uint32_t>(values_.size()));
}

template <class Value>
void AttributeColumn<Value>::append(NodeIndex first_row, const AttributeColumn& column) {
  if (column.values_.empty()) {
    return;
  }
  const std::size_t first_word = first_row / 64;
  const unsigned shift = first_row % 64;
  const std::size_t words = first_word + column.presence_.size() + (shift != 0 ? 1 : 0);
  presence_.resize(std::max(words, presence_.size()), 0);
  for (std::size_t word = 0; word < column.presence_.size(); ++word) {
    presence_[first_word + word] |= column.presence_[word] << shift;
    if (shift != 0) {
      presence_[first_word + word + 1] |= column.presence_[word] >> (64 - shift);
    }
  }
  while (presence_.back() == 0) {
    presence_.pop_back();
  }
  values_.insert(values_.end(), column.values_.begin(), column.values_.end());
  // Ranks of words that were complete before stay; from the word that the old and new rows share on they follow.
  std::size_t word = std::min(rank_before_word_.size(), first_word + 1);
  rank_before_word_.resize(presence_.size());
  for (; word < presence_.size(); ++word) {
    rank_before_word_[word] =
        word == 0 ? 0 : rank_before_word_[word - 1] + static_cast<std::uint32_t>(std::popcount(presence_[word - 1]));
  }
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
