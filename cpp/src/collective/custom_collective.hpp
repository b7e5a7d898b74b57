// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "chakra_core/trace.hpp"

namespace chakra {

/// One node of a custom collective.
struct CustomStep {
  enum class Kind : std::uint8_t { send, receive, wait };

  Kind kind = Kind::wait;
  std::uint32_t peer = 0;    ///< position of the other end
  std::uint32_t tag = 0;     ///< 1, 2, ...: the same for equal tags of the traces
  std::uint64_t amount = 0;  ///< bytes; of a wait ns
};

/// A collective that is given as one trace a member. Peers are positions among the members, sizes are those of these
/// traces, and every node whose parents are complete begins at once.
class CustomCollective {
 public:
  struct Member {
    TracePtr trace = {};
    std::vector<CustomStep> steps = {};       ///< by row
    std::vector<std::uint32_t> parents = {};  ///< how many distinct ones, by row
  };

  /// Throws ConfigError, which begins with `name` and names the position and the node: nodes of other types than COMP,
  /// COMM_SEND, COMM_RECV, METADATA and INVALID, peers beyond the members, no size, a cycle.
  CustomCollective(std::string name, std::span<const TracePtr> traces);

  const std::string& name() const noexcept { return name_; }
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(members_.size()); }
  const Member& operator[](std::uint32_t position) const noexcept { return members_[position]; }

  /// Tags beyond this do not fit beside those of chunks.
  static constexpr std::uint32_t most_tags = (1U << 20) - 1;

 private:
  std::string name_;
  std::vector<Member> members_;
};

}  // namespace chakra
