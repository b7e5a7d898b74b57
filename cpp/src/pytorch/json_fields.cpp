// SPDX-License-Identifier: MIT
#include "pytorch/json_fields.hpp"

#include "io/python_repr.hpp"

namespace chakra::pytorch {

namespace {

/// Calls `convert` on the number that comes next, if there is one.
template <class Convert>
auto read_converted(io::JsonScanner& scanner, Convert convert) -> decltype(convert(io::JsonNumber{})) {
  switch (scanner.peek()) {
    case io::JsonKind::number:
      return convert(scanner.read_number());
    case io::JsonKind::string: {
      // A copy, because the parser needs a byte to stop at.
      const std::string text(scanner.read_string());
      const io::JsonNumber number = io::parse_json_number(text.data(), text.data() + text.size());
      if (number.well_formed && number.text.size() == text.size()) {
        return convert(number);
      }
      return std::nullopt;
    }
    default:
      scanner.skip();
      return std::nullopt;
  }
}

}  // namespace

std::optional<std::int64_t> read_int64(io::JsonScanner& scanner) {
  return read_converted(scanner, [](const io::JsonNumber& number) { return number.to_int64(); });
}

std::optional<std::uint64_t> read_uint64(io::JsonScanner& scanner) {
  return read_converted(scanner, [](const io::JsonNumber& number) { return number.to_uint64(); });
}

std::optional<std::int64_t> read_microseconds(io::JsonScanner& scanner) {
  return read_converted(scanner, [](const io::JsonNumber& number) { return number.scaled(3); });
}

void read_text(io::JsonScanner& scanner, std::string& text) {
  text.clear();
  switch (scanner.peek()) {
    case io::JsonKind::string:
      text = scanner.read_string();
      break;
    case io::JsonKind::null:
      scanner.read_null();
      break;
    case io::JsonKind::missing:
      break;
    default:
      io::append_python_repr(text, scanner);
  }
}

}  // namespace chakra::pytorch
