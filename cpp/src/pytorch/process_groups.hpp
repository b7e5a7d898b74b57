// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

#include "io/json_scanner.hpp"
#include "pytorch/device_trace.hpp"

namespace chakra::pytorch {

/// Reads a list of process groups (distributedInfo.pg_config), which comes next. Anything but a list gives none.
std::vector<ProcessGroup> read_process_groups(io::JsonScanner& scanner);

/// The same from a text of its own: the argument of a process_group:init annotation. A text that is no JSON gives the
/// groups before the damage.
std::vector<ProcessGroup> parse_process_groups(std::string_view json);

/// Integers of a list in text form, "[0, 1]"; anything that is no digit or minus sign separates.
std::vector<std::int64_t> parse_integers(std::string_view text);

}  // namespace chakra::pytorch
