// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chakra_core/et_file.hpp"
#include "io/byte_scan.hpp"
#include "io/byte_stream.hpp"
#include "io/json_number.hpp"

namespace chakra::io {

enum class JsonKind : std::uint8_t {
  object,
  array,
  string,
  number,  ///< also NaN, Infinity, nan, inf and their negatives
  boolean,
  null,
  missing,  ///< nothing where a value belongs (`"key": ,`); only when recovering
};

/// Faults that a recovering scanner mends. Those of strings count once a string.
enum class JsonFault : std::uint8_t {
  missing_comma,
  extra_comma,
  missing_value,
  control_character,   ///< raw, in a string; kept
  invalid_escape,      ///< backslashes of the string are kept as they are, but for \\ \" \/ and \uXXXX
  lone_surrogate,      ///< an escape of half a pair; becomes U+FFFD
  invalid_utf8,        ///< every maximal ill-formed part becomes U+FFFD
  malformed_number,    ///< such as 01, 1. or 0x1F; has no value
  trailing_data,       ///< something after the end of the document
  broken_compression,  ///< treated as the end of the input
};
inline constexpr std::size_t json_fault_count = 10;

/// Text for messages, e.g. "missing comma".
std::string_view to_string(JsonFault fault) noexcept;

/// How often each fault was mended, and where it was met first.
struct JsonFaults {
  struct Entry {
    std::uint64_t count = 0;
    std::uint64_t offset = 0;
    std::uint64_t line = 0;
  };
  std::array<Entry, json_fault_count> entries{};

  const Entry& operator[](JsonFault fault) const noexcept { return entries[static_cast<std::size_t>(fault)]; }
  std::uint64_t total() const noexcept;
};

struct JsonOptions {
  OnError on_error = OnError::strict;
  std::size_t window_bytes = std::size_t{1} << 18;
  std::size_t max_token_bytes = std::size_t{1} << 26;  ///< the window grows up to this for one long token
};

/// How to find the next record of an array of objects after one that is broken.
struct JsonRecordShape {
  std::string first_key;                ///< records start with `{"first_key"`
  std::vector<std::string> after_keys;  ///< keys of the enclosing object that may follow the array
  bool nested = false;  ///< objects inside a record may start with first_key too; else such a start ends a cut record
};

/// A pull scanner for JSON over a sliding window: the caller asks for what comes next, and memory does not grow with
/// the input. The order of calls is that of the grammar:
///
///     value:   peek(), then one of read_*, skip(), enter_object(), enter_array()
///     object:  enter_object(); while (next_key(key)) { a value }
///     array:   enter_array(); while (next_element()) { a value }
///
/// Views that a call returns are valid until the next call. A byte order mark at the start is passed over. Names in an
/// object may repeat.
///
/// OnError::strict throws FormatError (byte offset, line, what was found) at the first byte that is not JSON; the only
/// extension are the non-finite numbers. OnError::recover mends and counts the faults above and throws FormatError for
/// what remains: broken structure, an early end, tokens or nesting beyond the limits. A reader of records catches that,
/// drops the record, and goes on with resync().
class JsonScanner {
 public:
  static constexpr std::size_t max_depth = 512;

  /// `name` stands for the input in messages. The stream must outlive the scanner.
  JsonScanner(ByteStream& stream, std::string name, const JsonOptions& options = {});

  JsonKind peek() {
    const JsonKind kind = kind_of_first_byte(*cursor_);
    return kind != JsonKind::missing ? kind : peek_slow();
  }

  void enter_object();
  /// Steps to the next member: true with its name, the value being next; false after the closing brace.
  bool next_key(std::string_view& key) { return step_to_plain_key(key) || next_key_slow(key); }
  void enter_array();
  /// Steps to the next element: true, the value being next; false after the closing bracket.
  bool next_element() { return step_to_plain_element() || next_element_slow(); }

