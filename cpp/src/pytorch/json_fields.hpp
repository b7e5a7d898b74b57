// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "io/json_scanner.hpp"

// Values as the traces write them: numbers also as strings, lists also as text.
namespace chakra::pytorch {

/// The number that comes next, written as number or as string; nullopt for null, a missing value and anything else.
/// Passes the value in any case.
std::optional<std::int64_t> read_int64(io::JsonScanner& scanner);
std::optional<std::uint64_t> read_uint64(io::JsonScanner& scanner);

/// The number that comes next times 1000, rounded: microseconds as ns, exact from the decimal text.
std::optional<std::int64_t> read_microseconds(io::JsonScanner& scanner);

/// The value that comes next as text: strings unescaped, null and missing values empty, anything else (numbers, lists)
/// as Python's repr of what json.load gives.
void read_text(io::JsonScanner& scanner, std::string& text);

}  // namespace chakra::pytorch
