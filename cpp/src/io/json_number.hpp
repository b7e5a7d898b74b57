// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace chakra::io {

/// A number of a JSON text, kept as decimal digits: nothing goes through a double unless a double is asked for.
struct JsonNumber {
  std::string_view text;      ///< as it stands in the input
  std::uint64_t digits = 0;   ///< all its digits as one integer; of no use unless `exact`
  std::int64_t exponent = 0;  ///< the value is digits * 10^exponent
  bool negative = false;
  bool integer = false;      ///< written without point and exponent
  bool exact = false;        ///< the digits fit
  bool finite = false;       ///< false for NaN, Infinity and tokens that are no number
  bool well_formed = false;  ///< by the JSON grammar, or one of the non-finite literals

  /// The value times 10^decimals, rounded to the nearest integer (halves away from zero).
  /// nullopt if that does not fit, or is not finite.
  std::optional<std::int64_t> scaled(int decimals) const noexcept;
  /// The value if it is an integer in range, also when written as 5.0 or 5e0.
  std::optional<std::int64_t> to_int64() const noexcept;
  std::optional<std::uint64_t> to_uint64() const noexcept;
  /// The nearest double: infinite beyond the range, NaN for a token that is no number.
  double to_double() const noexcept;
};

/// Reads the number token at `begin`: digits, letters, signs and points up to the first other byte, or `end`.
/// The byte at `end` must be readable and 0. Never fails: what is no number comes back as not well formed.
JsonNumber parse_json_number(const char* begin, const char* end) noexcept;

}  // namespace chakra::io
