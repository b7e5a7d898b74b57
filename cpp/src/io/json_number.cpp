// SPDX-License-Identifier: MIT
#include "io/json_number.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <system_error>

namespace chakra::io {

namespace {

constexpr std::array<std::uint64_t, 20> powers_of_ten = [] {
  std::array<std::uint64_t, 20> powers{};
  std::uint64_t power = 1;
  for (std::uint64_t& entry : powers) {
    entry = power;
    power *= 10;
  }
  return powers;
}();

constexpr std::int64_t exponent_limit = 1'000'000'000;  // beyond it only the sign of the exponent matters

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

constexpr bool is_token_character(char c) noexcept {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-' || c == '+' ||
         c == '_';
}

/// Appends a digit; false once the integer would not fit any more.
bool append_digit(std::uint64_t& value, char digit) noexcept {
  const auto amount = static_cast<std::uint64_t>(digit - '0');
  constexpr std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
  if (value > max / 10 || value * 10 > max - amount) {
    return false;
  }
  value = value * 10 + amount;
  return true;
}

/// Appends a run of digits to `number` and returns its end.
const char* take_digits(const char* p, JsonNumber& number) noexcept {
  for (; is_digit(*p); ++p) {
    number.exact = append_digit(number.digits, *p) && number.exact;
  }
  return p;
}

const char* take_exponent(const char* p, JsonNumber& number) noexcept {
  const bool negative = *p == '-';
  if (*p == '-' || *p == '+') {
    ++p;
  }
  number.well_formed = number.well_formed && is_digit(*p);
  std::int64_t exponent = 0;
  for (; is_digit(*p); ++p) {
    exponent = std::min(exponent * 10 + (*p - '0'), exponent_limit);
  }
  number.exponent += negative ? -exponent : exponent;
  return p;
}

bool is_nonfinite_literal(std::string_view text) noexcept {
  if (text.starts_with('-')) {
    text.remove_prefix(1);
  }
  return text == "NaN" || text == "nan" || text == "Infinity" || text == "inf";
}

std::optional<std::int64_t> with_sign(std::uint64_t magnitude, bool negative) noexcept {
  constexpr auto max = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (magnitude > max + (negative ? 1U : 0U)) {
    return std::nullopt;
  }
  return negative ? static_cast<std::int64_t>(~magnitude + 1) : static_cast<std::int64_t>(magnitude);
}

/// The digits of a well-formed number before and after a decimal point that is moved by 10^decimals.
struct PointShift {
  std::uint64_t integer = 0;
  bool fits = true;
  bool round_up = false;  ///< the first digit after the point is 5 or more
  bool fraction = false;  ///< any digit after the point is not 0
};

PointShift shift_point(const JsonNumber& number, int decimals) noexcept {
  std::string_view digits = number.text.substr(0, number.text.find_first_of("eE"));
  if (number.negative) {
    digits.remove_prefix(1);
  }
  const std::size_t point = digits.find('.');
  const auto count = static_cast<std::int64_t>(digits.size()) - (point == std::string_view::npos ? 0 : 1);
  const std::int64_t before = count + number.exponent + decimals;  // digits before the moved point
  PointShift result;
  std::int64_t index = 0;
  for (const char c : digits) {
    if (c == '.') {
      continue;
    }
    if (index < before) {
      result.fits = append_digit(result.integer, c) && result.fits;
    } else {
      result.round_up = result.round_up || (index == before && c >= '5');
      result.fraction = result.fraction || c != '0';
    }
    ++index;
  }
  for (; index < before && result.fits && result.integer != 0; ++index) {
    result.fits = append_digit(result.integer, '0');
  }
  return result;
}

}  // namespace

JsonNumber parse_json_number(const char* begin, const char* end) noexcept {
  JsonNumber number;
  number.exact = true;
  number.negative = *begin == '-';
  const char* const first = begin + (number.negative ? 1 : 0);
  const char* p = take_digits(first, number);
  number.well_formed = p != first && (*first != '0' || p == first + 1);
  number.integer = true;
  if (*p == '.') {
    const char* const fraction = p + 1;
    p = take_digits(fraction, number);
    number.well_formed = number.well_formed && p != fraction;
    number.exponent = fraction - p;
    number.integer = false;
  }
  if (*p == 'e' || *p == 'E') {
    p = take_exponent(p + 1, number);
    number.integer = false;
  }
  if (is_token_character(*p)) {
    number.well_formed = false;
    while (p != end && is_token_character(*p)) {
      ++p;
    }
  }
  number.text = {begin, static_cast<std::size_t>(p - begin)};
  number.finite = number.well_formed;
  if (!number.well_formed) {
    number.integer = false;
    number.exact = false;
    number.well_formed = is_nonfinite_literal(number.text);
  }
  return number;
}

std::optional<std::int64_t> JsonNumber::scaled(int decimals) const noexcept {
  if (!finite) {
    return std::nullopt;
  }
  const std::int64_t shift = exponent + decimals;
  if (exact && shift >= 0 && shift < static_cast<std::int64_t>(powers_of_ten.size())) {
    const std::uint64_t power = powers_of_ten[static_cast<std::size_t>(shift)];
    if (digits > std::numeric_limits<std::uint64_t>::max() / power) {
      return std::nullopt;
    }
    return with_sign(digits * power, negative);
  }
  PointShift moved = shift_point(*this, decimals);
  if (moved.round_up) {
    moved.fits = moved.fits && moved.integer != std::numeric_limits<std::uint64_t>::max();
    ++moved.integer;
  }
  return moved.fits ? with_sign(moved.integer, negative) : std::nullopt;
}

std::optional<std::int64_t> JsonNumber::to_int64() const noexcept {
  if (integer && exact) {
    return with_sign(digits, negative);
  }
  if (!finite) {
    return std::nullopt;
  }
  const PointShift moved = shift_point(*this, 0);
  return moved.fits && !moved.fraction ? with_sign(moved.integer, negative) : std::nullopt;
}

std::optional<std::uint64_t> JsonNumber::to_uint64() const noexcept {
  if (!finite) {
    return std::nullopt;
  }
  std::uint64_t magnitude = digits;
  if (!integer || !exact) {
    const PointShift moved = shift_point(*this, 0);
    if (!moved.fits || moved.fraction) {
      return std::nullopt;
    }
    magnitude = moved.integer;
  }
  return negative && magnitude != 0 ? std::nullopt : std::optional{magnitude};
}

double JsonNumber::to_double() const noexcept {
  if (!well_formed) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (!finite) {
    const bool nan = text.ends_with("aN") || text.ends_with("an");
    const double infinity = std::numeric_limits<double>::infinity();
    return nan ? std::numeric_limits<double>::quiet_NaN() : (negative ? -infinity : infinity);
  }
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc::result_out_of_range) {
    return value;
  }
  // from_chars does not say whether the value was too large or too small: the place of the first digit does.
  std::int64_t digits_before_point = exponent;
  bool leading = true;
  for (const char c : text.substr(0, text.find_first_of("eE"))) {
    leading = leading && !(c >= '1' && c <= '9');
    digits_before_point += is_digit(c) && !leading ? 1 : 0;
  }
  const bool large = digits_before_point > 0;
  const double magnitude = large ? std::numeric_limits<double>::infinity() : 0.0;
  return negative ? -magnitude : magnitude;
}

}  // namespace chakra::io
