// SPDX-License-Identifier: MIT
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "chakra_core/errors.hpp"
#include "chakra_core/trace_builder.hpp"
#include "feeder/completed_ids.hpp"
#include "feeder/describe_blockage.hpp"
#include "feeder/feed.hpp"
#include "feeder/held_blocks.hpp"
#include "feeder/id_map.hpp"
#include "feeder/issue_key.hpp"
#include "feeder/unread_order.hpp"
#include "io/block_reader.hpp"
#include "io/record_source.hpp"
#include "trace/cycles.hpp"

namespace chakra::detail {

namespace {

constexpr std::uint32_t none = HeldBlocks::none;

enum class NodeState : std::uint8_t { waiting, ready, in_flight };

/// A node that was read and is not complete.
struct Held {
  IssueKey key;
  NodeIndex row = 0;              ///< in the file
  std::uint32_t waiting_for = 0;  ///< parents that are not complete
  std::uint32_t unread = 0;       ///< of these, not read yet
  std::uint32_t first_child = none;
  NodeState state = NodeState::waiting;
};

/// Nodes that wait for one parent, as a list through a pool.
class ChildLists {
 public:
  /// Puts a child in front of a list; gives the new beginning.
  std::uint32_t add(std::uint32_t first, std::uint32_t child) {
    std::uint32_t link = free_;
    if (link == none) {
      link = static_cast<std::uint32_t>(links_.size());
      links_.push_back({});
    } else {
      free_ = links_[link].next;
    }
    links_[link] = {child, first};
    return link;
  }
  template <class Visit>
  void for_each(std::uint32_t first, Visit&& visit) const {
    for (std::uint32_t link = first; link != none; link = links_[link].next) {
      visit(links_[link].child);
    }
  }
  /// Visits the children, and gives the list back to the pool.
  template <class Visit>
  void take(std::uint32_t first, Visit&& visit) {
    while (first != none) {
      const Link link = links_[first];
      links_[first].next = free_;
      free_ = first;
      visit(link.child);
      first = link.next;
    }
  }
  void clear() {
    links_ = {};
    free_ = none;
  }
  std::size_t memory_bytes() const noexcept { return links_.capacity() * sizeof(Link); }

 private:
  struct Link {
    std::uint32_t child = none;
    std::uint32_t next = none;
  };
  std::vector<Link> links_;
  std::uint32_t free_ = none;
};

class StreamedFeed final : public Feed {
 public:
  StreamedFeed(const std::filesystem::path& path, const FeederOptions& options, const StreamOptions& reading)
      : name_(path.string()),
        dependencies_(options.dependencies),
        keys_(options.order),
        window_(std::max<std::size_t>(reading.window, 1)),
        threads_(reading.threads),
        source_(io::open_record_source(path)) {
    if (options.order.by == IssueOrder::By::comparator) {
      throw ChakraError(name_ + ": a comparator needs the whole trace; stream in another order, or load it");
    }
    if (options.order.by != IssueOrder::By::file && !reading.in_issue_order) {
      unread_order_.emplace(source_, name_, options.order, threads_);
    }
    start();
  }

  const Trace* whole_trace() const noexcept override { return nullptr; }

  FeederNode node(NodeIndex row) const override {
    slot_of(row, "node");
    return blocks_.node(row);
  }

  NodeId id(NodeIndex row) const override { return held_[slot_of(row, "id")].key.id; }

  std::optional<NodeIndex> find(NodeId id) const noexcept override {
    const auto slot = held_ids_.find(id);
    return slot ? std::optional(held_[*slot].row) : std::nullopt;
  }

  std::optional<NodeIndex> pop() override {
    if (!find_first()) {
      check_not_stuck();
      return std::nullopt;
    }
    const std::uint32_t slot = ready_.front().slot;
    take_first();
    read_window();
    return held_[slot].row;
  }

