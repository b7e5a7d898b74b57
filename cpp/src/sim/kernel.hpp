// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "sim/event_queue.hpp"
#include "sim/slot_pool.hpp"

namespace chakra::sim {

enum class ActionKind : std::uint8_t {
  rank_start,       ///< its first nodes become ready
  late_issue,       ///< a = row; the delay of a node is over
  node_end,         ///< a = row; computation, replayed node or remote-memory access
  collective_end,   ///< a = row; a collective that had nothing to exchange
  slots_open,       ///< a = chunk, b = slot whose endpoint delay is over; 0: all slots of the window
  slot_reduced,     ///< a = chunk; the reduction of a slot is done
  tree_start,       ///< a = chunk
  child_received,   ///< a = chunk
  child_reduced,    ///< a = chunk
  parent_received,  ///< a = chunk
  parent_reduced,   ///< a = chunk
  custom_step,      ///< a = chunk, b = step; a wait is over
  custom_end,       ///< a = chunk; all steps are complete
  phase_end,        ///< a = chunk; of a phase that was carried out as a whole
};

/// Something that a rank does at a later tick. Small enough for registers.
struct Action {
  std::uint64_t b = 0;
  std::uint32_t a = 0;
  ActionKind kind = ActionKind::node_end;
};

/// The clock: one queue of events, and per rank the actions that are due.
///
/// All actions of one rank for one tick run together, where the first of them was registered, in the order
/// in which they were registered; what is registered for the current tick while they run is appended to them.
class Kernel {
 public:
  explicit Kernel(std::uint32_t ranks) : agendas_(ranks) {}

  std::uint64_t now() const noexcept { return queue_.now(); }
  bool idle() const noexcept { return queue_.empty(); }
  std::uint64_t events() const noexcept { return events_; }

  /// Registers an event `delay` ns from now. Throws SimulationError beyond 2^64 ns.
  void schedule(EventKind kind, std::uint64_t delay, std::uint32_t subject) {
    queue_.push({later(delay), subject, kind});
  }
  /// Registers an action of a rank `delay` ns from now. Throws SimulationError beyond 2^64 ns.
  void act_after(std::uint32_t rank, std::uint64_t delay, Action action) { add(rank, later(delay), now(), action); }
  /// Registers an action for a later tick as if it were done in the tick `registered`, which may be to come.
  /// Precondition: now() <= tick, registered <= tick.
  void act_at(std::uint32_t rank, std::uint64_t tick, std::uint64_t registered, Action action) {
    add(rank, tick, registered, action);
  }
  /// Tick in which the action that runs was registered.
  std::uint64_t registered() const noexcept { return registered_; }

  Event next() {
    ++events_;
    return queue_.pop();
  }
  /// Runs `run(action)` for every action that is due for the rank at the current tick.
  template <class Run>
  void run_batch(std::uint32_t rank, Run&& run) {
    Agenda& agenda = agendas_[rank];
    while (agenda.front().head != none) {
      const std::uint32_t index = agenda.front().head;
      const Action action = actions_[index].action;
      registered_ = actions_[index].registered;
      agenda.front().head = actions_[index].next;
      actions_.release(index);
      run(action);
    }
    agenda.pop_front();
  }

 private:
  struct ActionNode {
    Action action;
    std::uint64_t registered;
    std::uint32_t next;
  };
  struct Batch {
    std::uint64_t tick;
    std::uint32_t head;
    std::uint32_t tail;
  };
  /// A rank's batches by tick. They are few, and new ones are nearly always the latest.
  struct Agenda {
    std::vector<Batch> batches;
    std::size_t first = 0;

    Batch& front() { return batches[first]; }
    void pop_front();
  };

  std::uint64_t later(std::uint64_t delay) const {
    const std::uint64_t tick = now() + delay;
    if (tick < now()) throw_time_exceeded(delay);
    return tick;
  }
  [[noreturn]] void throw_time_exceeded(std::uint64_t delay) const;

  void add(std::uint32_t rank, std::uint64_t tick, std::uint64_t registered, Action action);
  void insert(Batch& batch, std::uint32_t node);

  SlotPool<ActionNode> actions_;
  std::vector<Agenda> agendas_;
  EventQueue queue_;
  std::uint64_t events_ = 0;
  std::uint64_t registered_ = 0;
};

}  // namespace chakra::sim
