// SPDX-License-Identifier: MIT
#include "io/json_scanner.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "chakra_core/errors.hpp"
#include "io/byte_scan.hpp"
#include "wire/utf8.hpp"

namespace chakra::io {

namespace {

constexpr std::size_t padding_bytes = 32;       // readable zeros after the input, for loads beyond its end
constexpr std::size_t record_look_ahead = 512;  // white space and a key; longer than any writer's indentation

/// Value of four hexadecimal digits at `position`, or -1.
std::int32_t parse_hex4(std::string_view text, std::size_t position) noexcept {
  if (position + 4 > text.size()) {
    return -1;
  }
  std::int32_t value = 0;
  for (const char c : text.substr(position, 4)) {
    std::int32_t digit = 0;
    if (c >= '0' && c <= '9') {
      digit = c - '0';
    } else if (c >= 'a' && c <= 'f') {
      digit = c - 'a' + 10;
    } else if (c >= 'A' && c <= 'F') {
      digit = c - 'A' + 10;
    } else {
      return -1;
    }
    value = value * 16 + digit;
  }
  return value;
}

/// What a one-letter escape stands for, or 0 if there is no such escape.
constexpr char escaped_character(char letter) noexcept {
  switch (letter) {
    case '"':
    case '\\':
    case '/':
      return letter;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return 0;
  }
}

/// Offset of the first backslash that starts no escape; npos if there is none.
std::size_t find_invalid_escape(std::string_view raw) noexcept {
  for (std::size_t i = raw.find('\\'); i != std::string_view::npos; i = raw.find('\\', i)) {
    const char letter = i + 1 < raw.size() ? raw[i + 1] : '\0';
    if (letter == 'u' ? parse_hex4(raw, i + 2) < 0 : escaped_character(letter) == 0) {
      return i;
    }
    i += 2;
  }
  return std::string_view::npos;
}

}  // namespace

/// The kind of value that a byte starts; missing for bytes that start none, and for 'n', which starts null and nan.
constinit const std::array<JsonKind, 256> JsonScanner::first_bytes = [] {
  std::array<JsonKind, 256> kinds{};
  kinds.fill(JsonKind::missing);
  const auto set = [&](std::string_view bytes, JsonKind kind) {
    for (const char c : bytes) {
      kinds[static_cast<unsigned char>(c)] = kind;
    }
  };
  set("{", JsonKind::object);
  set("[", JsonKind::array);
  set("\"", JsonKind::string);
  set("-0123456789NIi", JsonKind::number);
  set("tf", JsonKind::boolean);
  return kinds;
}();

std::string_view to_string(JsonFault fault) noexcept {
  switch (fault) {
    case JsonFault::missing_comma:
      return "missing comma";
    case JsonFault::extra_comma:
      return "extra comma";
    case JsonFault::missing_value:
      return "missing value";
    case JsonFault::control_character:
      return "raw control character in a string";
    case JsonFault::invalid_escape:
      return "backslash that starts no escape";
    case JsonFault::lone_surrogate:
      return "escape of half a surrogate pair";
    case JsonFault::invalid_utf8:
      return "invalid UTF-8 in a string";
    case JsonFault::malformed_number:
      return "malformed number";
    case JsonFault::trailing_data:
      return "data after the end of the document";
    case JsonFault::broken_compression:
      return "broken compression";
  }
  return "";
}

std::uint64_t JsonFaults::total() const noexcept {
  std::uint64_t sum = 0;
  for (const Entry& entry : entries) {
    sum += entry.count;
  }
  return sum;
}

JsonScanner::JsonScanner(ByteStream& stream, std::string name, const JsonOptions& options)
    : stream_(stream),
      name_(std::move(name)),
      options_(options),
      capacity_(std::max<std::size_t>(options.window_bytes, 1)) {
  window_ = std::make_unique<char[]>(capacity_ + padding_bytes);
  cursor_ = end_ = window_.get();
  keep_ = cursor_;
  static constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (look_ahead(byte_order_mark.size()) && std::memcmp(cursor_, byte_order_mark.data(), byte_order_mark.size()) == 0) {
    cursor_ += byte_order_mark.size();
  }
  keep_ = nullptr;
}

// ---- window

/// Brings in more bytes after those that are still needed. Moves the window: pointers into it other than cursor_, keep_
/// and end_ are void afterwards. False at the end of the input.
bool JsonScanner::refill() {
  if (ended_) {
    return false;
  }
  const char* const needed = keep_ != nullptr ? keep_ : cursor_;
  const auto gone = static_cast<std::size_t>(needed - window_.get());
  const auto kept = static_cast<std::size_t>(end_ - needed);
  window_line_ += count_newlines(window_.get(), needed);
  window_offset_ += gone;
  std::memmove(window_.get(), needed, kept);
  cursor_ -= gone;
  end_ -= gone;
  if (keep_ != nullptr) {
    keep_ = window_.get();
  }
  if (kept == capacity_) {
    grow(kept);
  }
  const std::size_t count = read_stream(window_.get() + kept, capacity_ - kept);
  end_ = window_.get() + kept + count;
  std::memset(window_.get() + kept + count, 0, padding_bytes);
  ended_ = count == 0;
  return !ended_;
}

void JsonScanner::grow(std::size_t kept) {
  if (capacity_ >= options_.max_token_bytes) {
    fail_at(window_.get(), "a single token is longer than " + std::to_string(options_.max_token_bytes) + " bytes");
  }
  const std::size_t larger = std::min(capacity_ * 2, options_.max_token_bytes);
  auto window = std::make_unique<char[]>(larger + padding_bytes);
  std::memcpy(window.get(), window_.get(), kept);
  cursor_ = window.get() + (cursor_ - window_.get());
  end_ = window.get() + kept;
  if (keep_ != nullptr) {
    keep_ = window.get();
  }
  window_ = std::move(window);
  capacity_ = larger;
}

std::size_t JsonScanner::read_stream(char* into, std::size_t room) {
  try {
    return stream_.read({reinterpret_cast<std::byte*>(into), room});
  } catch (const FormatError&) {
    if (!recovering()) {
      throw;
    }
    mend(JsonFault::broken_compression, into);
    return 0;
  }
}

/// At least `count` bytes from the cursor on are in the window, unless the input ends before (then false).
bool JsonScanner::look_ahead(std::size_t count) {
  const char* const outer = std::exchange(keep_, keep_ != nullptr ? keep_ : cursor_);
  while (static_cast<std::size_t>(end_ - cursor_) < count && refill()) {
  }
  if (outer == nullptr) {
    keep_ = nullptr;
  }
  return static_cast<std::size_t>(end_ - cursor_) >= count;
}

bool JsonScanner::at_end() {
  skip_space();
  return cursor_ == end_;
}

/// Moves to the next byte that is not white space and returns it; 0 at the end of the input.
char JsonScanner::skip_space() {
  for (;;) {
    cursor_ = pass_spaces(cursor_);
    if (cursor_ != end_ || !refill()) {
      return *cursor_;
    }
  }
}

// ---- places and failures

std::uint64_t JsonScanner::offset_of(const char* at) const noexcept {
  return window_offset_ + static_cast<std::uint64_t>(at - window_.get());
}

std::uint64_t JsonScanner::line_of(const char* at) const noexcept {
  return window_line_ + count_newlines(window_.get(), at);
}

std::uint64_t JsonScanner::offset() const noexcept { return offset_of(cursor_); }

std::uint64_t JsonScanner::line() const noexcept { return line_of(cursor_); }

void JsonScanner::mend(JsonFault fault, const char* at) {
  JsonFaults::Entry& entry = faults_.entries[static_cast<std::size_t>(fault)];
  if (entry.count++ == 0) {
    entry.offset = offset_of(at);
    entry.line = line_of(at);
  }
}

void JsonScanner::fail_at(const char* at, const std::string& problem) {
  const FormatLocation location{.path = name_, .record = {}, .offset = offset_of(at)};
  const std::uint64_t line = line_of(at);
  keep_ = nullptr;
  throw FormatError(location, "line " + std::to_string(line) + ": " + problem);
}

void JsonScanner::fail(const std::string& problem) { fail_at(cursor_, problem); }

void JsonScanner::fail_expected(const char* expected) {
  fail(std::string("expected ") + expected + " but found " + describe_next());
}

std::string JsonScanner::describe_next() {
  if (cursor_ == end_) {
    return "the end of the input";
  }
  const auto byte = static_cast<unsigned char>(*cursor_);
  if (byte > 0x20 && byte < 0x7F) {
    return std::string("'") + *cursor_ + "'";
  }
  static constexpr std::string_view hex = "0123456789abcdef";
  return std::string("byte 0x") + hex[byte >> 4] + hex[byte & 15];
}

// ---- structure

void JsonScanner::enter(Container container) {
  if (depth_ == max_depth) {
    fail("nested deeper than " + std::to_string(max_depth) + " levels");
  }
  ++cursor_;
  containers_[depth_++] = container;
  fresh_ = true;
}

void JsonScanner::leave() noexcept {
  ++cursor_;
  --depth_;
  fresh_ = false;
  if (depth_ < record_depth_) {
    record_depth_ = 0;  // the records are over
  }
}

JsonKind JsonScanner::peek_slow() {
  const char c = skip_space();
  if (c == 'n') {
    return look_ahead(2) && cursor_[1] == 'u' ? JsonKind::null : JsonKind::number;
  }
  if (const JsonKind kind = kind_of_first_byte(c); kind != JsonKind::missing) {
    return kind;
  }
  if (!at_missing_value()) {
    fail_expected("a value");
  }
  if (std::exchange(missing_at_, offset()) != offset()) {  // it may be looked at twice
    mend(JsonFault::missing_value, cursor_);
  }
  return JsonKind::missing;
}

void JsonScanner::enter_object() {
  if (skip_space() != '{') {
    fail_expected("an object");
  }
  if (record_depth_ != 0 && depth_ > record_depth_ && !shape_.nested) {
    look_ahead(record_look_ahead);
    if (starts_record()) {
      fail("a record starts inside another one, which was cut short");
    }
  }
  enter(Container::object);
}

void JsonScanner::enter_array() {
  if (skip_space() != '[') {
    fail_expected("a list");
  }
  enter(Container::array);
}

/// Passes the comma between two members or elements; returns the byte that follows.
char JsonScanner::step_over_comma(char closer) {
  char c = skip_space();
  if (c == closer) {
    return c;
  }
  if (!fresh_) {
    if (c != ',') {
      return mend_missing_comma(c, closer);
    }
    ++cursor_;
    c = skip_space();
    if (c != ',' && c != closer) {
      return c;
    }
  } else if (c != ',') {
    return c;
  }
  return mend_extra_commas(c, closer);
}

char JsonScanner::mend_missing_comma(char found, char closer) {
  const bool another_follows =
      closer == '}' ? found == '"' : found == 'n' || kind_of_first_byte(found) != JsonKind::missing;
  if (!recovering() || !another_follows) {
    fail_expected(closer == '}' ? "',' or '}'" : "',' or ']'");
  }
  mend(JsonFault::missing_comma, cursor_);
  return found;
}

/// Commas before the first, after the last, or one too many in between.
char JsonScanner::mend_extra_commas(char found, char closer) {
  if (!recovering()) {
    fail_expected(closer == '}' ? "a name in double quotes" : "a value");
  }
  mend(JsonFault::extra_comma, cursor_);
  while (found == ',') {
    ++cursor_;
    found = skip_space();
  }
  return found;
}

void JsonScanner::pass_colon() {
  if (skip_space() != ':') {
    fail_expected("':' after a name");
  }
  ++cursor_;
  skip_space();
}

bool JsonScanner::next_key_slow(std::string_view& key) {
  const char c = step_over_comma('}');
  if (c == '}') {
    leave();
    return false;
  }
  if (c != '"') {
    fail_expected(fresh_ ? "a name in double quotes or '}'" : "a name in double quotes");
  }
  fresh_ = false;
  key = scan_string();
  if (key.data() == scratch_.data()) {
    pass_colon();
    return true;
  }
  // The name lies in the window: hold it there while the colon is passed.
  keep_ = key.data();
  pass_colon();
  key = {keep_, key.size()};
  keep_ = nullptr;
  return true;
}

bool JsonScanner::next_element_slow() {
  const char c = step_over_comma(']');
  if (c == ']') {
    if (record_depth_ != 0 && depth_ > record_depth_) {
      look_ahead(record_look_ahead);
      if (ends_records()) {
        fail("the list of records ends inside a record, which was cut short");
      }
    }
    leave();
    return false;
  }
  if (c == 0 && cursor_ == end_) {
    fail_expected("a value or ']'");
  }
  fresh_ = false;
  return true;
}

// ---- strings

/// Reads the string at the cursor, which is on its opening quote.
std::string_view JsonScanner::scan_string() {
  keep_ = cursor_;
  const char* p = cursor_ + 1;
  bool plain = true;
  for (;;) {
    p = find_string_special(p);
    if (*p == '"') {
      break;
    }
    const bool escape = *p == '\\';
    if (p == end_ || (escape && p + 1 == end_)) {
      const auto passed = p - keep_;
      if (!refill()) {
        fail_at(keep_, "the input ends inside the string that starts here");
      }
      p = keep_ + passed;
      continue;
    }
    plain = false;
    p += escape ? 2 : 1;
  }
  if (recovering()) {
    p = check_closing_quote(p);
  }
  const std::string_view raw{keep_ + 1, static_cast<std::size_t>(p - keep_ - 1)};
  if (!plain) {
    const std::string_view decoded = decode_string(raw);
    cursor_ = p + 1;
    keep_ = nullptr;
    return decoded;
  }
  cursor_ = p + 1;
  keep_ = nullptr;
  return raw;
}

/// A quote that is followed by a letter opened the next string: the one before it was never closed. `quote` ends the
/// string at keep_; returns where it is now.
const char* JsonScanner::check_closing_quote(const char* quote) {
  if (quote + 1 == end_) {
    const auto passed = quote - keep_;
    refill();
    quote = keep_ + passed;
  }
  const char next = quote[1];
  if ((next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z') || next == '_') {
    cursor_ = keep_ + 1;  // what follows may lie inside
    fail_at(keep_, "the string that starts here is not closed");
  }
  return quote;
}

/// The text of a string with escapes, control characters or non-ASCII characters; `raw` lies in the window.
std::string_view JsonScanner::decode_string(std::string_view raw) {
  const auto check = [&](std::size_t position, JsonFault fault) {
    if (position == std::string_view::npos) {
      return false;
    }
    if (!recovering()) {
      fail_at(raw.data() + position, std::string(to_string(fault)));
    }
    mend(fault, raw.data() + position);
    return true;
  };
  const auto control =
      std::find_if(raw.begin(), raw.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  check(control == raw.end() ? std::string_view::npos : static_cast<std::size_t>(control - raw.begin()),
        JsonFault::control_character);
  const bool invalid_utf8 = check(wire::find_invalid_utf8(raw), JsonFault::invalid_utf8);
  const bool verbatim = check(find_invalid_escape(raw), JsonFault::invalid_escape);
  if (!invalid_utf8 && raw.find('\\') == std::string_view::npos) {
    return raw;
  }
  scratch_.clear();
  const std::uint64_t surrogates_before = faults_[JsonFault::lone_surrogate].count;
  for (std::size_t i = 0; i < raw.size();) {
    if (raw[i] == '\\') {
      append_escape(raw, i, verbatim);
      continue;
    }
    const wire::Utf8Step step = wire::decode_utf8(raw.substr(i));
    if (step.valid) {
      scratch_.append(raw, i, step.length);
    } else {
      wire::append_utf8(scratch_, 0xFFFD);
    }
    i += step.length;
  }
  auto& surrogates = faults_.entries[static_cast<std::size_t>(JsonFault::lone_surrogate)];
  surrogates.count = std::min(surrogates.count, surrogates_before + 1);
  return scratch_;
}

/// Appends what the escape at `position` stands for and steps over it. In a string with `verbatim` backslashes only
/// those that must be escapes are taken as such.
void JsonScanner::append_escape(std::string_view raw, std::size_t& position, bool verbatim) {
  const char letter = raw[position + 1];
  if (letter == 'u' && parse_hex4(raw, position + 2) >= 0) {
    append_unicode_escape(raw, position);
    return;
  }
  const char meaning = escaped_character(letter);
  if (meaning == letter || (meaning != 0 && !verbatim)) {
    scratch_.push_back(meaning);
    position += 2;
  } else {
    scratch_.push_back('\\');
    position += 1;
  }
}

void JsonScanner::append_unicode_escape(std::string_view raw, std::size_t& position) {
  const std::size_t start = position;
  auto code = static_cast<std::uint32_t>(parse_hex4(raw, position + 2));
  position += 6;
  if (code >= 0xD800 && code < 0xDC00 && raw.substr(position).starts_with("\\u")) {
    const std::int32_t low = parse_hex4(raw, position + 2);
    if (low >= 0xDC00 && low < 0xE000) {
      code = 0x10000 + ((code - 0xD800) << 10) + (static_cast<std::uint32_t>(low) - 0xDC00);
      position += 6;
    }
  }
  if (code >= 0xD800 && code < 0xE000) {
    if (!recovering()) {
      fail_at(raw.data() + start, std::string(to_string(JsonFault::lone_surrogate)));
    }
    mend(JsonFault::lone_surrogate, raw.data() + start);
    code = 0xFFFD;
  }
  wire::append_utf8(scratch_, code);
}

// ---- values

/// Nothing stands where a value belongs, and that may be mended.
bool JsonScanner::at_missing_value() const noexcept {
  return recovering() && depth_ > 0 && (*cursor_ == ',' || *cursor_ == '}' || *cursor_ == ']');
}

std::string_view JsonScanner::read_string_slow() {
  const char c = skip_space();
  if (c == '"') {
    return scan_string();
  }
  if (!at_missing_value()) {
    fail_expected("a string");
  }
  return {};
}

JsonNumber JsonScanner::read_number_slow() {
  skip_space();
  JsonNumber number = parse_json_number(cursor_, end_);
  for (bool more = true; more && number.text.data() + number.text.size() == end_;) {
    keep_ = cursor_;
    more = refill();  // moves the window even where the input has ended
    number = parse_json_number(cursor_, end_);
  }
  keep_ = nullptr;
  if (!number.well_formed) {
    if (number.text.empty()) {
      if (!at_missing_value()) {
        fail_expected("a number");
      }
      return number;
    }
    if (!recovering()) {
      fail("malformed number '" + std::string(number.text.substr(0, 40)) + "'");
    }
    mend(JsonFault::malformed_number, cursor_);
  }
  cursor_ += number.text.size();
  return number;
}

void JsonScanner::read_literal(std::string_view literal) {
  skip_space();
  if (!look_ahead(literal.size()) || std::memcmp(cursor_, literal.data(), literal.size()) != 0) {
    fail_expected(literal == "null" ? "null" : "true or false");
  }
  cursor_ += literal.size();
}

bool JsonScanner::read_boolean() {
  const bool value = skip_space() == 't';
  read_literal(value ? "true" : "false");
  return value;
}

void JsonScanner::read_null() { read_literal("null"); }

void JsonScanner::skip() {
  const std::size_t outer = depth_;
  std::string_view key;
  do {
    switch (peek()) {
      case JsonKind::object:
        enter_object();
        break;
      case JsonKind::array:
        enter_array();
        break;
      case JsonKind::string:
        scan_string();
        break;
      case JsonKind::number:
        read_number();
        break;
      case JsonKind::boolean:
        read_boolean();
        break;
      case JsonKind::null:
        read_null();
        break;
      case JsonKind::missing:
        break;
    }
    while (depth_ > outer && !(in_object() ? next_key(key) : next_element())) {
    }
  } while (depth_ > outer);
}

void JsonScanner::finish() {
  if (at_end()) {
    return;
  }
  if (!recovering()) {
    fail_expected("the end of the input");
  }
  mend(JsonFault::trailing_data, cursor_);
}

// ---- records

void JsonScanner::set_record_shape(JsonRecordShape shape) {
  shape_ = std::move(shape);
  record_depth_ = recovering() ? depth_ : 0;
}

namespace {

std::string_view after_space(std::string_view text) noexcept {
  const auto rest = std::find_if(text.begin(), text.end(), [](char c) { return !is_json_space(c); });
  return text.substr(static_cast<std::size_t>(rest - text.begin()));
}

bool starts_with_key(std::string_view text, std::string_view key) noexcept {
  return text.starts_with('"') && text.substr(1).starts_with(key) && text.substr(1 + key.size()).starts_with('"');
}

}  // namespace

std::string JsonScanner::peek_first_key() {
  if (skip_space() != '{') {
    return {};
  }
  look_ahead(record_look_ahead);
  const std::string_view ahead = after_space({cursor_ + 1, static_cast<std::size_t>(end_ - cursor_ - 1)});
  const std::size_t close = ahead.find('"', 1);
  return ahead.starts_with('"') && close < record_look_ahead ? std::string(ahead.substr(1, close - 1)) : std::string();
}

/// The cursor is on the opening brace of a record.
bool JsonScanner::starts_record() const noexcept {
  const std::string_view ahead{cursor_, static_cast<std::size_t>(end_ - cursor_)};
  return ahead.starts_with('{') && starts_with_key(after_space(ahead.substr(1, record_look_ahead)), shape_.first_key);
}

/// The cursor is on the closing bracket of the array of records.
bool JsonScanner::ends_records() const noexcept {
  const std::string_view all{cursor_, static_cast<std::size_t>(end_ - cursor_)};
  if (!all.starts_with(']')) {
    return false;
  }
  std::string_view ahead = after_space(all.substr(1, record_look_ahead));
  const bool input_ends = all.size() < record_look_ahead;  // looking ahead found no more
  if (input_ends &&
      (record_depth_ == 1 ? ahead.empty() : ahead.starts_with('}') && after_space(ahead.substr(1)).empty())) {
    return true;
  }
  if (!ahead.starts_with(',')) {
    return false;
  }
  ahead = after_space(ahead.substr(1));
  return std::any_of(shape_.after_keys.begin(), shape_.after_keys.end(),
                     [&](const std::string& key) { return starts_with_key(ahead, key); });
}

bool JsonScanner::resync() {
  keep_ = nullptr;
  for (;; ++cursor_) {
    cursor_ = std::find_if(cursor_, end_, [](char c) { return c == '{' || c == ']'; });
    while (cursor_ == end_) {
      if (!refill()) {
        return false;
      }
      cursor_ = std::find_if(cursor_, end_, [](char c) { return c == '{' || c == ']'; });
    }
    look_ahead(record_look_ahead);
    if (starts_record() || ends_records()) {
      depth_ = record_depth_;
      fresh_ = true;
      return true;
    }
  }
}

bool JsonScanner::find_records(JsonRecordShape shape) {
  shape_ = std::move(shape);
  containers_[0] = Container::object;
  containers_[1] = Container::array;
  record_depth_ = 2;
  return resync();
}

}  // namespace chakra::io
