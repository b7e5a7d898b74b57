// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/json_number.hpp"

namespace chakra::test {
namespace {

using io::JsonNumber;

constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t int64_min = std::numeric_limits<std::int64_t>::min();

/// A number whose text lives as long as the program.
JsonNumber number(const std::string& text) {
  static std::vector<std::unique_ptr<std::string>> kept;
  const std::string& copy = *kept.emplace_back(std::make_unique<std::string>(text));
  return io::parse_json_number(copy.data(), copy.data() + copy.size());
}

TEST(JsonNumber, MicrosecondsBecomeNanosecondsExactly) {
  const std::vector<std::pair<std::string, std::optional<std::int64_t>>> cases = {
      {"0", 0},
      {"-0", 0},
      {"0.768", 768},
      {"1", 1000},
      {"1669783687464181.123", 1669783687464181123},
      {"1669783687464181.12", 1669783687464181120},
      {"1669783687464181", 1669783687464181000},
      {"5236480703748.654", 5236480703748654},
      {"-1.5", -1500},
      {"0.0005", 1},
      {"0.0004999999999999999999999999", 0},
      {"-0.0005", -1},
      {"0.00051", 1},
      {"1.9995", 2000},
      {"1e3", 1000000},
      {"1.5E+2", 150000},
      {"15e-1", 1500},
      {"1e-3", 1},
      {"1e-4", 0},
      {"5e-4", 1},
      {"1e-999999999999", 0},
      {"0e999999999999", 0},
      {"0.000e5", 0},
      {"1e999999999999", std::nullopt},
      {"9223372036854775.807", int64_max},
      {"9223372036854775.8074", int64_max},
      {"9223372036854775.8075", std::nullopt},
      {"9223372036854775.808", std::nullopt},
      {"-9223372036854775.808", int64_min},
      {"-9223372036854775.809", std::nullopt},
      {"18446744073709551616", std::nullopt},
      {"1669783687464181.12300000000000000000000000", 1669783687464181123},
      {"00000000000000000000000000000000000000000001", std::nullopt},
      {"0.00000000000000000000000000000000000000012345e40", 1235},
      {"123456789012345678901234567890e-20", 1234567890123},
      {"NaN", std::nullopt},
      {"Infinity", std::nullopt},
      {"x", std::nullopt},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(number(text).scaled(3), expected) << text;
  }
}

TEST(JsonNumber, IntegersOfAllSixtyFourBits) {
  EXPECT_EQ(number("18446744073709551615").to_uint64(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(number("18446744073709551616").to_uint64(), std::nullopt);
  EXPECT_EQ(number("18446744073709551615").to_int64(), std::nullopt);
  EXPECT_EQ(number("9223372036854775807").to_int64(), int64_max);
  EXPECT_EQ(number("9223372036854775808").to_int64(), std::nullopt);
  EXPECT_EQ(number("-9223372036854775808").to_int64(), int64_min);
  EXPECT_EQ(number("-9223372036854775809").to_int64(), std::nullopt);
  EXPECT_EQ(number("-1").to_uint64(), std::nullopt);
  EXPECT_EQ(number("-0").to_uint64(), 0U);
  EXPECT_EQ(number("-1").to_int64(), -1);
  EXPECT_EQ(number("5.0").to_int64(), 5);
  EXPECT_EQ(number("5e0").to_uint64(), 5U);
  EXPECT_EQ(number("1.5e1").to_int64(), 15);
  EXPECT_EQ(number("5.5").to_int64(), std::nullopt);
  EXPECT_EQ(number("1e-1").to_uint64(), std::nullopt);
  EXPECT_EQ(number("1e30").to_uint64(), std::nullopt);
  EXPECT_EQ(number("nan").to_int64(), std::nullopt);
}

TEST(JsonNumber, NanosecondsAgreeWithPlainArithmeticOnRandomNumbers) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t whole = random() >> (12 + random() % 50);
    const std::uint64_t micro = random() % 1'000'000;  // six decimals: three are kept
    std::string decimals = std::to_string(1'000'000 + micro).substr(1);
    const std::uint64_t expected = whole * 1000 + (micro + 500) / 1000;
    const std::string text = std::to_string(whole) + "." + decimals;
    const std::optional<std::int64_t> fits =
        whole < 9'223'372'036'854'775U ? std::optional(static_cast<std::int64_t>(expected)) : std::nullopt;
    EXPECT_EQ(number(text).scaled(3), fits) << text;
    EXPECT_EQ(number(text + "000000000000000000000000").scaled(3), fits) << text;
  }
}

TEST(JsonNumber, Doubles) {
  EXPECT_EQ(number("1.5").to_double(), 1.5);
  EXPECT_EQ(number("-2e3").to_double(), -2000.0);
  EXPECT_EQ(number("1e400").to_double(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(number("-123e999").to_double(), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(number("0.0001e-400").to_double(), 0.0);
  EXPECT_EQ(number("5e-324").to_double(), 5e-324);
  EXPECT_EQ(number("0.1e310").to_double(), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(number("NaN").to_double()));
  EXPECT_TRUE(std::isnan(number("-nan").to_double()));
  EXPECT_EQ(number("-inf").to_double(), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(number("Infinity").to_double(), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(number("0x1F").to_double()));
}

TEST(JsonNumber, WellFormedIsTheGrammarAndNonFiniteLiterals) {
  for (const char* text : {"0", "-0", "10", "1.5", "1e5", "1E+5", "1.0e-5", "NaN", "nan", "inf", "-Infinity"}) {
    EXPECT_TRUE(number(text).well_formed) << text;
    EXPECT_EQ(number(text).text, text);
  }
  for (const char* text : {"", "-", "+1", "01", "-01", "1.", ".5", "1e", "1e+", "0x1F", "1_0", "1.5.5", "1e5.5", "Inf",
                           "nann", "infinity", "--1", "1-"}) {
    EXPECT_FALSE(number(text).well_formed) << text;
    EXPECT_EQ(number(text).text, text);
  }
}

}  // namespace
}  // namespace chakra::test
