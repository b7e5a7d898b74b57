// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define CHAKRA_CORE_SSE2 1
#elif defined(__aarch64__) || defined(_M_ARM64)
#include <arm_neon.h>
#define CHAKRA_CORE_NEON 1
#endif

// The loops over every byte of a JSON text, 16 bytes at a time where the machine can.
namespace chakra::io {

/// A byte of a JSON string that needs a look: quote, backslash, control character, part of a non-ASCII character.
constexpr bool is_string_special(char c) noexcept {
  return static_cast<signed char>(c) < 0x20 || c == '"' || c == '\\';
}

constexpr bool is_json_space(char c) noexcept { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

/// First byte at or after `p` that is no white space. There must be one, and 15 readable bytes after it.
inline const char* pass_spaces_scalar(const char* p) noexcept {
  while (is_json_space(*p)) {
    ++p;
  }
  return p;
}

/// First special byte at or after `p`. There must be one, and 15 readable bytes after it.
inline const char* find_string_special_scalar(const char* p) noexcept {
  while (!is_string_special(*p)) {
    ++p;
  }
  return p;
}

inline std::uint64_t count_newlines_scalar(const char* begin, const char* end) noexcept {
  return static_cast<std::uint64_t>(std::count(begin, end, '\n'));
}

#if defined(CHAKRA_CORE_SSE2)

inline const char* find_string_special(const char* p) noexcept {
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i blank = _mm_set1_epi8(0x20);
  for (;; p += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    // The comparison is signed: bytes of 0x80 and above are less than a blank, too.
    const __m128i special = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)),
                                         _mm_cmplt_epi8(bytes, blank));
    const auto mask = static_cast<unsigned>(_mm_movemask_epi8(special));
    if (mask != 0) {
      return p + std::countr_zero(mask);
    }
  }
}

inline std::uint64_t count_newlines(const char* begin, const char* end) noexcept {
  const __m128i newline = _mm_set1_epi8('\n');
  std::uint64_t count = 0;
  while (end - begin >= 16) {
    // Sixteen counters of a byte each; they overflow after 255 rounds.
    __m128i counters = _mm_setzero_si128();
    for (int round = 0; round < 255 && end - begin >= 16; ++round, begin += 16) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(begin));
      counters = _mm_sub_epi8(counters, _mm_cmpeq_epi8(bytes, newline));
    }
    const __m128i sums = _mm_sad_epu8(counters, _mm_setzero_si128());
    count += static_cast<std::uint64_t>(_mm_cvtsi128_si32(sums)) +
             static_cast<std::uint64_t>(_mm_cvtsi128_si32(_mm_srli_si128(sums, 8)));
  }
  return count + count_newlines_scalar(begin, end);
}

inline const char* pass_spaces(const char* p) noexcept {
  // None or one blank, most of the time; else the indentation of a printed file.
  if (!is_json_space(*p)) {
    return p;
  }
  if (!is_json_space(*++p)) {
    return p;
  }
  const __m128i blank = _mm_set1_epi8(' ');
  const __m128i newline = _mm_set1_epi8('\n');
  const __m128i tab = _mm_set1_epi8('\t');
  const __m128i carriage_return = _mm_set1_epi8('\r');
  for (;; p += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i space =
        _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, blank), _mm_cmpeq_epi8(bytes, newline)),
                     _mm_or_si128(_mm_cmpeq_epi8(bytes, tab), _mm_cmpeq_epi8(bytes, carriage_return)));
    const auto other = static_cast<unsigned>(_mm_movemask_epi8(space)) ^ 0xFFFFU;
    if (other != 0) {
      return p + std::countr_zero(other);
    }
  }
}

#elif defined(CHAKRA_CORE_NEON)

inline const char* pass_spaces(const char* p) noexcept { return pass_spaces_scalar(p); }

inline const char* find_string_special(const char* p) noexcept {
  const int8x16_t quote = vdupq_n_s8('"');
  const int8x16_t backslash = vdupq_n_s8('\\');
  const int8x16_t blank = vdupq_n_s8(0x20);
  for (;; p += 16) {
    const int8x16_t bytes = vld1q_s8(reinterpret_cast<const std::int8_t*>(p));
    // The comparison is signed: bytes of 0x80 and above are less than a blank, too.
    const uint8x16_t special =
        vorrq_u8(vorrq_u8(vceqq_s8(bytes, quote), vceqq_s8(bytes, backslash)), vcltq_s8(bytes, blank));
    // Four bits a byte, since there is no movemask.
    const std::uint64_t mask = vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(special), 4)), 0);
    if (mask != 0) {
      return p + std::countr_zero(mask) / 4;
    }
  }
}

inline std::uint64_t count_newlines(const char* begin, const char* end) noexcept {
  return count_newlines_scalar(begin, end);
}

#else

inline const char* pass_spaces(const char* p) noexcept { return pass_spaces_scalar(p); }

inline const char* find_string_special(const char* p) noexcept { return find_string_special_scalar(p); }

inline std::uint64_t count_newlines(const char* begin, const char* end) noexcept {
  return count_newlines_scalar(begin, end);
}

#endif

}  // namespace chakra::io
