// SPDX-License-Identifier: MIT
#include "pytorch/repr_to_json.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "io/json_text.hpp"
#include "wire/utf8.hpp"

namespace chakra::pytorch {

namespace {

// Translates from left to right; false once the text is no repr. Nesting is a count, not recursion, so that no input
// is too deep.
class Translator {
 public:
  Translator(std::string& out, std::string_view repr) : out_(out), rest_(repr) {}

  bool run() {
    if (!translate_value()) return false;
    while (!open_.empty()) {
      skip_blanks();
      if (rest_.empty()) return false;
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == open_.back()) {
        out_ += c;
        open_.pop_back();
      } else if (c == ',' || (c == ':' && open_.back() == '}')) {
        out_ += c == ',' ? ", " : ": ";
        if (!translate_value()) return false;
      } else {
        return false;
      }
    }
    skip_blanks();
    return rest_.empty();
  }

 private:
  void skip_blanks() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }

  // A scalar, an empty list, or the beginning of a list up to its first scalar.
  bool translate_value() {
    skip_blanks();
    while (!rest_.empty() && (rest_.front() == '[' || rest_.front() == '{')) {
      const char end = rest_.front() == '[' ? ']' : '}';
      out_ += rest_.front();
      rest_.remove_prefix(1);
      skip_blanks();
      if (!rest_.empty() && rest_.front() == end) {
        out_ += end;
        rest_.remove_prefix(1);
        return true;
      }
      open_ += end;
    }
    if (rest_.empty()) return false;
    return rest_.front() == '\'' || rest_.front() == '"' ? translate_text() : translate_word();
  }

  bool translate_word() {
    const std::string_view word = rest_.substr(0, rest_.find_first_of(" ,:]}"));
    rest_.remove_prefix(word.size());
    if (word == "True") {
      out_ += "true";
    } else if (word == "False") {
      out_ += "false";
    } else if (word == "None") {
      out_ += "null";
    } else if (word == "nan") {
      out_ += "NaN";
    } else if (word == "inf" || word == "-inf") {
      out_ += word == "inf" ? "Infinity" : "-Infinity";
    } else if (!word.empty() && std::all_of(word.begin(), word.end(), is_numeric) &&
               word.find_first_of("0123456789") != std::string_view::npos) {
      out_ += word;
    } else {
      return false;
    }
    return true;
  }

  static bool is_numeric(char c) { return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e'; }

  bool translate_text() {
    const char quote = rest_.front();
    rest_.remove_prefix(1);
    text_.clear();
    while (true) {
      const std::size_t plain = std::min(rest_.find(quote), rest_.find('\\'));
      if (plain == std::string_view::npos) return false;
      text_ += rest_.substr(0, plain);
      const bool escaped = rest_[plain] == '\\';
      rest_.remove_prefix(plain + 1);
      if (!escaped) break;
      if (!translate_escape()) return false;
    }
    io::append_json_string(out_, text_);
    return true;
  }

  bool translate_escape() {
    if (rest_.empty()) return false;
    const char c = rest_.front();
    rest_.remove_prefix(1);
    switch (c) {
      case 'n':
        text_ += '\n';
        return true;
      case 'r':
        text_ += '\r';
        return true;
      case 't':
        text_ += '\t';
        return true;
      case '\\':
      case '\'':
      case '"':
        text_ += c;
        return true;
      case 'x':
        return translate_code(2);
      case 'u':
        return translate_code(4);
      case 'U':
        return translate_code(8);
      default:
        return false;
    }
  }

  bool translate_code(std::size_t digits) {
    std::uint32_t code = 0;
    const std::string_view text = rest_.substr(0, digits);
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), code, 16);
    if (text.size() != digits || parsed.ptr != text.data() + digits || code > 0x10'FFFF) return false;
    rest_.remove_prefix(digits);
    wire::append_utf8(text_, code);
    return true;
  }

  std::string& out_;
  std::string_view rest_;
  std::string open_;  // what closes the lists that are open
  std::string text_;
};

}  // namespace

void append_repr_as_json(std::string& out, std::string_view repr) {
  const std::size_t before = out.size();
  if (Translator(out, repr).run()) return;
  out.resize(before);
  io::append_json_string(out, repr);
}

}  // namespace chakra::pytorch
