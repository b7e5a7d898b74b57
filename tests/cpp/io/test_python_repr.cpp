// SPDX-License-Identifier: MIT
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "io/python_repr.hpp"
#include "io/trickle_stream.hpp"

namespace chakra::test {
namespace {

std::string repr_of(const std::string& json, OnError on_error = OnError::strict, std::size_t window = 3) {
  TrickleStream stream(json, 2);
  io::JsonScanner scanner(stream, "test.json", {.on_error = on_error, .window_bytes = window});
  std::string out;
  io::append_python_repr(out, scanner);
  scanner.finish();
  return out;
}

// The right-hand sides are what CPython prints for repr(json.loads(left)).
TEST(PythonRepr, OfJsonValues) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"[]", "[]"},
      {"{}", "{}"},
      {"[ [ 1,2 ] ,[ ],{ \"a\":null , \"b\":true} ,false]", "[[1, 2], [], {'a': None, 'b': True}, False]"},
      {"[[5,6,0,112,4,\"cuda:0\"],[48],[1],0]", "[[5, 6, 0, 112, 4, 'cuda:0'], [48], [1], 0]"},
      {"\"it's\"", "\"it's\""},
      {"\"say \\\"hi\\\"\"", "'say \"hi\"'"},
      {"\"it's \\\"both\\\"\"", "'it\\'s \"both\"'"},
      {"\"back\\\\slash\"", "'back\\\\slash'"},
      {"\"tab\\tnl\\ncr\\r\\u0000\\u001b\\u007f\"", "'tab\\tnl\\ncr\\r\\x00\\x1b\\x7f'"},
      {"\"caf\\u00e9 \\u20ac \\ud83d\\ude00\"", "'caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80'"},
      {"\"\\u00a0\\u00ad\\u2028\\ufeff\\ue000\"", "'\\xa0\\xad\\u2028\\ufeff\\ue000'"},
      {"\"\\udb40\\udc01\"", "'\\U000e0001'"},
      {"-0", "0"},
      {"123456789012345678901234567890", "123456789012345678901234567890"},
      {"1.0", "1.0"},
      {"-0.0", "-0.0"},
      {"1e5", "100000.0"},
      {"1E15", "1000000000000000.0"},
      {"1e16", "1e+16"},
      {"123456789012345680.0", "1.2345678901234568e+17"},
      {"0.0001", "0.0001"},
      {"0.00001", "1e-05"},
      {"0.000012345", "1.2345e-05"},
      {"0.1", "0.1"},
      {"3.14159265358979323846", "3.141592653589793"},
      {"1e22", "1e+22"},
      {"1e400", "inf"},
      {"-1e400", "-inf"},
      {"5e-324", "5e-324"},
      {"1.7976931348623157e308", "1.7976931348623157e+308"},
      {"100.50", "100.5"},
      {"[NaN, Infinity, -Infinity, nan, inf]", "[nan, inf, -inf, nan, inf]"},
  };
  for (const auto& [json, expected] : cases) {
    EXPECT_EQ(repr_of(json), expected) << json;
    EXPECT_EQ(repr_of(json, OnError::strict, 4096), expected) << json;
  }
}

TEST(PythonRepr, MissingAndMalformedValuesWhenRecovering) {
  EXPECT_EQ(repr_of("{\"a\": , \"b\": [01]}", OnError::recover), "{'a': None, 'b': [nan]}");
  EXPECT_THROW(repr_of("[1, 2"), FormatError);
}

TEST(PythonRepr, JsonTextKeepsNumbersAsTheyStand) {
  TrickleStream stream("{\"a\" :[1.50,2e1 ,\"q\\\"\\\\\\u0001\"], \"b\":null}", 1);
  io::JsonScanner scanner(stream, "test.json", {.window_bytes = 2});
  std::string out;
  io::append_json_text(out, scanner);
  EXPECT_EQ(out, "{\"a\": [1.50, 2e1, \"q\\\"\\\\\\u0001\"], \"b\": null}");
}

}  // namespace
}  // namespace chakra::test
