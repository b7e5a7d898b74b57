// SPDX-License-Identifier: MIT
#include "io/base64.hpp"

#include <cstddef>
#include <cstdint>

namespace chakra::io {

namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::optional<std::uint32_t> digit(char c) noexcept {
  c = c == '-' ? '+' : c == '_' ? '/' : c;
  const std::size_t value = alphabet.find(c);
  return value == std::string_view::npos ? std::nullopt : std::optional(static_cast<std::uint32_t>(value));
}

}  // namespace

void append_base64(std::string& out, std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::string_view group = bytes.substr(i, 3);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      bits = bits << 8U | (k < group.size() ? static_cast<unsigned char>(group[k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out += k <= group.size() ? alphabet[bits >> (18 - 6 * k) & 0x3FU] : '=';
    }
  }
}

std::optional<std::string> decode_base64(std::string_view text) {
  const std::size_t end = text.find_last_not_of('=');
  const std::string_view digits = text.substr(0, end == std::string_view::npos ? 0 : end + 1);
  if (text.size() - digits.size() > 2 || digits.size() % 4 == 1) {
    return std::nullopt;
  }
  std::string bytes;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char c : digits) {
    const auto value = digit(c);
    if (!value) {
      return std::nullopt;
    }
    bits = bits << 6U | *value;
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> count & 0xFFU);
    }
  }
  return bytes;
}

}  // namespace chakra::io
