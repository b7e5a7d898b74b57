// SPDX-License-Identifier: MIT
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "io/byte_scan.hpp"
#include "io/json_scanner.hpp"
#include "io/obvious_json.hpp"
#include "io/trickle_stream.hpp"

namespace chakra::test {
namespace {

using io::JsonFault;
using io::JsonScanner;

struct Cut {
  std::size_t window;
  std::size_t piece;
};

/// Windows and pieces that put a boundary at every place of a short text.
const std::vector<Cut>& cuts() {
  static const std::vector<Cut> all = {{1, 1},  {2, 1},  {3, 2},  {5, 3},   {7, 7},     {8, 1},      {13, 4},
                                       {16, 5}, {17, 9}, {31, 2}, {64, 11}, {4096, 33}, {4096, 4096}};
  return all;
}

std::string scan(const std::string& text, const Cut& cut, OnError on_error, io::JsonFaults* faults = nullptr) {
  TrickleStream stream(text, cut.piece);
  return canonical_document(stream, {.on_error = on_error, .window_bytes = cut.window}, faults);
}

/// Where a strict scan of `text` fails; npos if it does not.
std::uint64_t failing_offset(const std::string& text, const Cut& cut, std::string* message = nullptr) {
  try {
    scan(text, cut, OnError::strict);
  } catch (const FormatError& error) {
    if (message != nullptr) {
      *message = error.what();
    }
    return *error.location().offset;
  }
  return std::string::npos;
}

const std::vector<std::string>& valid_texts() {
  static const std::vector<std::string> all = {
      "0",
      "-0",
      "1.5e-3",
      "123456789012345678901234567890",
      "\"\"",
      "true",
      "  null\n",
      "[]",
      "{}",
      " [ ] ",
      " { } ",
      "[1,2,3]",
      "[[],[[]],{}]",
      "{\"a\":1,\"a\":2}",
      "{\"\":{\"\":[]}}",
      "{ \"ph\" : \"X\" , \"ts\" : 1669783687464181.123 , \"args\" : { \"grid\" : [ 1 , 2 , 3 ] } }",
      "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20ac\\ud83d\\ude00\"",
      "\"\\u0000\"",
      "{\"k\\u0041\\n\": \"v\"}",
      "\"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 \x7F\"",
      "{\"\xC3\xA9\":\"\xC3\xA9\"}",
      "[NaN, nan, Infinity, -Infinity, inf, -inf, -NaN]",
      "[true,false,null,0e+1,-1E5,0.0]",
      "\xEF\xBB\xBF[1]",
      "\"a long string that fills more than one vector register, with no specials at all in it\"",
      "[\"ends at fifteen\",\"ends at sixteen.\",\"ends at seventeen\"]",
      "\"\xEF\xBF\xBF\xF4\x8F\xBF\xBF\"",
      std::string(JsonScanner::max_depth, '[') + std::string(JsonScanner::max_depth, ']'),
  };
  return all;
}

const std::vector<std::string>& invalid_texts() {
  static const std::vector<std::string> all = {
      "",
      " ",
      "[",
      "]",
      "{",
      "}",
      "[1",
      "[1,",
      "[1,]",
      "[,1]",
      "[1,,2]",
      "[1 2]",
      "[1}",
      "{\"a\"}",
      "{\"a\":}",
      "{\"a\":1,}",
      "{\"a\":1 \"b\":2}",
      "{\"a\" 1}",
      "{a:1}",
      "{1:1}",
      "{'a':1}",
      "{,}",
      "{\"a\":1]",
      "{\"a\":,\"b\":1}",
      "[1]]",
      "[1] 2",
      "1 2",
      "tru",
      "truex",
      "[True]",
      "nul",
      "n",
      "\"abc",
      "\"abc\\",
      "\"abc\\\"",
      "\"\\c\"",
      "\"\\u12\"",
      "\"\\u12g4\"",
      "\"\\ud800\"",
      "\"\\udc00\"",
      "\"\\ud800\\u0041\"",
      "\"a\nb\"",
      "\"a\x01\"",
      std::string("\"a\0b\"", 5),
      std::string("\0", 1),
      std::string("[1\0]", 4),
      "\"\xFF\"",
      "\"\xC3\"",
      "\"\xC3(\"",
      "\"\xE2\x82\"",
      "\"\xC0\xAF\"",
      "\"\xE0\x80\xAF\"",
      "\"\xED\xA0\x80\"",
      "\"\xF5\x80\x80\x80\"",
      "\"\xF4\x90\x80\x80\"",
      "\"\x80\"",
      "{\"a\xFF\":1}",
      "01",
      "-",
      "+1",
      ".5",
      "1.",
      "1.e5",
      "1e",
      "1e+",
      "0x1F",
      "1_000",
      "--1",
      "-Inf",
      "nanx",
      "Infinity1",
      "INFINITY",
      "@",
      "[@]",
      "/* c */ 1",
      "\xFE\xFF",
      std::string(JsonScanner::max_depth + 1, '[') + std::string(JsonScanner::max_depth + 1, ']'),
  };
  return all;
}

TEST(JsonScanner, AgreesWithTheObviousParserOnValidTextsForEveryCut) {
  for (const std::string& text : valid_texts()) {
    const std::optional<std::string> expected = parse_obviously(text);
    ASSERT_TRUE(expected) << text;
    for (const Cut& cut : cuts()) {
      EXPECT_EQ(scan(text, cut, OnError::strict), *expected) << text << " window " << cut.window;
      io::JsonFaults faults;
      EXPECT_EQ(scan(text, cut, OnError::recover, &faults), *expected) << text << " window " << cut.window;
      EXPECT_EQ(faults.total(), 0U) << text;
    }
  }
}

TEST(JsonScanner, StrictRefusesInvalidTextsAtTheSamePlaceForEveryCut) {
  for (const std::string& text : invalid_texts()) {
    ASSERT_FALSE(parse_obviously(text)) << text;
    const std::uint64_t offset = failing_offset(text, cuts().back());
    EXPECT_NE(offset, std::string::npos) << text;
    EXPECT_LE(offset, text.size()) << text;
    for (const Cut& cut : cuts()) {
      EXPECT_EQ(failing_offset(text, cut), offset) << text << " window " << cut.window;
    }
  }
}

TEST(JsonScanner, SkipChecksWhatItPasses) {
  for (const std::string& text : invalid_texts()) {
    for (const Cut& cut : cuts()) {
      TrickleStream stream(text, cut.piece);
      const auto skip_all = [&] {
        JsonScanner scanner(stream, "test.json", {.window_bytes = cut.window});
        scanner.skip();
        scanner.finish();
      };
      EXPECT_THROW(skip_all(), FormatError) << text;
    }
  }
  for (const std::string& text : valid_texts()) {
    for (const Cut& cut : cuts()) {
      TrickleStream stream(text, cut.piece);
      JsonScanner scanner(stream, "test.json", {.window_bytes = cut.window});
      scanner.skip();
      EXPECT_NO_THROW(scanner.finish()) << text;
      EXPECT_EQ(scanner.offset(), text.size());
      EXPECT_EQ(scanner.depth(), 0U);
    }
  }
}

struct Failure {
  std::string text;
  std::uint64_t offset;
  std::string message;
};

TEST(JsonScanner, SaysWhereAndWhat) {
  const std::vector<Failure> failures = {
      {"[1,\n 2\n 3]", 8, "test.json: byte offset 8: line 3: expected ',' or ']' but found '3'"},
      {"{\"a\": 1\n\"b\": 2}", 8, "test.json: byte offset 8: line 2: expected ',' or '}' but found '\"'"},
      {"{\"Process Group Description\": , \"x\": 1}", 30, "expected a value but found ','"},
      {"[\"ok\",\n\"a\x01z\"]", 9, "line 2: raw control character in a string"},
      {"\"a\xFF\"", 2, "line 1: invalid UTF-8 in a string"},
      {"\"torch\\cuda\"", 6, "backslash that starts no escape"},
      {"\"\\ud83d\"", 1, "escape of half a surrogate pair"},
      {"[1, 01]", 4, "malformed number '01'"},
      {"[1,\n[2,", 7, "line 2: expected a value or ']' but found the end of the input"},
      {"{\"a\": \"bcd", 6, "the input ends inside the string that starts here"},
      {"[1] x", 4, "expected the end of the input but found 'x'"},
      {std::string("[1\0]", 4), 2, "but found byte 0x00"},
      {"{\"a\" 1}", 5, "expected ':' after a name but found '1'"},
      {"[1,]", 3, "expected a value but found ']'"},
      {"{\"a\":1,}", 7, "expected a name in double quotes but found '}'"},
      {std::string(JsonScanner::max_depth + 1, '['), JsonScanner::max_depth, "nested deeper than 512 levels"},
  };
  for (const Failure& failure : failures) {
    for (const Cut& cut : cuts()) {
      std::string message;
      EXPECT_EQ(failing_offset(failure.text, cut, &message), failure.offset) << failure.text;
      EXPECT_NE(message.find(failure.message), std::string::npos) << message;
    }
  }
}

struct Mended {
  std::string text;
  std::string clean;  ///< JSON text of the same content
  std::vector<std::pair<JsonFault, std::uint64_t>> faults;
};

TEST(JsonScanner, RecoverMendsAndCountsEveryKind) {
  const std::vector<Mended> all = {
      {"[1 2]", "[1,2]", {{JsonFault::missing_comma, 1}}},
      {"[{} {} \"a\" true nan]", "[{},{},\"a\",true,nan]", {{JsonFault::missing_comma, 4}}},
      {"{\"a\":1 \"b\":2}", "{\"a\":1,\"b\":2}", {{JsonFault::missing_comma, 1}}},
      {"[,1]", "[1]", {{JsonFault::extra_comma, 1}}},
      {"[1,,,2]", "[1,2]", {{JsonFault::extra_comma, 1}}},
      {"[1,]", "[1]", {{JsonFault::extra_comma, 1}}},
      {"[,]", "[]", {{JsonFault::extra_comma, 1}}},
      {"{\"a\":1,}", "{\"a\":1}", {{JsonFault::extra_comma, 1}}},
      {"{,}", "{}", {{JsonFault::extra_comma, 1}}},
      {"\"a\nb\x01\"", "\"a\\nb\\u0001\"", {{JsonFault::control_character, 1}}},
      {std::string("\"a\0b\"", 5), "\"a\\u0000b\"", {{JsonFault::control_character, 1}}},
      {"\"torch\\cuda\\__init__.py\"", "\"torch\\\\cuda\\\\__init__.py\"", {{JsonFault::invalid_escape, 1}}},
      // a string with one wrong backslash was written without escaping: \n of \nn is no newline either
      {"\"torch\\nn\\modules\"", "\"torch\\\\nn\\\\modules\"", {{JsonFault::invalid_escape, 1}}},
      {"\"\\q\\\\ \\\" \\/ \\u0041\"", "\"\\\\q\\\\ \\\" / A\"", {{JsonFault::invalid_escape, 1}}},
      {"\"\\u12\"", "\"\\\\u12\"", {{JsonFault::invalid_escape, 1}}},
      {"\"\\ud800x\\udc00\"", "\"\\ufffdx\\ufffd\"", {{JsonFault::lone_surrogate, 1}}},
      {"\"\\ud800\\u0041\"", "\"\\ufffdA\"", {{JsonFault::lone_surrogate, 1}}},
      {"\"a\xFF"
       "b\"",
       "\"a\xEF\xBF\xBD"
       "b\"",
       {{JsonFault::invalid_utf8, 1}}},
      {"\"\xE2\x82\xF0\x9F\x98!\"", "\"\xEF\xBF\xBD\xEF\xBF\xBD!\"", {{JsonFault::invalid_utf8, 1}}},
      {"\"\xED\xA0\x80\"", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"", {{JsonFault::invalid_utf8, 1}}},
      {"{\"k\xFF\":1}", "{\"k\xEF\xBF\xBD\":1}", {{JsonFault::invalid_utf8, 1}}},
      {"\"\xFF\x01\\q\"",
       "\"\xEF\xBF\xBD\\u0001\\\\q\"",
       {{JsonFault::invalid_utf8, 1}, {JsonFault::control_character, 1}, {JsonFault::invalid_escape, 1}}},
      {"[1] x", "[1]", {{JsonFault::trailing_data, 1}}},
  };
  for (const Mended& mended : all) {
    const std::optional<std::string> expected = parse_obviously(mended.clean);
    ASSERT_TRUE(expected) << mended.clean;
    std::uint64_t total = 0;
    for (const auto& [fault, count] : mended.faults) {
      total += count;
    }
    for (const Cut& cut : cuts()) {
      EXPECT_THROW(scan(mended.text, cut, OnError::strict), FormatError) << mended.text;
      io::JsonFaults faults;
      EXPECT_EQ(scan(mended.text, cut, OnError::recover, &faults), *expected) << mended.text;
      for (const auto& [fault, count] : mended.faults) {
        EXPECT_EQ(faults[fault].count, count) << mended.text << " " << to_string(fault);
      }
      EXPECT_EQ(faults.total(), total) << mended.text;
    }
  }
}

TEST(JsonScanner, RecoverKeepsMissingValuesAndMalformedNumbersApart) {
  for (const Cut& cut : cuts()) {
    io::JsonFaults faults;
    EXPECT_EQ(scan("{\"a\": , \"b\": }", cut, OnError::recover, &faults), "{s1:a:?,s1:b:?,}");
    EXPECT_EQ(faults[JsonFault::missing_value].count, 2U);
    EXPECT_EQ(faults[JsonFault::missing_value].offset, 6U);
    EXPECT_EQ(scan("[01, 1., 0x1F, -]", cut, OnError::recover, &faults), "[d01,d1.,d0x1F,d-,]");
    EXPECT_EQ(faults[JsonFault::malformed_number].count, 4U);
    EXPECT_EQ(faults[JsonFault::malformed_number].line, 1U);
  }
}

TEST(JsonScanner, RecoverThrowsOnBrokenStructure) {
  for (const std::string& text : std::vector<std::string>{"", "[", "[1", "{\"a\"", "{\"a\":[1}", "[1}", "{a:1}", "[@]",
                                                          "{\"a\" 1}", "\"abc", "[tru]", "]"}) {
    for (const Cut& cut : cuts()) {
      EXPECT_THROW(scan(text, cut, OnError::recover), FormatError) << text;
    }
  }
}

TEST(JsonScanner, MissingValuesReadAsEmpty) {
  TrickleStream stream("{\"s\": , \"n\": , \"skip\": }", 3);
  JsonScanner scanner(stream, "test.json", {.on_error = OnError::recover, .window_bytes = 4});
  scanner.enter_object();
  std::string_view key;
  ASSERT_TRUE(scanner.next_key(key));
  EXPECT_EQ(scanner.peek(), io::JsonKind::missing);
  EXPECT_EQ(scanner.read_string(), "");
  ASSERT_TRUE(scanner.next_key(key));
  EXPECT_EQ(scanner.peek(), io::JsonKind::missing);
  EXPECT_FALSE(scanner.read_number().to_int64());
  ASSERT_TRUE(scanner.next_key(key));
  scanner.skip();
  EXPECT_FALSE(scanner.next_key(key));
  EXPECT_EQ(scanner.faults()[JsonFault::missing_value].count, 3U);
}

TEST(JsonScanner, LinesAreCountedOverRefills) {
  std::string text = "[";
  for (int i = 0; i < 5000; ++i) {
    text += "\n\"some text\",";
  }
  text += "\n@]";
  for (const Cut& cut : {Cut{16, 16}, Cut{64, 7}, Cut{4096, 4096}}) {
    std::string message;
    EXPECT_EQ(failing_offset(text, cut, &message), text.size() - 2);
    EXPECT_NE(message.find("line 5002: "), std::string::npos) << message;
  }
}

TEST(JsonScanner, TokensBeyondTheLimitAreRefusedAndMemoryStaysBounded) {
  const std::string text = "[\"" + std::string(5000, 'x') + "\"]";
  TrickleStream stream(text, 100);
  JsonScanner scanner(stream, "test.json", {.window_bytes = 16, .max_token_bytes = 1000});
  scanner.enter_array();
  ASSERT_TRUE(scanner.next_element());
  EXPECT_THROW(scanner.read_string(), FormatError);

  TrickleStream fitting(text, 100);
  JsonScanner growing(fitting, "test.json", {.window_bytes = 16, .max_token_bytes = 10000});
  growing.enter_array();
  ASSERT_TRUE(growing.next_element());
  EXPECT_EQ(growing.read_string(), std::string(5000, 'x'));
}

TEST(JsonScanner, ResyncFindsTheNextRecordOrTheEndOfTheList) {
  const std::string text =
      "{\"list\": [ {\"id\": 1, @@@ \"x\": {\"y\": \"}\"} }, {\"id\": 2}, {\"id\": 3, ! ] }, 7 ], \"after\": 9}";
  for (const Cut& cut : cuts()) {
    TrickleStream stream(text, cut.piece);
    JsonScanner scanner(stream, "test.json", {.on_error = OnError::recover, .window_bytes = cut.window});
    scanner.enter_object();
    std::string_view key;
    ASSERT_TRUE(scanner.next_key(key));
    scanner.enter_array();
    scanner.set_record_shape({"id", {"after"}, false});
    ASSERT_TRUE(scanner.next_element());
    EXPECT_EQ(scanner.peek_first_key(), "id");
    EXPECT_THROW(scanner.skip(), FormatError);
    ASSERT_TRUE(scanner.resync());
    ASSERT_TRUE(scanner.next_element());
    EXPECT_EQ(canonical_value(scanner), "{s2:id:d2,}");
    ASSERT_TRUE(scanner.next_element());
    EXPECT_THROW(scanner.skip(), FormatError);
    ASSERT_TRUE(scanner.resync());
    EXPECT_FALSE(scanner.next_element());
    ASSERT_TRUE(scanner.next_key(key));
    EXPECT_EQ(key, "after");
    EXPECT_EQ(scanner.read_number().to_int64(), 9);
    EXPECT_FALSE(scanner.next_key(key));
    scanner.finish();
  }
}

TEST(JsonScanner, ARecordThatStartsInsideAnotherEndsIt) {
  const std::string text = "[{\"id\": 1, \"values\": [[1, 2, {\"id\": 2}]";
  TrickleStream stream(text, 5);
  JsonScanner scanner(stream, "test.json", {.on_error = OnError::recover, .window_bytes = 8});
  scanner.enter_array();
  scanner.set_record_shape({"id", {}, false});
  ASSERT_TRUE(scanner.next_element());
  EXPECT_THROW(scanner.skip(), FormatError);
  ASSERT_TRUE(scanner.resync());
  ASSERT_TRUE(scanner.next_element());
  EXPECT_EQ(canonical_value(scanner), "{s2:id:d2,}");
  EXPECT_FALSE(scanner.next_element());
  scanner.finish();
}

TEST(ByteScan, VectorAndScalarLoopsAgree) {
  const std::string many(20'000, '\n');
  EXPECT_EQ(io::count_newlines(many.data(), many.data() + many.size()), many.size());
  for (std::size_t length = 0; length < 50; ++length) {
    for (const char last : {'x', '"', '\0', '\x01', '\x0B', '\x80', '\xFF'}) {
      std::string spaces;
      for (std::size_t i = 0; i < length; ++i) {
        spaces += " \n\t\r"[i % 4];
      }
      spaces += last;
      spaces += std::string(20, ' ') + "x";
      EXPECT_EQ(io::pass_spaces(spaces.data()), io::pass_spaces_scalar(spaces.data()));
    }
  }
  for (int byte = 0; byte < 256; ++byte) {
    for (std::size_t position = 0; position < 40; ++position) {
      std::string text(80, 'a');
      text[position] = static_cast<char>(byte);
      text[60] = '"';
      EXPECT_EQ(io::find_string_special(text.data()), io::find_string_special_scalar(text.data()));
    }
  }
  std::string lines(100, '\n');
  for (std::size_t i = 0; i < lines.size(); i += 3) {
    lines[i] = 'x';
  }
  for (std::size_t size = 0; size <= lines.size(); ++size) {
    EXPECT_EQ(io::count_newlines(lines.data(), lines.data() + size),
              io::count_newlines_scalar(lines.data(), lines.data() + size));
  }
}

}  // namespace
}  // namespace chakra::test
