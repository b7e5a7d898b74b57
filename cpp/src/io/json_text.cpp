// SPDX-License-Identifier: MIT
#include "io/json_text.hpp"

#include <array>
#include <charconv>

#include "wire/utf8.hpp"

namespace chakra::io {

namespace {

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
  out += '"';
  if (wire::is_utf8(text)) {
    for (const char character : text) {
      append_escaped(out, character);
    }
  } else {
    for (const char character : wire::replace_invalid_utf8(text)) {
      append_escaped(out, character);
    }
  }
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
