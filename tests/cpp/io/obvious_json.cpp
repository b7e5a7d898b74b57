// SPDX-License-Identifier: MIT
#include "io/obvious_json.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <stdexcept>

namespace chakra::test {

namespace {

struct NotJson : std::exception {};

std::string canonical_string(std::string_view text) {
  return "s" + std::to_string(text.size()) + ":" + std::string(text);
}

class ObviousParser {
 public:
  explicit ObviousParser(std::string_view text) : text_(text) {
    if (text_.substr(0, 3) == "\xEF\xBB\xBF") {
      at_ = 3;
    }
  }

  std::string document() {
    std::string result = value(0);
    space();
    if (at_ != text_.size()) {
      throw NotJson{};
    }
    return result;
  }

 private:
  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(std::string_view token) {
    if (text_.substr(at_, token.size()) != token) {
      return false;
    }
    at_ += token.size();
    return true;
  }
  void demand(std::string_view token) {
    if (!take(token)) {
      throw NotJson{};
    }
  }
  void space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) {
      ++at_;
    }
  }

  std::string value(std::size_t depth) {
    space();
    switch (next()) {
      case '{':
        return object(depth + 1);
      case '[':
        return array(depth + 1);
      case '"':
        return canonical_string(string());
      default:
        break;
    }
    if (take("true")) return "T";
    if (take("false")) return "F";
    if (take("null")) return "N";
    return number();
  }

  static void check_depth(std::size_t depth) {
    if (depth > io::JsonScanner::max_depth) {
      throw NotJson{};
    }
  }

  std::string object(std::size_t depth) {
    check_depth(depth);
    std::string result = "{";
    demand("{");
    space();
    if (take("}")) return result + "}";
    do {
      space();
      result += canonical_string(string()) + ":";
      space();
      demand(":");
      result += value(depth) + ",";
      space();
    } while (take(","));
    demand("}");
    return result + "}";
  }

  std::string array(std::size_t depth) {
    check_depth(depth);
    std::string result = "[";
    demand("[");
    space();
    if (take("]")) return result + "]";
    do {
      result += value(depth) + ",";
      space();
    } while (take(","));
    demand("]");
    return result + "]";
  }

