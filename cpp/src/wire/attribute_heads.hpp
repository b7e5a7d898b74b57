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

/// The bytes of an AttributeProto before its value: key and size of the name, the name, key of the value.
struct AttributeHead {
  std::uint64_t first = 0;                 ///< the first eight bytes, or as many as there are
  std::uint64_t last = 0;                  ///< the eight bytes before the value; with fewer than eight, as `first`
  std::uint64_t mask = ~std::uint64_t{0};  ///< of `first` and `last`; of an empty slot no bytes match
  std::uint8_t last_begin = 0;
  std::uint8_t size = 0;
  KnownAttribute target = KnownAttribute::other;
  AttributeAction action = AttributeAction::leave;
  std::uint8_t next = 0;      ///< slot of the head that came after this one
  std::uint8_t next_too = 0;  ///< slot of another that did, as nodes of several kinds alternate

  /// Eight bytes from `at` on must be readable.
  bool begins(const char* at, std::size_t left) const noexcept {
    return size <= left && ((load_little_endian(at) & mask) == first) &&
           ((load_little_endian(at + last_begin) & mask) == last);
  }
};

/// The heads of attributes that earlier records had, and which came after which. Writers give the nodes of a kind the
/// same attributes in the same order, so that the next head is mostly known before it is read, and one comparison
/// stands for taking it apart.
class AttributeHeads {
 public:
  /// Head of the attribute message [at, end) of a record that ends at `record_end`; null if it is not as usual or has
  /// no value. Valid until the next call.
  const AttributeHead* find(const char* at, const char* end, const char* record_end) noexcept {
    if (record_end - at >= 8) {
      const AttributeHead& latest = heads_[latest_];
      for (const std::uint8_t next : {latest.next, latest.next_too}) {
        if (heads_[next].begins(at, static_cast<std::size_t>(end - at))) {
          latest_ = next;
          return &heads_[next];
        }
      }
    }
    return look_up(at, end);
  }

 private:
  const AttributeHead* look_up(const char* at, const char* end) noexcept;

  std::array<AttributeHead, 64> heads_{};  ///< by hash; of two that meet in a slot the later one stays
  AttributeHead uncached_{};
  std::uint8_t latest_ = 0;
};

}  // namespace chakra::wire
