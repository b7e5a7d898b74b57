// SPDX-License-Identifier: MIT
#include "pytorch/process_groups.hpp"

#include <charconv>
#include <string>
#include <utility>

#include "chakra_core/errors.hpp"
#include "pytorch/json_fields.hpp"

namespace chakra::pytorch {

namespace {

ProcessGroup read_process_group(io::JsonScanner& scanner) {
  ProcessGroup group;
  std::string text;
  std::string_view key;
  scanner.enter_object();
  while (scanner.next_key(key)) {
    if (key == "pg_name") {
      read_text(scanner, group.name);
    } else if (key == "pg_desc") {
      read_text(scanner, group.description);
    } else if (key == "backend_config" || (key == "backend" && group.backend.empty())) {
      read_text(scanner, group.backend);
    } else if (key == "pg_size" || (key == "group_size" && group.size < 0)) {
      group.size = read_int64(scanner).value_or(-1);
    } else if (key == "ranks") {
      read_text(scanner, text);
      group.ranks = parse_integers(text);
    } else {
      scanner.skip();
    }
  }
  return group;
}

void read_into(std::vector<ProcessGroup>& groups, io::JsonScanner& scanner) {
  if (scanner.peek() != io::JsonKind::array) {
    scanner.skip();
    return;
  }
  scanner.enter_array();
  while (scanner.next_element()) {
    if (scanner.peek() == io::JsonKind::object) {
      groups.push_back(read_process_group(scanner));
    } else {
      scanner.skip();
    }
  }
}

}  // namespace

std::vector<ProcessGroup> read_process_groups(io::JsonScanner& scanner) {
  std::vector<ProcessGroup> groups;
  read_into(groups, scanner);
  return groups;
}

std::vector<ProcessGroup> parse_process_groups(std::string_view json) {
  std::vector<ProcessGroup> groups;
  const auto stream = io::make_memory_stream(json);
  try {
    io::JsonScanner scanner(*stream, "process groups", {.on_error = OnError::recover});
    read_into(groups, scanner);
  } catch (const FormatError&) {
    // What was read so far is all there is.
  }
  return groups;
}

std::vector<std::int64_t> parse_integers(std::string_view text) {
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; (i = text.find_first_of("-0123456789", i)) != std::string_view::npos;) {
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(text.data() + i, text.data() + text.size(), value);
    if (error == std::errc{}) {
      values.push_back(value);
    }
    i = std::max(i + 1, static_cast<std::size_t>(stop - text.data()));
  }
  return values;
}

}  // namespace chakra::pytorch
