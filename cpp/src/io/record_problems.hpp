// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// What the reader of whole files and that of streams say of the same faults.
namespace chakra::io {

inline constexpr const char* empty_file = "the file is empty; an ET begins with a GlobalMetadata record";

/// For the end of a text: how much of the file comes after the fault.
inline std::string left_over(std::uint64_t bytes) {
  return bytes > 0 ? "; " + std::to_string(bytes) + " bytes are left" : "";
}

/// `known` is what wire::recognise_old_schema() says.
inline std::string old_schema(std::string_view known) {
  return std::string(known) + "; convert it with the chakra tools of its time, or trace anew";
}

}  // namespace chakra::io
