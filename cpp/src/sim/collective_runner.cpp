// SPDX-License-Identifier: MIT
#include "sim/collective_runner.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "chakra_core/errors.hpp"

namespace chakra::sim {

namespace {

constexpr std::uint64_t parity_tag_range = 500'000'000;
constexpr std::uint64_t parity_group_range = 1'000'000;

/// Keeps the tags of collectives apart from those of point-to-point messages.
constexpr std::uint64_t collective_bit = std::uint64_t{1} << 61;

/// Different phases of a chunk that a rank can be in: each dimension on the way out and back.
constexpr std::uint64_t tags_per_chunk = 128;

/// ASTRA-sim's default of involved_dim; dimensions from the fifth on are left out.
constexpr std::string_view parity_involved_dims = "1111";

/// Keeps what an all-gather adds up to within 64 bits.
constexpr std::uint64_t largest_total = std::uint64_t{1} << 62;

/// In place of the family and the tick of registration of a chunk that comes from its node.
constexpr std::uint64_t new_chunk = ~std::uint64_t{0};
constexpr std::uint64_t not_registered = ~std::uint64_t{0};

/// Keeps the numbers of issued collectives apart from those of families of chunks.
constexpr std::uint64_t issue_bit = std::uint64_t{1} << 63;

std::string what(const CollectiveNode& node) {
  return "node " + std::to_string(node.id) + ", " + to_string(node.type) + " of " + std::to_string(node.size) +
         " bytes";
}

}  // namespace

std::uint32_t ChunkPool::take() {
  std::uint32_t index = 0;
  if (free_.empty()) {
    chunks_.push_back(std::make_unique<Chunk>());
    index = size() - 1;
  } else {
    index = free_.back();
    free_.pop_back();
  }
  chunks_[index]->in_use = true;
  return index;
}

void ChunkPool::release(std::uint32_t index) {
  chunks_[index]->in_use = false;
  chunks_[index]->phases.clear();
  free_.push_back(index);
}

CollectiveRunner::CollectiveRunner(const SimulationConfig& config, const GroupTable& groups, std::uint32_t copies,
                                   Kernel& kernel, ChunkPool& chunks, TieWatch& ties, CommunicationLog& log,
                                   CollectiveListener& listener)
    : config_(config),
      groups_(groups),
      is_folded_(copies > 1),
      kernel_(kernel),
      chunks_(chunks),
      ties_(ties),
      log_(log),
      listener_(listener),
      planner_(config.network, config.system, config.parity),
      dimensions_(config.network.dimensions().size()),
      group_states_(groups.size()) {
  const std::size_t ranks = is_folded_ ? 1 : config.network.npus();
  const std::uint32_t active = config.system.active_chunks_per_dimension;
  slots_ = active / config.num_queues_per_dim + (active % config.num_queues_per_dim != 0 ? 1 : 0);
  if (config.parity) {
    queues_.resize(ranks * dimensions_ * config.num_queues_per_dim);
    pointers_.resize(ranks * dimensions_ * 3);
    trees_.resize(ranks * dimensions_ * 4);
    created_.resize(ranks);
  }
}

// ---- a collective is issued

void CollectiveRunner::issue(const CollectiveNode& node) {
  if (node.size > largest_total / groups_[node.group].size()) {
    throw SimulationError("rank " + std::to_string(node.rank) + ", " + what(node) + ": too large for its group of " +
                          std::to_string(groups_[node.group].size()));
  }
  const CollectiveRequest req = request(node);
  const std::vector<std::uint64_t> sizes = planner_.chunk_sizes(req);
  const std::uint32_t mine = place(req.subgroup ? req.position : groups_[node.group].position(node.rank).value());
  Numbering numbering;
  if (!config_.parity) numbering = join(node, mine, sizes.size());
  if (planner_.custom(node.type) != nullptr) {
    // Its traces say how much is sent.
  } else if (node.size == 0 && node.type != CollectiveType::barrier) {
    ++empty_;
  } else if (node.size < groups_[node.group].size() && node.type != CollectiveType::barrier) {
    ++tiny_;
  }
  cause_ = ++issues_ | issue_bit;
  const std::uint32_t logged = log_.issued(node, mine, kernel_.now());
  const std::uint32_t run = runs_.take({node.rank, node.row, node.group, mine, logged, 0});
  for (std::size_t c = 0; c < sizes.size(); ++c) {
    const std::uint64_t tag = config_.parity ? parity_tag(node, mine) : numbering.tag + c * tags_per_chunk;
    if (c == 0 || sizes[c] != sizes[c - 1]) {
      plan_.clear();
      planner_.plan(req, sizes[c], plan_);
    }
    if (!plan_.empty()) create_chunk(node, plan_, run, numbering.first_chunk + c, tag);
  }
  if (runs_[run].chunks_left > 0) return;
  runs_.release(run);
  if (config_.parity) {
    throw SimulationError("rank " + std::to_string(node.rank) + ", " + what(node) +
                          ": no dimension takes part, so it never ends in ASTRA-sim; run without parity");
  }
  log_.ended(logged, kernel_.now());
  kernel_.act_after(node.rank, 0, {0, node.row, ActionKind::collective_end});
}

CollectiveRequest CollectiveRunner::request(const CollectiveNode& node) const {
  const Group& group = groups_[node.group];
  const auto position = group.position(node.rank);
  const std::uint32_t root = node.root.value_or(group.ranks.front());
  const auto root_position = group.position(root);
  if (!position || !root_position) {
    throw SimulationError("rank " + std::to_string(node.rank) + ", " + what(node) + ": rank " +
                          std::to_string(position ? root : node.rank) + " is not in communicator group \"" +
                          group.name + "\"");
  }
  CollectiveRequest req;
  req.type = node.type;
  req.size = node.size;
  req.rank = node.rank;
  req.root = root;
  req.subgroup = !group.whole;
  req.grid = group.grid ? &*group.grid : nullptr;
  req.members = group.members();
  req.position = *position;
  req.root_position = *root_position;
  if (config_.parity && req.subgroup && group.size() == 1) {
    throw SimulationError("rank " + std::to_string(node.rank) + ", " + what(node) +
                          ": a group of one rank never ends in ASTRA-sim; run without parity");
  }
  const bool default_dims = config_.parity && node.group == GroupTable::world;
  req.all_dims = node.group != GroupTable::world || (!node.involved_dims && !default_dims);
  req.involved_dims = node.involved_dims.value_or(parity_involved_dims);
  return req;
}

/// Takes the rank's place in the group's next collective.
CollectiveRunner::Numbering CollectiveRunner::join(const CollectiveNode& node, std::uint32_t place,
                                                   std::uint64_t chunks) {
  GroupState& state = group_states_[node.group];
  if (state.issued.empty()) {
    const std::size_t simulated = members(node.group);
    state.issued.resize(simulated);
    state.queues.resize(simulated * dimensions_ * config_.num_queues_per_dim);
  }
  const std::uint64_t number = state.issued[place]++;
  if (number == state.closed + state.open.size()) {
    state.open.push_back({node, std::string(node.involved_dims.value_or("all")), state.chunks, chunks, next_tag_, 0});
    state.open.back().first.involved_dims.reset();
    state.chunks += chunks;
    next_tag_ += chunks * tags_per_chunk;
  }
  Agreement& agreement = state.open[number - state.closed];
  check_agreement(node, agreement, number);
  const Numbering numbering{agreement.first_chunk, agreement.tag | collective_bit};
  ++agreement.joined;
  while (!state.open.empty() && state.open.front().joined == members(node.group)) {
    state.open.pop_front();
    ++state.closed;
  }
  return numbering;
}

void CollectiveRunner::check_agreement(const CollectiveNode& node, const Agreement& agreement,
                                       std::uint64_t number) const {
  const CollectiveNode& first = agreement.first;
  const bool same_dims = node.involved_dims.value_or("all") == agreement.involved_dims;
  if (node.type == first.type && node.size == first.size && node.root == first.root && same_dims) return;
  std::string text = "ranks disagree on collective number " + std::to_string(number) + " of communicator group \"" +
                     groups_[node.group].name + "\": rank " + std::to_string(first.rank) + " issued " + what(first) +
                     "; rank " + std::to_string(node.rank) + " issued " + what(node);
  if (!same_dims) {
    text += "; involved_dim " + agreement.involved_dims + " and " + std::string(node.involved_dims.value_or("all"));
  }
  if (node.root != first.root) text += "; the roots differ";
  throw SimulationError(text);
}

/// ASTRA-sim counts all chunks of a rank, those of groups too, and multiplies in 32 bits.
std::uint64_t CollectiveRunner::parity_tag(const CollectiveNode& node, std::uint32_t place) {
  std::uint64_t number = created_[node.rank]++;
  if (node.group != GroupTable::world) {
    GroupState& state = group_states_[node.group];
    if (state.issued.empty()) state.issued.resize(members(node.group));
    number = groups_[node.group].number * parity_group_range + state.issued[place]++;
  }
  const auto wrapped = static_cast<std::int64_t>(static_cast<std::int32_t>(number));
  const auto range = static_cast<std::int64_t>(parity_tag_range);
  return static_cast<std::uint64_t>(wrapped % range + range);
}

void CollectiveRunner::create_chunk(const CollectiveNode& node, const std::vector<Phase>& plan, std::uint32_t run,
                                    std::uint64_t number, std::uint64_t tag) {
  const std::uint32_t index = chunks_.take();
  Chunk& chunk = chunks_[index];
  chunk.phases = plan;
  chunk.tag = tag;
  chunk.rank = node.rank;
  chunk.collective = run;
  chunk.current = 0;
  chunk.running = false;
  ++runs_[run].chunks_left;
  choose_queues(chunk, node.type, number);
  check_order(queue(chunk, chunk.phase()), new_chunk, not_registered);
  enqueue(index);
  start_waiting(queue(chunk, chunk.phase()));
}

void CollectiveRunner::choose_queues(Chunk& chunk, CollectiveType type, std::uint64_t number) {
  const std::uint32_t queues = config_.num_queues_per_dim;
  for (Phase& phase : chunk.phases) {
    if (phase.substituted) ++substituted_;
    phase.queue = next_in_half(chunk, phase, number);
    phase.anticlockwise =
        phase.half == QueueHalf::second || (phase.half == QueueHalf::all && queues > 1 && phase.queue >= queues / 2);
    if (phase.algorithm.kind != AlgorithmKind::double_binary_tree) continue;
    if (config_.parity) {
      std::uint8_t& tree = trees_[(chunk.rank * dimensions_ + phase.dimension) * 4 + Planner::list_index(type)];
      phase.counter_tree = tree != 0;
      tree ^= 1;
    } else {
      phase.counter_tree = number % 2 != 0;
    }
  }
}

/// Parity: each rank has its own round robin. Otherwise the chunk's number in its group decides, so
/// that all members choose alike.
std::uint32_t CollectiveRunner::next_in_half(const Chunk& chunk, const Phase& phase, std::uint64_t number) {
  const std::uint32_t queues = config_.num_queues_per_dim;
  const std::uint32_t begin = phase.half == QueueHalf::second ? queues / 2 : 0;
  const std::uint32_t end = phase.half == QueueHalf::first ? std::max(queues / 2, 1U) : queues;
  const std::uint32_t count = end - begin;
  if (!config_.parity) return begin + static_cast<std::uint32_t>(number % count);
  const std::size_t half = static_cast<std::size_t>(phase.half);
  std::uint32_t& pointer = pointers_[(chunk.rank * dimensions_ + phase.dimension) * 3 + half];
  const std::uint32_t chosen = begin + pointer;
  pointer = (pointer + 1) % count;
  return chosen;
}

// ---- queues

CollectiveRunner::Queue& CollectiveRunner::queue(const Chunk& chunk, const Phase& phase) noexcept {
  const Run& run = runs_[chunk.collective];
  std::vector<Queue>& queues = config_.parity ? queues_ : group_states_[run.group].queues;
  const std::size_t member = config_.parity ? run.rank : run.place;
  return queues[(member * dimensions_ + phase.dimension) * config_.num_queues_per_dim + phase.queue];
}

void CollectiveRunner::enqueue(std::uint32_t index) {
  Chunk& chunk = chunks_[index];
  Queue& waiting = queue(chunk, chunk.phase());
  chunk.next = none;
  if (waiting.head == none) {
    waiting.head = index;
  } else {
    chunks_[waiting.tail].next = index;
  }
  waiting.tail = index;
}

/// Chunks that come into a queue in one tick: are they sure to come in this order?
void CollectiveRunner::check_order(Queue& entered, std::uint64_t family, std::uint64_t registered) {
  if (!ties_.is_enabled()) return;
  if (entered.arrived == kernel_.now()) {
    const bool together = family != 0 && family == entered.family;
    const bool in_order = registered != not_registered && entered.registered != not_registered;
    if (!together && !(in_order && registered > entered.registered))
      ties_.cannot_tell("chunks that reach a queue in one ns");
  }
  entered.arrived = kernel_.now();
  entered.registered = registered;
  entered.family = family;
}

void CollectiveRunner::start_waiting(Queue& waiting) {
  while (waiting.head != none && waiting.running < slots_) {
    const std::uint32_t index = waiting.head;
    waiting.head = chunks_[index].next;
    ++waiting.running;
    begin(index);
  }
}

void CollectiveRunner::begin(std::uint32_t index) {
  Chunk& chunk = chunks_[index];
  const Phase& phase = chunk.phase();
  chunk.running = true;
  chunk.cause = cause_;
  const std::uint64_t way = 2 * std::uint64_t{phase.dimension} + (phase.half == QueueHalf::second ? 1 : 0);
  chunk.phase_tag = config_.parity ? chunk.tag : chunk.tag + way;
  log_.phase_begun(runs_[chunk.collective].logged, phase, kernel_.now());
  executor_->begin(index);
}

/// The order of these steps decides who comes first in a queue.
void CollectiveRunner::phase_ended(std::uint32_t index) {
  Chunk& chunk = chunks_[index];
  Queue& old_queue = queue(chunk, chunk.phase());
  chunk.running = false;
  log_.phase_ended(runs_[chunk.collective].logged, chunk.phase(), kernel_.now());
  const bool last = chunk.current + 1 == chunk.phases.size();
  if (last) {
    Run& run = runs_[chunk.collective];
    if (--run.chunks_left == 0) {
      const Run ended = run;
      runs_.release(chunk.collective);
      log_.ended(ended.logged, kernel_.now());
      listener_.collective_ended(ended.rank, ended.row);
    }
  } else {
    ++chunk.current;
    check_order(queue(chunk, chunk.phase()), chunk.family, kernel_.registered());
    enqueue(index);
  }
  cause_ = chunk.family;
  --old_queue.running;
  start_waiting(old_queue);
  if (last) return chunks_.release(index);
  start_waiting(queue(chunk, chunk.phase()));
}

// ---- nothing else can happen

bool CollectiveRunner::admit_blocked() {
  using Line = std::tuple<std::uint64_t, std::uint32_t, const std::uint32_t*>;
  const auto line = [](const Chunk& chunk) {
    const Phase& phase = chunk.phase();
    const std::uint64_t way = 2 * std::uint64_t{phase.dimension} + (phase.half == QueueHalf::second ? 1 : 0);
    return Line{chunk.tag + way, phase.members.base, phase.members.list};
  };
  std::set<Line> begun;
  std::map<Line, std::vector<std::uint32_t>> waiting;
  for (std::uint32_t index = 0; index < chunks_.size(); ++index) {
    const Chunk& chunk = chunks_[index];
    if (!chunk.in_use) continue;
    if (chunk.running) {
      begun.insert(line(chunk));
    } else {
      waiting[line(chunk)].push_back(index);
    }
  }
  for (const auto& [key, blocked] : waiting) {
    if (!begun.contains(key)) continue;
    // Messages that go on in vain set the time at which this happens.
    ties_.cannot_tell("chunks that wait for each other");
    for (const std::uint32_t index : blocked) {
      Queue& from = queue(chunks_[index], chunks_[index].phase());
      remove_waiting(from, index);
      ++from.running;
      begin(index);
    }
    return true;
  }
  return false;
}

void CollectiveRunner::remove_waiting(Queue& waiting, std::uint32_t index) {
  std::uint32_t before = none;
  for (std::uint32_t at = waiting.head; at != index; at = chunks_[at].next) before = at;
  const std::uint32_t after = chunks_[index].next;
  (before == none ? waiting.head : chunks_[before].next) = after;
  if (after == none) waiting.tail = before;
}

std::vector<std::string> CollectiveRunner::open_collectives() const {
  constexpr std::size_t most_listed = 16;
  std::vector<std::string> lines;
  for (std::uint32_t g = 0; g < group_states_.size(); ++g) {
    const GroupState& state = group_states_[g];
    for (std::size_t i = 0; i < state.open.size() && lines.size() < most_listed; ++i) {
      const std::uint64_t number = state.closed + i;
      std::string missing;
      std::size_t count = 0;
      for (std::uint32_t position = 0; position < state.issued.size(); ++position) {
        if (state.issued[position] > number) continue;
        if (++count <= most_listed) missing += (count > 1 ? ", " : "") + std::to_string(groups_[g].ranks[position]);
      }
      if (count > most_listed) missing += " and " + std::to_string(count - most_listed) + " more";
      lines.push_back("collective number " + std::to_string(number) + " of communicator group \"" + groups_[g].name +
                      "\" (" + what(state.open[i].first) + ", first issued by rank " +
                      std::to_string(state.open[i].first.rank) + ") was never issued by rank " + missing);
    }
  }
  return lines;
}

}  // namespace chakra::sim