  /// Unescaped text of a string value. Empty for a missing value.
  std::string_view read_string() {
    std::string_view text;
    return take_plain_string(text) ? text : read_string_slow();
  }
  JsonNumber read_number() {
    JsonNumber number;
    return take_plain_number(number) ? number : read_number_slow();
  }
  bool read_boolean();
  void read_null();
  /// Passes over any value, checking it like everything else.
  void skip();
  /// Checks that nothing but white space follows the document.
  void finish();

  std::size_t depth() const noexcept { return depth_; }
  /// The innermost container is an object. Only where depth() > 0.
  bool in_object() const noexcept { return containers_[depth_ - 1] == Container::object; }
  /// No member or element of the innermost container was stepped to so far.
  bool at_first() const noexcept { return fresh_; }

  /// Offset in the (uncompressed) input of the next byte to be looked at, and its line, from 1.
  std::uint64_t offset() const noexcept;
  std::uint64_t line() const noexcept;
  bool at_end();

  /// While recovering: tells how records look, so that a record that was cut short and is followed by the next one in
  /// the middle of a value is noticed. Call it inside the array of records.
  void set_record_shape(JsonRecordShape shape);
  /// The first name of the object that comes next, as written; empty if there is none close by.
  std::string peek_first_key();
  /// After a FormatError inside the array of records: goes forward to the start of the next record, or to the end of
  /// the array, so that next_element() goes on from there. False if the input has neither.
  bool resync();

  /// After a FormatError before the array of records was reached: goes forward to the first thing that looks like a
  /// record of such an array in the outermost object, so that next_element() goes on from there.
  bool find_records(JsonRecordShape shape);

  bool recovering() const noexcept { return options_.on_error == OnError::recover; }
  const JsonFaults& faults() const noexcept { return faults_; }
  const std::string& name() const noexcept { return name_; }

  /// Throws FormatError for the place of the next byte.
  [[noreturn]] void fail(const std::string& problem);

 private:
  enum class Container : std::uint8_t { object, array };

  // The fast paths, for what stands whole and plain in the window. Each changes nothing and returns false where
  // anything else is met, the zero byte at the end of the window included; the slow path then starts over from the same
  // place.
  static JsonKind kind_of_first_byte(char c) noexcept { return first_bytes[static_cast<unsigned char>(c)]; }
  static const std::array<JsonKind, 256> first_bytes;
  bool step_to_plain_key(std::string_view& key) noexcept;
  bool step_to_plain_element() noexcept;
  bool take_plain_string(std::string_view& text) noexcept;
  bool take_plain_number(JsonNumber& number) noexcept;
  JsonKind peek_slow();
  bool next_key_slow(std::string_view& key);
  bool next_element_slow();
  std::string_view read_string_slow();
  JsonNumber read_number_slow();

  bool refill();
  std::size_t read_stream(char* into, std::size_t room);
  void grow(std::size_t kept);
  bool look_ahead(std::size_t count);
  char skip_space();
  void enter(Container container);
  void leave() noexcept;
  char step_over_comma(char closer);
  char mend_missing_comma(char found, char closer);
  char mend_extra_commas(char found, char closer);
  bool at_missing_value() const noexcept;
  void pass_colon();
  std::string_view scan_string();
  const char* check_closing_quote(const char* quote);
  std::string_view decode_string(std::string_view raw);
  void append_escape(std::string_view raw, std::size_t& position, bool verbatim);
  void append_unicode_escape(std::string_view raw, std::size_t& position);
  void read_literal(std::string_view literal);
  bool starts_record() const noexcept;
  bool ends_records() const noexcept;

  void mend(JsonFault fault, const char* at);
  [[noreturn]] void fail_at(const char* at, const std::string& problem);
  [[noreturn]] void fail_expected(const char* expected);
  std::string describe_next();
  std::uint64_t offset_of(const char* at) const noexcept;
  std::uint64_t line_of(const char* at) const noexcept;

