// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "chakra_core/simulator.hpp"
#include "collective/phase_times.hpp"
#include "sim/chunk.hpp"
#include "sim/kernel.hpp"
#include "sim/tie_watch.hpp"

namespace chakra::sim {

/// Carries out a phase as soon as its last member has begun it, by the formula if all began together, else
/// by the recurrences over the times at which they began. Leaves to messages what has neither.
class WholePhases final : public PhaseExecutor {
 public:
  WholePhases(const SimulationConfig& config, const EndpointCosts& costs, std::uint32_t copies, Kernel& kernel,
              ChunkPool& chunks, TieWatch& ties, PhaseExecutor& messages);

  /// Throws NotAlike if one rank stands for all and the phase is not the same for all. Throws OrderMatters where the
  /// order of events in one ns decides, if TieWatch is to look out for it.
  void begin(std::uint32_t chunk) override;

  /// Phases of a chunk on a rank, by how they were carried out.
  const PhaseCounts& counts() const noexcept { return counts_; }
  /// Members that have not begun the phase that the chunk is in. Empty: it is carried out by messages.
  std::vector<std::uint32_t> missing(std::uint32_t chunk) const;

 private:
  /// What members must agree on to meet.
  struct Key {
    std::uint64_t tag;
    std::uint64_t bytes;
    const std::uint32_t* list;
    std::uint32_t base;
    std::uint16_t dimension;
    PhaseKind kind;
    QueueHalf half;
    bool anticlockwise;
    bool counter_tree;

    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept;
  };
  struct Meeting {
    Key key = {};
    std::uint32_t queue = 0;
    std::uint32_t begun = 0;
    std::uint64_t family = 0;
    bool in_step = true;
    std::uint64_t first = 0;                 ///< tick of the first that began
    std::vector<std::uint32_t> chunks = {};  ///< by position; none: has not begun
    std::vector<std::uint64_t> begins = {};  ///< by position; only if not in step
    std::vector<std::uint64_t> order = {};   ///< by position: how many phases began before
    std::vector<std::uint64_t> causes = {};  ///< by position
  };

  static Key key_of(const Chunk& chunk);
  void begin_folded(std::uint32_t chunk);
  void find_folded_family(std::uint32_t chunk, const Key& key);
  std::uint32_t meeting_of(const Key& key, std::uint32_t members);
  void join(Meeting& meeting, std::uint32_t position, std::uint32_t chunk);
  void conclude(Meeting& meeting);
  void find_family(Meeting& meeting);
  bool is_lockstep(const Meeting& before, const Meeting& meeting) const;
  void end_at(std::uint32_t chunk, const PhaseEnd& end);

  Fidelity fidelity_;
  PhaseTimes times_;
  bool has_endpoint_delay_;
  bool is_parity_;
  std::uint32_t copies_;  ///< ranks that the one simulated stands for
  Kernel& kernel_;
  ChunkPool& chunks_;
  TieWatch& ties_;
  PhaseExecutor& messages_;
  std::unordered_map<Key, std::uint32_t, KeyHash> open_;
  std::vector<Meeting> meetings_;
  std::vector<std::uint32_t> free_;
  std::vector<PhaseEnd> ends_;
  /// The meeting that was concluded last on a line, by what the line is.
  std::unordered_map<Key, std::uint32_t, KeyHash> latest_;
  /// Of a folded line: the chunk that began last.
  struct Begun {
    std::uint64_t tick;
    std::uint64_t cause;
    std::uint64_t family;
    std::uint32_t queue;
  };
  std::unordered_map<Key, Begun, KeyHash> latest_folded_;
  std::uint64_t begun_ = 0;
  std::uint64_t families_ = 0;
  PhaseCounts counts_;
};

}  // namespace chakra::sim
