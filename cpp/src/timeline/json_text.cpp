// SPDX-License-Identifier: MIT
#include "timeline/json_text.hpp"

#include "wire/utf8.hpp"

namespace chakra::timeline {

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

void append_microseconds(std::string& out, std::uint64_t nanoseconds) {
  out += std::to_string(nanoseconds / 1000);
  const std::uint64_t rest = nanoseconds % 1000;
  out += '.';
  out += static_cast<char>('0' + rest / 100);
  out += static_cast<char>('0' + rest / 10 % 10);
  out += static_cast<char>('0' + rest % 10);
}

}  // namespace chakra::timeline