  /// A token of number characters must be one number from start to end.
  std::string number() {
    std::size_t end = at_;
    while (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) != 0 ||
                                  std::string_view("+-._").find(text_[end]) != std::string_view::npos)) {
      ++end;
    }
    const std::string token(text_.substr(at_, end - at_));
    at_ = end;
    if (!is_number(token)) {
      throw NotJson{};
    }
    return "d" + token;
  }

  static bool is_number(std::string_view token) {
    const auto take_digits = [&] {
      const std::size_t count = std::min(token.find_first_not_of("0123456789"), token.size());
      token.remove_prefix(count);
      return count;
    };
    if (token.starts_with("-")) token.remove_prefix(1);
    if (token == "NaN" || token == "nan" || token == "Infinity" || token == "inf") return true;
    const bool leading_zero = token.starts_with("0");
    const std::size_t whole = take_digits();
    if (whole == 0 || (leading_zero && whole > 1)) return false;
    if (token.starts_with(".")) {
      token.remove_prefix(1);
      if (take_digits() == 0) return false;
    }
    if (token.starts_with("e") || token.starts_with("E")) {
      token.remove_prefix(1);
      if (token.starts_with("+") || token.starts_with("-")) token.remove_prefix(1);
      if (take_digits() == 0) return false;
    }
    return token.empty();
  }

  std::uint32_t hex4() {
    std::uint32_t code = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = next();
      if (std::isxdigit(static_cast<unsigned char>(c)) == 0) {
        throw NotJson{};
      }
      code = code * 16 + static_cast<std::uint32_t>(std::stoi(std::string(1, c), nullptr, 16));
      ++at_;
    }
    return code;
  }

  static std::string utf8(std::uint32_t code) {
    std::string out;
    const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
    if (code < 0x80) {
      put(code);
    } else if (code < 0x800) {
      put(0xC0 + code / 64);
      put(0x80 + code % 64);
    } else if (code < 0x10000) {
      put(0xE0 + code / 4096);
      put(0x80 + code / 64 % 64);
      put(0x80 + code % 64);
    } else {
      put(0xF0 + code / 262144);
      put(0x80 + code / 4096 % 64);
      put(0x80 + code / 64 % 64);
      put(0x80 + code % 64);
    }
    return out;
  }

  std::string escape() {
    demand("\\");
    const char letter = next();
    ++at_;
    switch (letter) {
      case '"':
      case '\\':
      case '/':
        return std::string(1, letter);
      case 'b':
        return "\b";
      case 'f':
        return "\f";
      case 'n':
        return "\n";
      case 'r':
        return "\r";
      case 't':
        return "\t";
      case 'u':
        break;
      default:
        throw NotJson{};
    }
    std::uint32_t code = hex4();
    if (code >= 0xD800 && code < 0xDC00) {
      demand("\\u");
      const std::uint32_t low = hex4();
      if (low < 0xDC00 || low >= 0xE000) {
        throw NotJson{};
      }
      code = 0x10000 + (code - 0xD800) * 0x400 + (low - 0xDC00);
    } else if (code >= 0xDC00 && code < 0xE000) {
      throw NotJson{};
    }
    return utf8(code);
  }

  /// A character beyond ASCII: decodes it by the definition and writes it again, which must give the same bytes.
  std::string character() {
    const auto first = static_cast<unsigned char>(next());
    const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 0;
    const std::string_view bytes = text_.substr(at_, length);
    if (length == 0 || bytes.size() < length) {
      throw NotJson{};
    }
    std::uint32_t code = first & (0xFFU >> (length + 1));
    for (const char c : bytes.substr(1)) {
      code = code * 64 + (static_cast<unsigned char>(c) & 0x3FU);
    }
    if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) || utf8(code) != bytes) {
      throw NotJson{};
    }
    at_ += length;
    return std::string(bytes);
  }

  std::string string() {
    demand("\"");
    std::string result;
    for (;;) {
      if (at_ >= text_.size() || static_cast<unsigned char>(text_[at_]) < 0x20) {
        throw NotJson{};
      }
      if (take("\"")) {
        return result;
      }
      if (next() == '\\') {
        result += escape();
      } else if (static_cast<unsigned char>(next()) >= 0x80) {
        result += character();
      } else {
        result += next();
        ++at_;
      }
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<std::string> parse_obviously(std::string_view text) {
  try {
    return ObviousParser(text).document();
  } catch (const NotJson&) {
    return std::nullopt;
  }
}

std::string canonical_value(io::JsonScanner& scanner) {
  std::string result;
  switch (scanner.peek()) {
    case io::JsonKind::object: {
      scanner.enter_object();
      result = "{";
      std::string_view key;
      while (scanner.next_key(key)) {
        result += canonical_string(key) + ":";
        result += canonical_value(scanner) + ",";
      }
      return result + "}";
    }
    case io::JsonKind::array:
      scanner.enter_array();
      result = "[";
      while (scanner.next_element()) {
        result += canonical_value(scanner) + ",";
      }
      return result + "]";
    case io::JsonKind::string:
      return canonical_string(scanner.read_string());
    case io::JsonKind::number:
      return "d" + std::string(scanner.read_number().text);
    case io::JsonKind::boolean:
      return scanner.read_boolean() ? "T" : "F";
    case io::JsonKind::null:
      scanner.read_null();
      return "N";
    case io::JsonKind::missing:
      return "?";
  }
  return result;
}

std::string canonical_document(io::ByteStream& stream, const io::JsonOptions& options, io::JsonFaults* faults) {
  io::JsonScanner scanner(stream, "test.json", options);
  std::string result = canonical_value(scanner);
  scanner.finish();
  if (faults != nullptr) {
    *faults = scanner.faults();
  }
  return result;
}

}  // namespace chakra::test
