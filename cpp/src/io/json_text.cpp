// SPDX-License-Identifier: MIT
#include "io/json_text.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>

#include "wire/utf8.hpp"

namespace chakra::io {

namespace {

bool needs_escape(char character) noexcept {
  return character == '"' || character == '\\' || static_cast<unsigned char>(character) < 0x20;
}

constexpr std::uint64_t ones = 0x0101010101010101ULL;
constexpr std::uint64_t high_bits = ones * 0x80;

std::uint64_t load(const char* at) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, at, 8);
  return word;
}

/// High bits of bytes that need to be escaped, and perhaps of others above them. Bytes of 0x80 and above do not.
std::uint64_t find_escapes(std::uint64_t word) noexcept {
  const auto below = [](std::uint64_t bytes, std::uint64_t limit) { return (bytes - ones * limit) & ~bytes; };
  return (below(word, 0x20) | below(word ^ (ones * '"'), 1) | below(word ^ (ones * '\\'), 1)) & high_bits;
}

/// Position at or after `at` from which on a character might need to be escaped; looks at eight at a time.
std::size_t skip_plain(std::string_view text, std::size_t at) noexcept {
  while (at + 8 <= text.size() && find_escapes(load(text.data() + at)) == 0) {
    at += 8;
  }
  return at;
}

/// Whether every byte is ASCII and stands for itself in a JSON string.
bool is_plain_ascii(std::string_view text) noexcept {
  std::size_t at = 0;
  std::uint64_t found = 0;
  for (; at + 8 <= text.size(); at += 8) {
    const std::uint64_t word = load(text.data() + at);
    found |= find_escapes(word) | (word & high_bits);
  }
  if (text.empty()) {
    return true;
  }
  // The rest in one more word, which overlaps the last one or is filled up with what is plain.
  std::array<char, 8> rest = {'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x'};
  if (text.size() >= 8) {
    at = text.size() - 8;
  }
  std::memcpy(rest.data(), text.data() + at, text.size() - at);
  const std::uint64_t word = load(rest.data());
  return (found | find_escapes(word) | (word & high_bits)) == 0;
}

void append_escaped(std::string& out, char character) {
  constexpr std::string_view hex = "0123456789abcdef";
  switch (character) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  const auto code = static_cast<unsigned char>(character);
  if (code < 0x20) {
    out += "\\u00";
    out += hex[code >> 4U];
    out += hex[code & 0xFU];
  } else {
    out += character;
  }
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  if (wire::is_utf8(text)) {
    append_json_utf8(out, text);
  } else {
    append_json_utf8(out, wire::replace_invalid_utf8(text));
  }
}

void append_json_utf8(std::string& out, std::string_view text) {
  out += '"';
  // Most text is plain ASCII from end to end: one look decides, and one copy does it.
  if (is_plain_ascii(text)) {
    out.append(text).append(1, '"');
    return;
  }
  std::size_t copied = 0;
  for (std::size_t i = skip_plain(text, 0); i < text.size(); i = skip_plain(text, i + 1)) {
    if (needs_escape(text[i])) {
      out.append(text, copied, i - copied);
      append_escaped(out, text[i]);
      copied = i + 1;
    }
  }
  out.append(text, copied);
  out += '"';
}

void append_json_double(std::string& out, double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  const std::string_view written(text.data(), static_cast<std::size_t>(end - text.data()));
  out += written;
  if (written.find_first_of(".e") == std::string_view::npos) {
    out += ".0";
  }
}

}  // namespace chakra::io
