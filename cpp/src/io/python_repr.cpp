// SPDX-License-Identifier: MIT
#include "io/python_repr.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "wire/utf8.hpp"

namespace chakra::io {

namespace {

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

constexpr Range unprintable_ranges[] = {
#include "io/unprintable_ranges.inc"
};

bool is_printable(std::uint32_t code_point) noexcept {
  if (code_point < 0x80) {
    return code_point >= 0x20 && code_point != 0x7F;
  }
  const Range* const found = std::lower_bound(std::begin(unprintable_ranges), std::end(unprintable_ranges), code_point,
                                              [](const Range& range, std::uint32_t code) { return range.last < code; });
  return found == std::end(unprintable_ranges) || code_point < found->first;
}

void append_hex(std::string& out, std::uint32_t value, int digits) {
  static constexpr std::string_view hex = "0123456789abcdef";
  for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) {
    out.push_back(hex[(value >> shift) & 15U]);
  }
}

void append_code_point_escape(std::string& out, std::uint32_t code_point) {
  if (code_point < 0x100) {
    out += "\\x";
    append_hex(out, code_point, 2);
  } else if (code_point < 0x10000) {
    out += "\\u";
    append_hex(out, code_point, 4);
  } else {
    out += "\\U";
    append_hex(out, code_point, 8);
  }
}

void append_repr_character(std::string& out, const wire::Utf8Step& step, std::string_view bytes, char quote) {
  const std::uint32_t code = step.code_point;
  if (code == static_cast<unsigned char>(quote) || code == '\\') {
    out.push_back('\\');
    out.push_back(static_cast<char>(code));
  } else if (code == '\n') {
    out += "\\n";
  } else if (code == '\r') {
    out += "\\r";
  } else if (code == '\t') {
    out += "\\t";
  } else if (is_printable(code)) {
    out += bytes;
  } else {
    append_code_point_escape(out, code);
  }
}

/// repr of a finite double: positional from 1e-4 up to 1e16, scientific with at least two exponent digits beyond.
void append_float_repr(std::string& out, double value) {
  std::array<char, 32> text{};
  const auto result = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific);
  std::string_view rest{text.data(), static_cast<std::size_t>(result.ptr - text.data())};
  if (rest.front() == '-') {
    out.push_back('-');
    rest.remove_prefix(1);
  }
  const std::size_t e = rest.find('e');
  int exponent = 0;
  const std::size_t sign_length = rest[e + 1] == '+' ? 1 : 0;
  std::from_chars(rest.data() + e + 1 + sign_length, rest.data() + rest.size(), exponent);
  std::string digits{rest.substr(0, 1)};
  digits += e > 1 ? rest.substr(2, e - 2) : std::string_view{};
  if (exponent < -4 || exponent >= 16) {
    out += digits.substr(0, 1);
    if (digits.size() > 1) {
      out.push_back('.');
      out += digits.substr(1);
    }
    out += rest.substr(e);
    return;
  }
  if (exponent < 0) {
    out += "0.";
    out.append(static_cast<std::size_t>(-exponent - 1), '0');
    out += digits;
    return;
  }
  const auto before = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= before) {
    out += digits;
    out.append(before - digits.size(), '0');
    out += ".0";
  } else {
    out += digits.substr(0, before);
    out.push_back('.');
    out += digits.substr(before);
  }
}

/// Walks the value that comes next without recursion; `writer` turns each part into text.
template <class Writer>
void write_value(std::string& out, JsonScanner& scanner, Writer writer) {
  const std::size_t outer = scanner.depth();
  const auto step = [&] {
    const bool first = scanner.at_first();
    if (scanner.in_object()) {
      std::string_view key;
      if (!scanner.next_key(key)) {
        out.push_back('}');
        return false;
      }
      out += first ? std::string_view{} : writer.comma;
      writer.string(out, key);
      out += writer.colon;
      return true;
    }
    if (!scanner.next_element()) {
      out.push_back(']');
      return false;
    }
    out += first ? std::string_view{} : writer.comma;
    return true;
  };
  do {
    switch (scanner.peek()) {
      case JsonKind::object:
        scanner.enter_object();
        out.push_back('{');
        break;
      case JsonKind::array:
        scanner.enter_array();
        out.push_back('[');
        break;
      case JsonKind::string:
        writer.string(out, scanner.read_string());
        break;
      case JsonKind::number:
        writer.number(out, scanner.read_number());
        break;
      case JsonKind::boolean:
        out += scanner.read_boolean() ? writer.yes : writer.no;
        break;
      case JsonKind::null:
        scanner.read_null();
        out += writer.null;
        break;
      case JsonKind::missing:
        out += writer.null;
        break;
    }
    while (scanner.depth() > outer && !step()) {
    }
  } while (scanner.depth() > outer);
}

struct PythonWriter {
  std::string_view comma = ", ";
  std::string_view colon = ": ";
  std::string_view yes = "True";
  std::string_view no = "False";
  std::string_view null = "None";

  static void string(std::string& out, std::string_view text) { append_python_repr(out, text); }
  static void number(std::string& out, const JsonNumber& value) { append_python_repr(out, value); }
};

struct JsonWriter {
  std::string_view comma = ", ";
  std::string_view colon = ": ";
  std::string_view yes = "true";
  std::string_view no = "false";
  std::string_view null = "null";

  static void string(std::string& out, std::string_view text) {
    out.push_back('"');
    for (const char c : text) {
      if (c == '"' || c == '\\') {
        out.push_back('\\');
        out.push_back(c);
      } else if (static_cast<unsigned char>(c) < 0x20) {
        out += "\\u";
        append_hex(out, static_cast<unsigned char>(c), 4);
      } else {
        out.push_back(c);
      }
    }
    out.push_back('"');
  }
  static void number(std::string& out, const JsonNumber& value) { out += value.text; }
};

}  // namespace

void append_python_repr(std::string& out, std::string_view text) {
  const char quote = text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos ? '"' : '\'';
  out.push_back(quote);
  const auto is_plain = [](char c) { return c >= 0x20 && c < 0x7F && c != '\'' && c != '\\'; };
  if (std::all_of(text.begin(), text.end(), is_plain)) {
    out += text;
  } else {
    while (!text.empty()) {
      const wire::Utf8Step step = wire::decode_utf8(text);
      append_repr_character(out, step, text.substr(0, step.length), quote);
      text.remove_prefix(step.length);
    }
  }
  out.push_back(quote);
}

void append_python_repr(std::string& out, const JsonNumber& number) {
  if (number.integer) {
    out += number.text == "-0" ? std::string_view{"0"} : number.text;
    return;
  }
  const double value = number.to_double();
  if (std::isnan(value)) {
    out += "nan";
  } else if (std::isinf(value)) {
    out += value < 0 ? "-inf" : "inf";
  } else {
    append_float_repr(out, value);
  }
}

void append_python_repr(std::string& out, JsonScanner& scanner) { write_value(out, scanner, PythonWriter{}); }

void append_json_text(std::string& out, JsonScanner& scanner) { write_value(out, scanner, JsonWriter{}); }

}  // namespace chakra::io
