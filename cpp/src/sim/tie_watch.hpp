// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <exception>
#include <vector>

namespace chakra::sim {

/// A result may hang on the order of events within one ns that only a run message by message knows.
class OrderMatters final : public std::exception {
 public:
  explicit OrderMatters(const char* where) noexcept : where_(where) {}
  const char* what() const noexcept override { return where_; }

 private:
  const char* where_;
};

/// Looks out for events of a rank in one ns whose order matters and is not known for certain, because
/// messages that would have decided it were not simulated.
///
/// The order of a rank's own actions is that of the ticks in which they were registered, which is known
/// for phases that are carried out as a whole, too. It is not known between actions that were registered in one
/// tick where one of them ends a collective, nor between a message of another rank and anything else. Such events
/// may still commute: what one of them touches (lanes whose slots they free or want, groups whose collectives they
/// issue, matching messages) is nothing of what the other touches.
class TieWatch {
 public:
  /// Something that a rank and its lanes have in common; a bit each, several may share one.
  using Marks = std::uint64_t;
  enum class Origin : std::uint8_t {
    action,      ///< of the rank itself, registered by itself in a known order
    collective,  ///< an action that ends a collective, or was registered by another rank
    message,
  };

  TieWatch(std::uint32_t ranks, bool enabled) : enabled_(enabled), ranks_(enabled ? ranks : 0) {}

  bool is_enabled() const noexcept { return enabled_; }
  /// From now on some messages are not simulated.
  void activate() noexcept { active_ = true; }

  /// A node of the rank completes now. `registered`: tick in which the action was registered.
  void begin(std::uint32_t rank, std::uint64_t now, Origin origin, std::uint64_t registered) {
    if (enabled_) begin(ranks_[rank], now, origin, registered);
  }
  void touch(std::uint32_t rank, Marks marks) {
    if (enabled_) ranks_[rank].touching |= marks;
  }
  /// What follows from the completion has happened. Throws OrderMatters.
  void end(std::uint32_t rank) {
    if (enabled_) end(ranks_[rank]);
  }
  /// Throws OrderMatters.
  void cannot_tell(const char* where) const {
    if (enabled_ && active_) throw OrderMatters(where);
  }

  static Marks lane(std::uint32_t lane) noexcept { return Marks{1} << (lane % 32); }
  static Marks group(std::uint32_t group) noexcept { return Marks{1} << (32 + group % 16); }
  static Marks messages(std::uint64_t tag, std::uint32_t peer) noexcept {
    return Marks{1} << (48 + (tag * 7 + peer) % 16);
  }
  static constexpr Marks everything = ~Marks{0};

 private:
  struct Rank {
    std::uint64_t tick = ~std::uint64_t{0};
    std::uint64_t registered = 0;
    Marks touched = 0;   ///< by the earlier events of the tick
    Marks touching = 0;  ///< by the current one
    bool own = true;     ///< all events of the tick were the rank's own actions
    bool unordered = false;
    bool shaky = false;  ///< at some tick events commuted: what they registered has no certain order
  };

  void begin(Rank& rank, std::uint64_t now, Origin origin, std::uint64_t registered);
  void end(Rank& rank) const;

  bool enabled_;
  bool active_ = false;
  std::vector<Rank> ranks_;
};

}  // namespace chakra::sim