  std::size_t pop_all(std::vector<NodeIndex>& rows, std::size_t most) override {
    if (most == 0) {
      return 0;
    }
    if (!find_first()) {
      check_not_stuck();
      return 0;
    }
    std::size_t count = 0;
    do {
      rows.push_back(held_[ready_.front().slot].row);
      take_first();
      drop_stale();
    } while (++count < most && !ready_.empty() && comes_before_unread(ready_.front().key));
    read_window();
    return count;
  }

  std::optional<NodeIndex> peek() override {
    return find_first() ? std::optional(held_[ready_.front().slot].row) : std::nullopt;
  }

  void take(NodeIndex row) override {
    const std::uint32_t slot = slot_of(row, "take");
    if (held_[slot].state != NodeState::ready) {
      throw ChakraError("take: node " + std::to_string(held_[slot].key.id) + " is not ready" + state_of(slot));
    }
    set_in_flight(slot);
    read_window();
  }

  void push_back(NodeIndex row) override {
    const std::uint32_t slot = slot_in_flight(row, "push_back");
    --in_flight_;
    make_ready(slot);
  }

  void complete(NodeIndex row, std::vector<NodeIndex>* became_ready) override {
    complete_slot(slot_in_flight(row, "complete"), became_ready);
    read_window();
  }

  void complete_many(std::span<const NodeIndex> rows) override {
    std::vector<std::uint32_t> slots;
    slots.reserve(rows.size());
    try {
      // Marked as they are checked, so that a row that stands there twice is found.
      for (const NodeIndex row : rows) {
        slots.push_back(slot_in_flight(row, "complete_many"));
        held_[slots.back()].state = NodeState::waiting;
      }
    } catch (const ChakraError&) {
      for (const std::uint32_t slot : slots) {
        held_[slot].state = NodeState::in_flight;
      }
      throw;
    }
    for (const std::uint32_t slot : slots) {
      complete_slot(slot, nullptr);
    }
    read_window();
  }

  std::size_t ready() const noexcept override { return ready_count_; }
  std::size_t in_flight() const noexcept override { return in_flight_; }

  std::size_t remaining() const noexcept override {
    if (unread_order_) {
      return static_cast<std::size_t>(unread_order_->nodes() - completed_count_);
    }
    return held_count_ + (has_ended_ && !failure_ ? 0 : 1);
  }

  std::vector<NodeIndex> ready_nodes() const override {
    std::vector<const Held*> found;
    for (const Held& node : held_) {
      if (node.row != none && node.state == NodeState::ready) {
        found.push_back(&node);
      }
    }
    std::sort(found.begin(), found.end(), [](const Held* one, const Held* other) { return one->key < other->key; });
    std::vector<NodeIndex> rows;
    rows.reserve(found.size());
    for (const Held* node : found) {
      rows.push_back(node->row);
    }
    return rows;
  }

  Blockage blocked(std::size_t most) const override {
    Blockage found;
    found.ready = ready_count_;
    found.in_flight = in_flight_;
    const std::vector<std::uint32_t> slots = slots_by_id();
    for (const std::uint32_t slot : slots) {
      const Held& node = held_[slot];
      if (node.state == NodeState::in_flight && found.flying.size() < most) {
        found.flying.push_back(node.key.id);
      } else if (node.state == NodeState::waiting && ++found.waiting <= most) {
        found.nodes.push_back({node.key.id, unfinished_parents(slot)});
      }
    }
    if (has_ended_ && !failure_) {
      found.missing = unread_parents_.ids();
      std::sort(found.missing.begin(), found.missing.end());
    }
    if (found.waiting > 0) {
      found.cycle = find_cycle(slots);
    }
    found.text = describe(found, remaining());
    return found;
  }

  StreamStatistics statistics() const noexcept override { return statistics_; }

