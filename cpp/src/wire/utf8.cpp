// SPDX-License-Identifier: MIT
#include "wire/utf8.hpp"

#include <algorithm>
#include <cstring>

namespace chakra::wire {

namespace {

/// Sequence length and the range of the second byte that a first byte of 0x80 and above demands (Unicode table 3-7).
struct Lead {
  std::uint32_t length = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
};

Lead classify(unsigned char first) noexcept {
  if (first >= 0xC2 && first <= 0xDF) return {2};
  if (first == 0xE0) return {3, 0xA0, 0xBF};
  if (first == 0xED) return {3, 0x80, 0x9F};
  if (first >= 0xE1 && first <= 0xEF) return {3};
  if (first == 0xF0) return {4, 0x90, 0xBF};
  if (first == 0xF4) return {4, 0x80, 0x8F};
  if (first >= 0xF1 && first <= 0xF3) return {4};
  return {};
}

/// Offset of the first of eight bytes from `at` on that are not all ASCII, or of the last bytes if there are fewer.
std::size_t skip_ascii(const char* bytes, std::size_t at, std::size_t size) noexcept {
  constexpr std::uint64_t high_bits = 0x8080808080808080ULL;
  while (at + 8 <= size) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, 8);
    if ((word & high_bits) != 0) {
      break;
    }
    at += 8;
  }
  return at;
}

/// With loads that overlap rather than byte by byte at the end: names are short, and most are ASCII.
bool is_ascii(std::string_view text) noexcept {
  const auto load = [&]<class Word>(std::size_t at, Word word) {
    std::memcpy(&word, text.data() + at, sizeof(Word));
    return word;
  };
  const std::size_t size = text.size();
  if (size >= 8) {
    std::uint64_t bytes = load(size - 8, std::uint64_t{});
    for (std::size_t at = 0; at + 8 < size; at += 8) {
      bytes |= load(at, std::uint64_t{});
    }
    return (bytes & 0x8080808080808080ULL) == 0;
  }
  if (size >= 4) {
    return ((load(0, std::uint32_t{}) | load(size - 4, std::uint32_t{})) & 0x80808080U) == 0;
  }
  return std::all_of(text.begin(), text.end(), [](char byte) { return static_cast<unsigned char>(byte) < 0x80; });
}

}  // namespace

Utf8Step decode_utf8(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) {
    return {first, 1, true};
  }
  const Lead lead = classify(first);
  if (lead.length == 0) {
    return {};
  }
  std::uint32_t code_point = first & (0xFFU >> (lead.length + 1));
  for (std::uint32_t i = 1; i < lead.length; ++i) {
    const unsigned char low = i == 1 ? lead.low : 0x80;
    const unsigned char high = i == 1 ? lead.high : 0xBF;
    if (i >= text.size() || byte(i) < low || byte(i) > high) {
      return {0, i, false};
    }
    code_point = (code_point << 6) | (byte(i) & 0x3FU);
  }
  return {code_point, lead.length, true};
}

std::size_t find_invalid_utf8(std::string_view text) noexcept {
  std::size_t at = 0;
  while ((at = skip_ascii(text.data(), at, text.size())) < text.size()) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    const Utf8Step step = decode_utf8(text.substr(at));
    if (!step.valid) {
      return at;
    }
    at += step.length;
  }
  return std::string_view::npos;
}

bool is_utf8(std::string_view text) noexcept {
  return is_ascii(text) || find_invalid_utf8(text) == std::string_view::npos;
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string mended;
  mended.reserve(text.size() + 8);
  while (!text.empty()) {
    const Utf8Step step = decode_utf8(text);
    mended += step.valid ? text.substr(0, step.length) : "\xEF\xBF\xBD";
    text.remove_prefix(step.length);
  }
  return mended;
}

void append_utf8(std::string& out, std::uint32_t code_point) {
  const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | (code_point >> 6));
    put(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    put(0xE0 | (code_point >> 12));
    put(0x80 | ((code_point >> 6) & 0x3F));
    put(0x80 | (code_point & 0x3F));
  } else {
    put(0xF0 | (code_point >> 18));
    put(0x80 | ((code_point >> 12) & 0x3F));
    put(0x80 | ((code_point >> 6) & 0x3F));
    put(0x80 | (code_point & 0x3F));
  }
}

}  // namespace chakra::wire
