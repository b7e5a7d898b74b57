// SPDX-License-Identifier: MIT
#include "timeline/json_text.hpp"

namespace chakra::timeline {

void append_microseconds(std::string& out, std::uint64_t nanoseconds) {
  out += std::to_string(nanoseconds / 1000);
  const std::uint64_t rest = nanoseconds % 1000;
  out += '.';
  out += static_cast<char>('0' + rest / 100);
  out += static_cast<char>('0' + rest / 10 % 10);
  out += static_cast<char>('0' + rest % 10);
}

}  // namespace chakra::timeline