  std::size_t memory_bytes() const noexcept override {
    return sizeof(*this) + held_.capacity() * sizeof(Held) + free_slots_.capacity() * sizeof(std::uint32_t) +
           ready_.capacity() * sizeof(Ready) + first_from_.capacity() * sizeof(IssueKey) + children_.memory_bytes() +
           held_ids_.memory_bytes() + unread_parents_.memory_bytes() + completed_.memory_bytes() +
           blocks_.memory_bytes() + (unread_order_ ? unread_order_->memory_bytes() : 0);
  }

  void reset() override {
    reader_.reset();
    blocks_.clear();
    completed_.clear();
    held_ids_.clear();
    unread_parents_.clear();
    children_.clear();
    held_.clear();
    free_slots_.clear();
    ready_.clear();
    failure_ = nullptr;
    has_ended_ = false;
    next_row_ = 0;
    next_in_block_ = 0;
    first_from_.clear();
    largest_id_ = 0;
    ready_count_ = in_flight_ = held_count_ = open_count_ = 0;
    completed_count_ = 0;
    statistics_ = {};
    start();
  }

 private:
  /// An entry of the heap of ready nodes. It is stale when the node was taken since, or is another by now.
  struct Ready {
    IssueKey key;
    std::uint32_t slot;
  };

  void start() {
    reader_ = std::make_unique<io::BlockReader>(source_, name_, threads_);
    next_block();
    read_window();
  }

  // --- Reading -------------------------------------------------------------------------------------------------------

  /// What counts against the window: not the nodes that are open anyway.
  std::size_t in_window() const noexcept { return held_count_ - in_flight_ - open_count_; }

  void read_window() {
    while (!has_ended_ && in_window() < window_) {
      read_node();
    }
    // ready() tells the truth: none is ready only if something in flight has to end first, or nothing will ever be.
    while (!has_ended_ && ready_count_ == 0 && in_flight_ == 0) {
      ++statistics_.read_on_for_dependencies;
      read_node();
    }
  }

  /// Whether a node can be issued now; it is then the front of ready_.
  bool find_first() {
    drop_stale();
    while (!ready_.empty() && !comes_before_unread(ready_.front().key)) {
      if (has_ended_) {
        std::rethrow_exception(failure_);
      }
      ++statistics_.read_on_for_order;
      read_node();
      drop_stale();
    }
    if (ready_.empty() && in_flight_ == 0 && failure_) {
      std::rethrow_exception(failure_);
    }
    return !ready_.empty();
  }

  bool comes_before_unread(const IssueKey& key) const noexcept {
    if (!unread_order_ || (has_ended_ && !failure_)) {
      return true;
    }
    return has_ended_ ? key < first_unread_ : key < first_from_[next_in_block_];
  }

  /// Takes the next node in. A fault ends the stream; what was read before is fed first.
  void read_node() noexcept {
    try {
      const Trace& block = *blocks_.last();
      admit(block, static_cast<NodeIndex>(next_in_block_));
      ++next_row_;
      if (++next_in_block_ == block.size()) {
        next_block();
      }
    } catch (...) {
      fail();
    }
  }

  void fail() noexcept {
    failure_ = std::current_exception();
    has_ended_ = true;
    first_unread_ = IssueKey{};  // whatever comes there may be the first
    if (unread_order_ && next_in_block_ < first_from_.size()) {
      first_unread_ = first_from_[next_in_block_];
    }
  }

  void next_block() {
    TracePtr block = reader_->next();
    if (!block) {
      has_ended_ = true;
      return;
    }
    find_first_from(*block);
    next_in_block_ = 0;
    blocks_.add(std::move(block));
  }

  /// For each row of a block the first in the issue order of this and all later nodes.
  void find_first_from(const Trace& block) {
    if (!unread_order_) {
      return;
    }
    const std::size_t number = next_row_ / io::BlockReader::block_rows;
    first_from_.resize(block.size() + 1);
    first_from_.back() = unread_order_->first_from(number + 1);
    for (std::size_t row = block.size(); row-- > 0;) {
      const auto local = static_cast<NodeIndex>(row);
      first_from_[row] = std::min(first_from_[row + 1], keys_.key(block, local, next_row_ + local));
    }
    if (first_from_.front() < unread_order_->first_from(number)) {
      throw FormatError({name_, {}, {}},
                        "a node of rows " + std::to_string(next_row_) + " to " +
                            std::to_string(next_row_ + block.size() - 1) +
                            " has another place in the issue order than when the file was opened: the file has changed "
                            "since, or a record has its id twice");
    }
  }

