// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "io/json_number.hpp"
#include "io/json_scanner.hpp"

namespace chakra::io {

/// Appends repr(text) as Python writes it: single quotes unless only they occur, escapes for what is not printable.
/// `text` must be UTF-8.
void append_python_repr(std::string& out, std::string_view text);

/// Appends repr(json.loads(number)): integers as they are, others as the shortest decimal that reads back equal.
void append_python_repr(std::string& out, const JsonNumber& number);

/// Appends repr(json.loads(value)) of the value that comes next, and passes it. A missing value is None, a malformed
/// number nan.
void append_python_repr(std::string& out, JsonScanner& scanner);

/// Appends the value that comes next as JSON text, spaced as json.dumps does: numbers as they stand, strings escaped
/// where they must be. A missing value is null.
void append_json_text(std::string& out, JsonScanner& scanner);

}  // namespace chakra::io
