// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "io/json_scanner.hpp"

namespace chakra::test {

/// The oracle: a plain recursive parser of a whole text in memory. Accepts what JsonScanner accepts when strict: RFC
/// 8259 with NaN, nan, Infinity, inf and their negatives, a byte order mark, nesting up to the scanner's limit, no lone
/// surrogates. Returns the canonical form of the document, or nothing if it is not one.
std::optional<std::string> parse_obviously(std::string_view text);

/// Canonical form of the value that comes next: "s3:abc" strings (with their length), "d1.5" numbers as written,
/// T F N, "?" for a missing value, [...] and {...} with every part followed by a comma.
std::string canonical_value(io::JsonScanner& scanner);

/// Canonical form of a whole document, by the scanner.
std::string canonical_document(io::ByteStream& stream, const io::JsonOptions& options,
                               io::JsonFaults* faults = nullptr);

}  // namespace chakra::test