  void admit(const Trace& block, NodeIndex local) {
    const NodeId id = block.ids()[local];
    const IssueKey key = keys_.key(block, local, next_row_);
    check_new(key);
    const std::uint32_t slot = new_slot(key);
    held_ids_.insert(id, slot);
    blocks_.hold(next_row_, slot);
    if (const auto first = unread_parents_.find(id)) {
      held_[slot].first_child = *first;
      children_.for_each(*first, [this](std::uint32_t child) {
        if (--held_[child].unread == 0) {
          --open_count_;
        }
      });
      unread_parents_.erase(id);
    }
    parents_of(block, local, parents_);
    for (const NodeId parent : parents_) {
      wait_for(slot, parent);
    }
    if (held_[slot].unread > 0) {
      ++open_count_;
    }
    if (held_[slot].waiting_for == 0) {
      make_ready(slot);
    }
  }

  void wait_for(std::uint32_t slot, NodeId parent) {
    Held& node = held_[slot];
    if (const auto held = held_ids_.find(parent)) {
      held_[*held].first_child = children_.add(held_[*held].first_child, slot);
    } else if (is_complete(parent)) {
      return;
    } else if (const auto first = unread_parents_.find(parent)) {
      unread_parents_.replace(parent, children_.add(*first, slot));
      ++node.unread;
      ++statistics_.forward_references;
    } else {
      unread_parents_.insert(parent, children_.add(none, slot));
      ++node.unread;
      ++statistics_.forward_references;
    }
    ++node.waiting_for;
  }

  /// Of a node that is not held.
  bool is_complete(NodeId id) const noexcept { return id <= largest_id_ && completed_.contains(id); }

  void check_new(const IssueKey& key) {
    if (next_row_ == std::numeric_limits<NodeIndex>::max() - 1) {
      throw ChakraError("a feeder takes at most 4,294,967,294 nodes");
    }
    if (statistics_.nodes_read == 0 || key.id > largest_id_) {
      largest_id_ = key.id;
    } else if (held_ids_.find(key.id) || is_complete(key.id)) {
      throw FormatError(
          {name_, std::uint64_t{next_row_} + 1, {}},
          "node id " + std::to_string(key.id) + " is already that of an earlier record; ids must be unique in a file");
    }
    if (!unread_order_ && statistics_.nodes_read > 0 && key < last_key_) {
      throw FormatError({name_, std::uint64_t{next_row_} + 1, {}},
                        "node " + std::to_string(key.id) + " comes before node " + std::to_string(last_key_.id) +
                            " in the issue order but stands behind it; stream without in_issue_order");
    }
    last_key_ = key;
    ++statistics_.nodes_read;
  }

  std::uint32_t new_slot(const IssueKey& key) {
    std::uint32_t slot = 0;
    if (free_slots_.empty()) {
      slot = static_cast<std::uint32_t>(held_.size());
      held_.emplace_back();
    } else {
      slot = free_slots_.back();
      free_slots_.pop_back();
    }
    held_[slot] = Held{key, next_row_, 0, 0, none, NodeState::waiting};
    statistics_.most_held = std::max<std::uint64_t>(statistics_.most_held, ++held_count_);
    return slot;
  }

