// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chakra_core/trace.hpp"

namespace chakra {

/// How a dump writes a node.
enum class DumpForm : std::uint8_t {
  json_lines,  ///< an object a line
  json_array,  ///< one array of objects
  csv,         ///< a line a node after a line of headings, quoted as RFC 4180 says
};

struct DumpOptions {
  DumpForm form = DumpForm::json_lines;
  /// "id", "name", "type", "start_ns", "duration_ns", "data_deps", "ctrl_deps" (ids), "inputs", "outputs", "attrs" (all
  /// attributes by name), or the name of an attribute. Empty for the usual ones: in JSON all of the above, inputs and
  /// outputs where there are any; in CSV all up to "ctrl_deps" and the attributes that are columns of a trace.
  std::vector<std::string> columns = {};
  unsigned threads = 0;  ///< 0: as many as the machine has cores
};

/// Nodes of a trace as text for people and other tools, piece by piece.
///
/// JSON has integers as numbers of any size, bytes in base64, and numbers that JSON does not know as "NaN", "Infinity"
/// and "-Infinity". Of several attributes with one name the first counts. What is absent is null, in CSV nothing; lists
/// of dependencies in CSV have spaces between the ids, other lists and objects are JSON.
class TraceDump {
 public:
  /// Dumps these rows in their order. Throws ChakraError for a row that is not there.
  TraceDump(TracePtr trace, std::vector<NodeIndex> rows, DumpOptions options);
  ~TraceDump();
  TraceDump(TraceDump&&) noexcept;
  TraceDump& operator=(TraceDump&&) noexcept;

  /// The next piece of UTF-8, from whichever thread asks; nothing at the end. Throws FormatError for a record that is
  /// malformed where loading does not look.
  std::optional<std::string> next();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace chakra
