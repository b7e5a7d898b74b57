// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace chakra::pytorch {

/// Appends Python's repr of lists, texts, numbers, True, False and None as JSON, so that reading it as a host trace's
/// list gives the same repr again. A text that is no such repr is appended as a JSON string.
void append_repr_as_json(std::string& out, std::string_view repr);

}  // namespace chakra::pytorch