  /// The ids that count, each once.
  void parents_of(const Trace& block, NodeIndex row, std::vector<NodeId>& ids) const {
    const auto& storage = block.storage();
    ids.clear();
    if (dependencies_ != DependencyKind::control) {
      ids.insert(ids.end(), storage.apart_data[row].begin(), storage.apart_data[row].end());
    }
    if (dependencies_ != DependencyKind::data) {
      ids.insert(ids.end(), storage.apart_ctrl[row].begin(), storage.apart_ctrl[row].end());
    }
    if (ids.size() > 1) {
      std::sort(ids.begin(), ids.end());
      ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    }
  }

  // --- Feeding -------------------------------------------------------------------------------------------------------

  static bool comes_later(const Ready& one, const Ready& other) noexcept { return other.key < one.key; }

  void make_ready(std::uint32_t slot) {
    held_[slot].state = NodeState::ready;
    ++ready_count_;
    // Taking and returning the same nodes over and over leaves stale entries behind.
    if (ready_.size() > 2 * ready_count_ + 64) {
      std::erase_if(ready_, [this](const Ready& entry) { return is_stale(entry); });
      std::make_heap(ready_.begin(), ready_.end(), comes_later);
    }
    ready_.push_back({held_[slot].key, slot});
    std::push_heap(ready_.begin(), ready_.end(), comes_later);
  }

  bool is_stale(const Ready& entry) const noexcept {
    const Held& node = held_[entry.slot];
    return node.row == none || node.state != NodeState::ready || node.key.id != entry.key.id;
  }

  void drop_stale() {
    while (!ready_.empty() && is_stale(ready_.front())) {
      std::pop_heap(ready_.begin(), ready_.end(), comes_later);
      ready_.pop_back();
    }
  }

  void take_first() {
    set_in_flight(ready_.front().slot);
    std::pop_heap(ready_.begin(), ready_.end(), comes_later);
    ready_.pop_back();
  }

  void set_in_flight(std::uint32_t slot) {
    held_[slot].state = NodeState::in_flight;
    --ready_count_;
    ++in_flight_;
  }

  void complete_slot(std::uint32_t slot, std::vector<NodeIndex>* became_ready) {
    const Held done = held_[slot];
    --in_flight_;
    --held_count_;
    ++completed_count_;
    held_ids_.erase(done.key.id);
    completed_.insert(done.key.id);
    blocks_.release(done.row);
    held_[slot].row = none;
    free_slots_.push_back(slot);
    std::vector<std::uint32_t>& freed = freed_;
    freed.clear();
    children_.take(done.first_child, [&](std::uint32_t child) {
      if (--held_[child].waiting_for == 0) {
        make_ready(child);
        freed.push_back(child);
      }
    });
    if (became_ready != nullptr) {
      std::sort(freed.begin(), freed.end(),
                [this](std::uint32_t one, std::uint32_t other) { return held_[one].key < held_[other].key; });
      for (const std::uint32_t child : freed) {
        became_ready->push_back(held_[child].row);
      }
    }
  }

  // --- Faults --------------------------------------------------------------------------------------------------------

  std::uint32_t slot_of(NodeIndex row, const char* what) const {
    const std::uint32_t slot = row < next_row_ ? blocks_.slot(row) : none;
    if (slot == none) {
      throw ChakraError(std::string(what) + ": row " + std::to_string(row) +
                        (row < next_row_ ? " is complete" : " is not read yet, or not in the file"));
    }
    return slot;
  }

  std::uint32_t slot_in_flight(NodeIndex row, const char* what) const {
    const std::uint32_t slot = slot_of(row, what);
    if (held_[slot].state != NodeState::in_flight) {
      throw ChakraError(std::string(what) + ": node " + std::to_string(held_[slot].key.id) +
                        " is not in flight; pop() it first, and complete it once" + state_of(slot));
    }
    return slot;
  }

  std::string state_of(std::uint32_t slot) const {
    const Held& node = held_[slot];
    return node.state == NodeState::ready       ? " (it is ready)"
           : node.state == NodeState::in_flight ? " (it is in flight)"
                                                : " (it waits for " + std::to_string(node.waiting_for) + " more)";
  }

