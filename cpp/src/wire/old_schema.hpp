// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

/// Files of the schemas before 0.0.4 (2023), whose fields have other meanings under the same numbers.
namespace chakra::wire {

/// What is known about a file from one of its first two records; empty for records of the schema since 0.0.4.
/// `first` is whether it is the file's first record, where a GlobalMetadata belongs.
std::string_view recognise_old_schema(std::string_view record, bool first);

}  // namespace chakra::wire
