// SPDX-License-Identifier: MIT
#include <charconv>
#include <string>

#include "chakra_core/errors.hpp"
#include "chakra_core/system_config.hpp"

namespace chakra {

namespace {

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// "" is 0; digits are their number, at least 1.
std::optional<std::uint32_t> parse_window(std::string_view digits) {
  std::uint32_t window = 0;
  if (digits.empty()) return window;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), window);
  const bool good = error == std::errc{} && end == digits.data() + digits.size() && window > 0;
  return good ? std::optional{window} : std::nullopt;
}

std::optional<Algorithm> parse_kind(std::string_view name) {
  if (name == "Ring") return Algorithm{AlgorithmKind::ring};
  if (name == "HalvingDoubling") return Algorithm{AlgorithmKind::halving_doubling};
  if (take_prefix(name, "Direct")) {
    if (const auto window = parse_window(name)) return Algorithm{AlgorithmKind::direct, *window};
  }
  return std::nullopt;
}

}  // namespace

Algorithm parse_algorithm(std::string_view name) {
  if (name == "doubleBinaryTree") return {AlgorithmKind::double_binary_tree};
  std::string_view rest = name;
  std::optional<Algorithm> algorithm;
  if (take_prefix(rest, "one")) {
    algorithm = parse_kind(rest);
    if (algorithm) algorithm->whole = true;
  } else if (!name.empty() && name.front() >= 'a' && name.front() <= 'z') {
    std::string capital(name);
    capital.front() = static_cast<char>(capital.front() - 'a' + 'A');
    algorithm = parse_kind(capital);
  }
  if (!algorithm) {
    throw ConfigError("unknown collective implementation \"" + std::string(name) +
                      "\"; known are ring, direct, direct<number>, halvingDoubling, doubleBinaryTree, oneRing, "
                      "oneDirect, oneDirect<number>, oneHalvingDoubling");
  }
  return *algorithm;
}

std::string to_string(const Algorithm& algorithm) {
  std::string name;
  switch (algorithm.kind) {
    case AlgorithmKind::ring:
      name = algorithm.whole ? "oneRing" : "ring";
      break;
    case AlgorithmKind::direct:
      name = algorithm.whole ? "oneDirect" : "direct";
      if (algorithm.window != 0) name += std::to_string(algorithm.window);
      break;
    case AlgorithmKind::halving_doubling:
      name = algorithm.whole ? "oneHalvingDoubling" : "halvingDoubling";
      break;
    case AlgorithmKind::double_binary_tree:
      name = "doubleBinaryTree";
      break;
  }
  return name;
}

}  // namespace chakra
