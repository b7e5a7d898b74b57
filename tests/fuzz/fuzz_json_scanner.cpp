// SPDX-License-Identifier: MIT
// Strict: throws FormatError or agrees with a plain parser. Recovering: agrees with it on whatever is JSON. Both: the
// same whatever the window and the pieces that the input comes in.
#include <cstdint>
#include <optional>
#include <string>

#include "chakra_core/errors.hpp"
#include "io/json_scanner.hpp"
#include "io/obvious_json.hpp"
#include "io/python_repr.hpp"
#include "io/trickle_stream.hpp"
#include "require.hpp"

namespace {

using namespace chakra;

struct Outcome {
  std::optional<std::string> value;
  std::uint64_t faults = 0;
  std::uint64_t failed_at = 0;

  bool operator==(const Outcome&) const = default;
};

Outcome scan(const std::string& text, OnError on_error, std::size_t window, std::size_t piece) {
  test::TrickleStream stream(text, piece);
  Outcome outcome;
  io::JsonFaults faults;
  try {
    outcome.value = test::canonical_document(stream, {.on_error = on_error, .window_bytes = window}, &faults);
    outcome.faults = faults.total();
  } catch (const FormatError& error) {
    outcome.failed_at = error.location().offset.value();
  }
  return outcome;
}

bool skips(const std::string& text, std::size_t window, std::size_t piece) {
  test::TrickleStream stream(text, piece);
  try {
    io::JsonScanner scanner(stream, "fuzz", {.window_bytes = window});
    scanner.skip();
    scanner.finish();
    return true;
  } catch (const FormatError&) {
    return false;
  }
}

void write_repr(const std::string& text) {
  test::TrickleStream stream(text, 17);
  std::string out;
  try {
    io::JsonScanner scanner(stream, "fuzz", {.on_error = OnError::recover, .window_bytes = 32});
    io::append_python_repr(out, scanner);
  } catch (const FormatError&) {
    return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) {
    return 0;
  }
  const std::size_t window = 1 + data[0] % 70;
  const std::size_t piece = 1 + data[1] % 40;
  const std::string text(reinterpret_cast<const char*>(data) + 2, size - 2);

  const std::optional<std::string> expected = test::parse_obviously(text);
  const Outcome strict = scan(text, OnError::strict, window, piece);
  test::require(strict.value == expected, "strict agrees with the plain parser");
  test::require(strict == scan(text, OnError::strict, 4096, 4096), "strict does not depend on the window");
  test::require(skips(text, window, piece) == expected.has_value(), "skip checks what it passes");

  const Outcome recovered = scan(text, OnError::recover, window, piece);
  test::require(recovered == scan(text, OnError::recover, 4096, 4096), "recover does not depend on the window");
  if (expected) {
    test::require(recovered.value == expected && recovered.faults == 0, "recover leaves JSON as it is");
  } else if (recovered.value) {
    test::require(recovered.faults > 0, "recover counts what it mends");
  }
  write_repr(text);
  return 0;
}