  void check_not_stuck() const {
    if (in_flight_ != 0 || remaining() == 0) {
      return;
    }
    const Blockage found = blocked(0);
    throw DependencyError(name_ + ": " + describe_deadlock(found, held_count_, static_cast<std::size_t>(next_row_)),
                          found.cycle.empty() ? found.missing : found.cycle);
  }

  std::vector<std::uint32_t> slots_by_id() const {
    std::vector<std::uint32_t> slots;
    for (std::uint32_t slot = 0; slot < held_.size(); ++slot) {
      if (held_[slot].row != none) {
        slots.push_back(slot);
      }
    }
    std::sort(slots.begin(), slots.end(),
              [this](std::uint32_t one, std::uint32_t other) { return held_[one].key.id < held_[other].key.id; });
    return slots;
  }

  std::vector<NodeId> unfinished_parents(std::uint32_t slot) const {
    const FeederNode node = blocks_.node(held_[slot].row);
    std::vector<NodeId> ids;
    parents_of(*node.trace, node.row, ids);
    std::erase_if(ids, [this](NodeId id) { return !held_ids_.find(id) && is_complete(id); });
    return ids;
  }

  /// A cycle among nodes that were read, as a trace of these alone has it.
  std::vector<NodeId> find_cycle(const std::vector<std::uint32_t>& slots) const {
    TraceBuilder builder;
    for (const std::uint32_t slot : slots) {
      if (held_[slot].state != NodeState::waiting) {
        continue;
      }
      std::vector<NodeId> parents = unfinished_parents(slot);
      std::erase_if(parents, [this](NodeId id) {
        const auto held = held_ids_.find(id);
        return !held || held_[*held].state != NodeState::waiting;
      });
      builder.add_node({.id = held_[slot].key.id, .data_deps = parents});
    }
    const TracePtr waiting = builder.build();
    const auto cycles = minimal_cycles(*waiting, true, false, 1);
    return cycles.empty() ? std::vector<NodeId>() : ids_of(*waiting, cycles.front());
  }

  std::string name_;
  DependencyKind dependencies_;
  IssueKeys keys_;
  std::size_t window_;
  unsigned threads_;
  std::shared_ptr<const RecordSource> source_;
  std::optional<UnreadOrder> unread_order_;  ///< absent where the file is in the issue order
  std::unique_ptr<io::BlockReader> reader_;

  HeldBlocks blocks_;
  NodeIndex next_row_ = 0;            ///< to be read next
  std::size_t next_in_block_ = 0;     ///< the same in the last block
  std::vector<IssueKey> first_from_;  ///< find_first_from() of the last block
  IssueKey first_unread_;             ///< after a failure
  IssueKey last_key_;                 ///< of the node read last
  NodeId largest_id_ = 0;             ///< of nodes read
  bool has_ended_ = false;            ///< nothing is left to read, or it cannot be read
  std::exception_ptr failure_;        ///< why

  std::vector<Held> held_;  ///< by slot; `row` is `none` in free slots
  std::vector<std::uint32_t> free_slots_;
  IdMap held_ids_;        ///< to slots
  IdMap unread_parents_;  ///< to the lists of their children
  ChildLists children_;   ///< slots
  CompletedIds completed_;
  std::vector<Ready> ready_;  ///< a heap
  std::size_t ready_count_ = 0;
  std::size_t in_flight_ = 0;
  std::size_t held_count_ = 0;
  std::size_t open_count_ = 0;  ///< held, waiting for a parent that is not read yet
  std::uint64_t completed_count_ = 0;
  StreamStatistics statistics_;

  std::vector<NodeId> parents_;       ///< of the node under way
  std::vector<std::uint32_t> freed_;  ///< by the completion under way
};

}  // namespace

std::unique_ptr<Feed> make_streamed_feed(const std::filesystem::path& path, const FeederOptions& options,
                                         const StreamOptions& reading) {
  return std::make_unique<StreamedFeed>(path, options, reading);
}

}  // namespace chakra::detail