  ByteStream& stream_;
  std::string name_;
  JsonOptions options_;
  std::unique_ptr<char[]> window_;
  std::size_t capacity_ = 0;
  const char* cursor_ = nullptr;
  const char* end_ = nullptr;   // of the bytes that are there; padding bytes of value 0 follow
  const char* keep_ = nullptr;  // bytes from here on survive a refill; none if null
  std::uint64_t window_offset_ = 0;
  std::uint64_t window_line_ = 1;
  std::uint64_t missing_at_ = ~std::uint64_t{0};  // offset of the last missing value that was counted
  bool ended_ = false;
  bool fresh_ = true;
  std::size_t depth_ = 0;
  std::array<Container, max_depth> containers_{};
  std::string scratch_;
  JsonFaults faults_;
  JsonRecordShape shape_;
  std::size_t record_depth_ = 0;  // depth inside the array of records; 0 if no shape is set
};

inline bool JsonScanner::step_to_plain_key(std::string_view& key) noexcept {
  const char* p = cursor_;
  if (!fresh_) {
    if (*p != ',') {
      return false;
    }
    ++p;
  }
  p = pass_spaces(p);
  if (*p != '"') {
    return false;
  }
  const char* const text = p + 1;
  p = find_string_special(text);
  if (p[0] != '"' || p[1] != ':') {
    return false;
  }
  key = {text, static_cast<std::size_t>(p - text)};
  p += 2;
  cursor_ = *p == ' ' ? p + 1 : p;
  fresh_ = false;
  return true;
}

inline bool JsonScanner::step_to_plain_element() noexcept {
  const char* p = cursor_;
  if (!fresh_) {
    if (*p != ',') {
      return false;
    }
    ++p;
  }
  p = pass_spaces(p);
  if (kind_of_first_byte(*p) == JsonKind::missing) {
    return false;
  }
  cursor_ = p;
  fresh_ = false;
  return true;
}

inline bool JsonScanner::take_plain_string(std::string_view& text) noexcept {
  if (*cursor_ != '"') {
    return false;
  }
  const char* const start = cursor_ + 1;
  const char* const quote = find_string_special(start);
  if (*quote != '"' || !(quote[1] == ',' || quote[1] == '}' || quote[1] == ']')) {
    return false;
  }
  text = {start, static_cast<std::size_t>(quote - start)};
  cursor_ = quote + 1;
  return true;
}

inline bool JsonScanner::take_plain_number(JsonNumber& number) noexcept {
  constexpr std::ptrdiff_t max_digits = 19;  // always fit into 64 bits
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool negative = *cursor_ == '-';
  const char* const whole = cursor_ + (negative ? 1 : 0);
  const char* p = whole;
  std::uint64_t digits = 0;
  for (; is_digit(*p); ++p) {
    digits = digits * 10 + static_cast<std::uint64_t>(*p - '0');
  }
  std::ptrdiff_t count = p - whole;
  if (count == 0 || (count > 1 && *whole == '0')) {
    return false;
  }
  const bool integer = *p != '.';
  std::ptrdiff_t decimals = 0;
  if (!integer) {
    const char* const fraction = ++p;
    for (; is_digit(*p); ++p) {
      digits = digits * 10 + static_cast<std::uint64_t>(*p - '0');
    }
    decimals = p - fraction;
    count += decimals;
    if (decimals == 0) {
      return false;
    }
  }
  if (count > max_digits || !(*p == ',' || *p == '}' || *p == ']' || *p == '\n' || *p == ' ')) {
    return false;
  }
  number = {.text = {cursor_, static_cast<std::size_t>(p - cursor_)},
            .digits = digits,
            .exponent = -decimals,
            .negative = negative,
            .integer = integer,
            .exact = true,
            .finite = true,
            .well_formed = true};
  cursor_ = p;
  return true;
}

}  // namespace chakra::io
