// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "wire/known_attribute.hpp"
#include "wire/little_endian.hpp"

namespace chakra::wire {

/// What to do with the value of an attribute.
enum class AttributeAction : std::uint8_t {
  check_varint,  ///< no column: only see that the message ends where the value does
  check_bytes,
  check_fixed64,
  check_fixed32,
  take_int64,
  take_uint64,
  take_bool,
  take_int32,
  take_uint32,
  take_text,
  leave,  ///< to the careful decoder
};

constexpr bool takes_integer(AttributeAction action) noexcept {
  return action >= AttributeAction::take_int64 && action <= AttributeAction::take_uint32;
}

/// A size that mostly stays the same. The processor can go on behind what it expects to be as large as the last time,
/// before it has read how large it is.
class SteadySize {
 public:
  /// `after` is where something ends that begins at `at`: the same place, but where the size was foreseen it is known
  /// without `after`.
  const char* step(const char* at, const char* after) noexcept {
    if (repeats_ == enough) {
      const char* foreseen = at + size_;
      if (foreseen == after) {
        // Otherwise compilers see that both are the same, and go on with the one that takes longer to know.
        asm("" : "+r"(foreseen));
        return foreseen;
      }
    }
    learn(static_cast<std::size_t>(after - at));
    return after;
  }

 private:
  void learn(std::size_t size) noexcept {
    repeats_ = static_cast<std::uint8_t>(size == size_ ? repeats_ + 1 : 0);
    size_ = static_cast<std::uint8_t>(size);  // of a larger size never foreseen
  }

  static constexpr std::uint8_t enough = 16;
  std::uint8_t size_ = 0;
  std::uint8_t repeats_ = 0;
};

/// The bytes of an AttributeProto before its value: key and size of the name, the name, key of the value.
struct AttributeHead {
  std::uint64_t first = 0;                 ///< the first eight bytes, or as many as there are
  std::uint64_t last = 0;                  ///< the eight bytes before the value; with fewer than eight, as `first`
  std::uint64_t mask = ~std::uint64_t{0};  ///< of `first` and `last`
  std::uint8_t last_begin = 0;
  std::uint8_t size = 0;
  KnownAttribute target = KnownAttribute::other;
  AttributeAction action = AttributeAction::leave;
  std::uint8_t other = 0;  ///< place of a head that came after this one, beside that in the next place
  SteadySize whole = {};   ///< of the attribute with its key

  /// `most_bytes` from `at` on must be readable.
  bool begins(const char* at) const noexcept {
    return ((load_little_endian(at) & mask) == first) && ((load_little_endian(at + last_begin) & mask) == last);
  }

  static constexpr std::ptrdiff_t most_bytes = 16;  ///< of a head that is remembered
};

/// The heads of attributes that earlier records had, in the order in which they came. Writers give the nodes of a kind
/// the same attributes in the same order, so that the next head is mostly known before it is read, and one comparison
/// stands for taking it apart.
class AttributeHeads {
 public:
  /// Stands before the first attribute of a record.
  AttributeHead* before_first() noexcept { return heads_.data(); }

  /// Head of the attribute message [at, end) of a record that ends at `record_end`, which comes after `latest`; null if
  /// it is not as usual or has no value. It may be longer than the message. Valid until the next call.
  AttributeHead* find(AttributeHead* latest, const char* at, const char* end, const char* record_end) noexcept {
    if (record_end - at >= AttributeHead::most_bytes) {
      AttributeHead* next = latest + 1;
      if (next->begins(at)) {
        return next;
      }
      next = &heads_[latest->other];
      if (next->begins(at)) {
        return next;
      }
    }
    return look_up(latest, at, end);
  }

 private:
  AttributeHead* look_up(AttributeHead* latest, const char* at, const char* end) noexcept;
  AttributeHead* place_of(const AttributeHead& head) noexcept;

  // Behind the last head of each kind stays one that matches no attribute.
  static constexpr std::size_t most_remembered = 126;
  static constexpr std::size_t too_long = most_remembered + 2;

  std::array<AttributeHead, too_long + 2> heads_{};
  std::array<std::uint8_t, 256> by_hash_{};  ///< places; of two heads that meet the later one
  std::size_t remembered_ = 0;
};

}  // namespace chakra::wire
