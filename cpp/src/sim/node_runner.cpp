// SPDX-License-Identifier: MIT
#include "sim/node_runner.hpp"

#include <algorithm>

#include "chakra_core/errors.hpp"

namespace chakra::sim {

namespace {

constexpr std::int64_t parity_tag_range = 500'000'000;

/// User tags keep below the bits that mark collectives and control messages.
constexpr std::uint64_t user_tag_mask = (std::uint64_t{1} << 61) - 1;

bool is_known_to_astra_sim(CollectiveType type) {
  return type == CollectiveType::all_reduce || type == CollectiveType::all_gather ||
         type == CollectiveType::reduce_scatter || type == CollectiveType::all_to_all;
}

}  // namespace

NodeRunner::NodeRunner(std::span<const TracePtr> traces, const SimulationConfig& config, const GroupTable& groups,
                       const LanePlans& plans, std::uint32_t copies, Kernel& kernel, Transport& transport,
                       CollectiveRunner& collectives, TieWatch& ties, CommunicationLog& log, SimulationResult& result,
                       Progress* progress)
    : traces_(traces),
      config_(config),
      groups_(groups),
      kernel_(kernel),
      transport_(transport),
      collectives_(collectives),
      ties_(ties),
      log_(log),
      result_(result),
      progress_(progress),
      memory_(config.memory, config.network.npus()),
      plans_(plans),
      copies_(copies),
      compute_times_(config) {
  std::size_t nodes = 0;
  ranks_.reserve(traces.size());
  for (const TracePtr& trace : traces) {
    ranks_.emplace_back(trace, plans_.of(trace)).first_node = nodes;
    nodes += trace->size();
  }
  for (const NodeDelay& delay : config.stragglers.node_delays) {
    const auto row = traces[delay.rank]->find(delay.node);
    if (!row) {
      throw ConfigError("stragglers: rank " + std::to_string(delay.rank) + " has no node " +
                        std::to_string(delay.node) + " that could be delayed");
    }
    delays_[{delay.rank, *row}] += delay.delay_ns;
  }
  if (progress != nullptr) progress->total = nodes * copies;
  if (!config.record_nodes) return;
  result.node_start_ns.resize(nodes);
  result.node_end_ns.assign(nodes, never_ended);
  result.lanes = plans_.names();
}

void NodeRunner::take_ready(std::uint32_t r) {
  Rank& rank = ranks_[r];
  while (rank.feeder.ready() > 0) {
    const NodeIndex row = *rank.feeder.pop();
    // Until the node starts, its start is when it became ready.
    if (config_.record_nodes) result_.node_start_ns[rank.first_node + row] = kernel_.now();
    make_ready(r, row);
  }
}

void NodeRunner::make_ready(std::uint32_t r, NodeIndex row) {
  Rank& rank = ranks_[r];
  touch_lane(r, row);
  rank.ready.add(rank.feeder.trace().ids()[row], row, rank.plan->lane_of_row[row]);
}

void NodeRunner::touch_lane(std::uint32_t r, NodeIndex row) {
  const LanePlan& plan = *ranks_[r].plan;
  const std::uint32_t lane = plan.lane_of_row[row];
  if (plan.slots[lane] != unlimited) ties_.touch(r, TieWatch::lane(lane));
}

/// Whether nothing that was launched before the collective has yet to begin. Otherwise it is put aside
/// until then.
bool NodeRunner::comes_in_turn(std::uint32_t r, NodeIndex row) {
  Rank& rank = ranks_[r];
  const auto& order = rank.plan->launch_order.turns;
  const auto place = order.find(row);
  if (place == order.end()) return true;
  const LaunchOrder::Turn turn = place->second;
  Turns& turns = rank.turns[turn.group];
  if (turn.number != turns.next) {
    turns.held.emplace(turn.number, row);
    ++rank.held_count;
    return false;
  }
  ++turns.next;
  const auto following = turns.held.find(turns.next);
  if (following != turns.held.end()) {
    make_ready(r, following->second);
    turns.held.erase(following);
    --rank.held_count;
  }
  return true;
}

// ---- the walk

void NodeRunner::start() {
  const std::vector<std::uint64_t>& delays = config_.stragglers.start_delay_ns;
  for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
    if (delays.empty() || delays[r] == 0) {
      start_rank(r);
    } else {
      kernel_.act_after(r, delays[r], {0, 0, ActionKind::rank_start});
    }
  }
}

void NodeRunner::start_rank(std::uint32_t r) {
  take_ready(r);
  walk(r);
  check_finished(ranks_[r]);
}

void NodeRunner::start_late(std::uint32_t r) {
  ties_.begin(r, kernel_.now(), TieWatch::Origin::action, kernel_.registered());
  start_rank(r);
  ties_.end(r);
}

/// Issues the ready nodes whose lane has a free slot, smallest id first. What becomes ready on the way
/// waits for the next completion in parity mode.
void NodeRunner::walk(std::uint32_t r) {
  Rank& rank = ranks_[r];
  while (const auto row = rank.ready.pop()) {
    issue(r, *row);
    if (!config_.parity) take_ready(r);
  }
  take_ready(r);
}

void NodeRunner::check_finished(Rank& rank) {
  if (rank.is_through()) rank.finish_ns = kernel_.now();
}

// ---- begin and end of a node

void NodeRunner::begin(std::uint32_t r, NodeIndex row) {
  Rank& rank = ranks_[r];
  rank.ready.occupy(rank.plan->lane_of_row[row]);
  rank.running[row] = true;
  ++rank.running_count;
  rank.clock.begin(rank.plan->resource_of_row[row], kernel_.now());
  record_start(r, row);
}

void NodeRunner::complete(std::uint32_t r, NodeIndex row, TieWatch::Origin origin) {
  Rank& rank = ranks_[r];
  ties_.begin(r, kernel_.now(), origin, kernel_.registered());
  touch_lane(r, row);
  rank.ready.release(rank.plan->lane_of_row[row]);
  rank.running[row] = false;
  --rank.running_count;
  rank.clock.end(rank.plan->resource_of_row[row], kernel_.now());
  record_end(r, row);
  rank.feeder.complete(row);
  take_ready(r);
  walk(r);
  check_finished(rank);
  ties_.end(r);
}

void NodeRunner::message_ended(std::uint32_t r, NodeIndex row) {
  const Trace& trace = *traces_[r];
  if (config_.record_nodes && trace.types()[row] == NodeType::comm_send) {
    const auto bytes = static_cast<std::uint64_t>(trace.column(IntegerAttribute::comm_size).get(row).value_or(0));
    const std::uint64_t start = result_.node_start_ns[ranks_[r].first_node + row];
    log_.landed(r, peer(r, row, IntegerAttribute::comm_dst), bytes, start, kernel_.now());
  }
  complete(r, row, TieWatch::Origin::message);
}

/// Done without taking time or a slot, and without another walk: in parity mode its children wait for the next one.
void NodeRunner::finish_now(std::uint32_t r, NodeIndex row) {
  if (config_.parity) ties_.touch(r, TieWatch::everything);
  record_start(r, row);
  record_end(r, row);
  ranks_[r].feeder.complete(row);
}

void NodeRunner::run_for(std::uint32_t r, NodeIndex row, std::uint64_t duration_ns) {
  begin(r, row);
  kernel_.act_after(r, duration_ns, {0, row, ActionKind::node_end});
}

void NodeRunner::act(std::uint32_t r, const Action& action) {
  if (action.kind == ActionKind::rank_start) return start_late(r);
  if (action.kind == ActionKind::late_issue) return issue_late(r, action.a);
  const bool memory = action.kind == ActionKind::node_end && is_memory(traces_[r]->types()[action.a]);
  // A server may have begun the access when another rank's was over.
  complete(r, action.a, memory ? TieWatch::Origin::collective : TieWatch::Origin::action);
  if (!memory || config_.system.replay_only) return;
  if (const auto next = memory_.finish(r)) {
    kernel_.act_after(next->rank, next->duration_ns, {0, next->row, ActionKind::node_end});
  }
}

// ---- issuing

/// A node that has to start later holds its slot until then.
bool NodeRunner::is_delayed(std::uint32_t r, NodeIndex row) {
  const auto place = delays_.find({r, row});
  if (place == delays_.end()) return false;
  Rank& rank = ranks_[r];
  rank.ready.occupy(rank.plan->lane_of_row[row]);
  rank.running[row] = true;
  ++rank.running_count;
  kernel_.act_after(r, place->second, {0, row, ActionKind::late_issue});
  delays_.erase(place);
  return true;
}

void NodeRunner::issue_late(std::uint32_t r, NodeIndex row) {
  Rank& rank = ranks_[r];
  ties_.begin(r, kernel_.now(), TieWatch::Origin::action, kernel_.registered());
  touch_lane(r, row);
  rank.ready.release(rank.plan->lane_of_row[row]);
  rank.running[row] = false;
  --rank.running_count;
  issue(r, row);
  take_ready(r);
  walk(r);
  check_finished(rank);
  ties_.end(r);
}

void NodeRunner::issue(std::uint32_t r, NodeIndex row) {
  if (!delays_.empty() && is_delayed(r, row)) return;
  const Trace& trace = *traces_[r];
  const NodeType type = trace.types()[row];
  if (config_.parity && is_communication(type) && is_on_cpu(trace, row)) {
    fail(r, row, "a communication node with is_cpu_op never runs in ASTRA-sim; run without parity");
  }
  if (config_.system.replay_only) {
    const bool computes = type == NodeType::comp || is_timed_metadata(trace, row);
    const std::uint64_t duration = computes ? slowed_ns(r, row, given_or_recorded_ns(r, row)) : recorded_ns(trace, row);
    if (!is_on_cpu(trace, row)) ranks_[r].charged_ns += duration;
    return run_for(r, row, duration);
  }
  if (config_.communication == CommunicationTimes::recorded && is_communication(type)) return issue_recorded(r, row);
  switch (type) {
    case NodeType::comp:
      return issue_compute(r, row);
    case NodeType::comm_send:
      return issue_send(r, row);
    case NodeType::comm_recv:
      return issue_receive(r, row);
    case NodeType::comm_coll:
      if (comes_in_turn(r, row)) issue_collective(r, row);
      return;
    case NodeType::mem_load:
    case NodeType::mem_store:
      return issue_memory(r, row);
    default:
      break;
  }
  if (config_.parity && type != NodeType::invalid) {
    fail(r, row, "ASTRA-sim crashes at nodes of this type; run without parity");
  }
  if (is_timed_metadata(trace, row)) return run_for(r, row, slowed_ns(r, row, recorded_ns(trace, row)));
  finish_now(r, row);
}

void NodeRunner::issue_recorded(std::uint32_t r, NodeIndex row) {
  const std::uint64_t duration = recorded_ns(*traces_[r], row);
  if (duration == 0) ++untimed_communication_;
  run_for(r, row, duration);
}

std::uint64_t NodeRunner::recorded_ns(const Trace& trace, NodeIndex row) const {
  const std::uint64_t duration = trace.duration_ns()[row];
  return config_.parity ? std::max<std::uint64_t>(duration, 1) : duration;
}

void NodeRunner::issue_compute(std::uint32_t r, NodeIndex row) {
  const Trace& trace = *traces_[r];
  const bool given = compute_times_.given(r, row) != given_elsewhere;
  const bool on_cpu = is_on_cpu(trace, row);
  std::uint64_t duration = 0;
  if (!given && !on_cpu && config_.system.roofline_enabled) {
    if (config_.parity && required(r, row, IntegerAttribute::tensor_size) == 0) return finish_now(r, row);
    duration = roofline_ns(r, row);
  } else {
    duration = given_or_recorded_ns(r, row);
  }
  duration = slowed_ns(r, row, duration);
  if (!on_cpu) ranks_[r].charged_ns += duration;
  run_for(r, row, duration);
}

std::uint64_t NodeRunner::given_or_recorded_ns(std::uint32_t r, NodeIndex row) const {
  const Trace& trace = *traces_[r];
  const std::uint64_t given = trace.types()[row] == NodeType::comp ? compute_times_.given(r, row) : given_elsewhere;
  if (given == given_elsewhere) return recorded_ns(trace, row);
  return config_.parity ? std::max<std::uint64_t>(given, 1) : given;
}

/// In parity no computation becomes shorter than 1 ns unless it was.
std::uint64_t NodeRunner::slowed_ns(std::uint32_t r, NodeIndex row, std::uint64_t duration_ns) const {
  const std::uint64_t slowed = compute_times_.slowed(r, traces_[r]->ids()[row], duration_ns);
  return config_.parity && duration_ns > 0 ? std::max<std::uint64_t>(slowed, 1) : slowed;
}

std::uint64_t NodeRunner::roofline_ns(std::uint32_t r, NodeIndex row) const {
  const Trace& trace = *traces_[r];
  const bool modelled =
      trace.column(IntegerAttribute::num_ops).has(row) || trace.column(IntegerAttribute::tensor_size).has(row);
  if (!config_.parity && !modelled) return recorded_ns(trace, row);
  const auto amount = [&](IntegerAttribute attribute) {
    const bool absent = !config_.parity && !trace.column(attribute).has(row);
    return absent ? 0.0 : static_cast<double>(required(r, row, attribute));
  };
  const double operations = amount(IntegerAttribute::num_ops);
  const double bytes = amount(IntegerAttribute::tensor_size);
  const double memory = config_.system.local_mem_bw * 1e9;
  const double peak = config_.system.peak_perf * 1e12;
  if (operations == 0 || bytes == 0) {
    return static_cast<std::uint64_t>(std::max(operations / peak, bytes / memory) * 1e9);
  }
  const double performance = std::min(memory * (operations / bytes), peak);
  return static_cast<std::uint64_t>(operations / performance * 1e9);
}

void NodeRunner::issue_send(std::uint32_t r, NodeIndex row) {
  const auto src = traces_[r]->column(IntegerAttribute::comm_src).get(row);
  if (src && *src != static_cast<std::int64_t>(r)) {
    fail(r, row, "comm_src is " + std::to_string(*src) + ", but a rank can send from itself only");
  }
  const std::uint32_t dst = peer(r, row, IntegerAttribute::comm_dst);
  const MatchKey key = match_key(r, row, r, dst);
  begin(r, row);
  ties_.touch(r, TieWatch::messages(key.tag, dst));
  log_.sent(r, dst, key.bytes);
  transport_.send(key, {Then::send_done, r, row});
}

void NodeRunner::issue_receive(std::uint32_t r, NodeIndex row) {
  const auto dst = traces_[r]->column(IntegerAttribute::comm_dst).get(row);
  if (dst && *dst != static_cast<std::int64_t>(r)) {
    fail(r, row, "comm_dst is " + std::to_string(*dst) + ", but a rank can receive for itself only");
  }
  const std::uint32_t src = peer(r, row, IntegerAttribute::comm_src);
  const MatchKey key = match_key(r, row, src, r);
  begin(r, row);
  ties_.touch(r, TieWatch::messages(key.tag, src));
  transport_.receive(key, {Then::receive_done, r, row});
}

std::uint32_t NodeRunner::peer(std::uint32_t r, NodeIndex row, IntegerAttribute attribute) const {
  const std::uint64_t rank = required(r, row, attribute);
  if (rank >= config_.network.npus()) {
    fail(r, row,
         std::string(to_string(attribute)) + " is " + std::to_string(rank) + ", but the network has " +
             std::to_string(config_.network.npus()) + " NPUs");
  }
  if (config_.parity && rank == r) fail(r, row, "ASTRA-sim crashes at a message to oneself; run without parity");
  return static_cast<std::uint32_t>(rank);
}

MatchKey NodeRunner::match_key(std::uint32_t r, NodeIndex row, std::uint32_t src, std::uint32_t dst) const {
  const std::uint64_t bytes = required(r, row, IntegerAttribute::comm_size);
  const auto tag = traces_[r]->column(IntegerAttribute::comm_tag).get(row);
  if (!config_.parity) return {static_cast<std::uint64_t>(tag.value_or(0)) & user_tag_mask, bytes, src, dst};
  if (!tag) fail(r, row, "no comm_tag, where ASTRA-sim crashes; run without parity");
  if (bytes == 0) fail(r, row, "a message of 0 bytes, where ASTRA-sim aborts; run without parity");
  return {static_cast<std::uint64_t>(*tag % parity_tag_range) & user_tag_mask, bytes, src, dst};
}

void NodeRunner::issue_collective(std::uint32_t r, NodeIndex row) {
  const Trace& trace = *traces_[r];
  CollectiveNode node;
  node.rank = r;
  node.row = row;
  node.id = trace.ids()[row];
  node.type = static_cast<CollectiveType>(required(r, row, IntegerAttribute::comm_type));
  if (config_.parity && node.type == CollectiveType::broadcast) return run_for(r, row, recorded_ns(trace, row));
  if (node.type > CollectiveType::barrier) fail(r, row, "unknown collective type " + to_string(node.type));
  const bool sized = node.type != CollectiveType::barrier || trace.column(IntegerAttribute::comm_size).has(row);
  if (sized) node.size = required(r, row, IntegerAttribute::comm_size);
  node.group = group_of(r, row);
  if (const auto pattern = trace.involved_dim().get(row)) node.involved_dims = trace.string(*pattern);
  if (config_.parity) {
    if (!is_known_to_astra_sim(node.type)) {
      fail(r, row, "ASTRA-sim crashes at " + to_string(node.type) + "; run without parity");
    }
  } else if (trace.column(IntegerAttribute::comm_src).has(row)) {
    node.root = peer(r, row, IntegerAttribute::comm_src);
  }
  begin(r, row);
  ties_.touch(r, TieWatch::group(node.group));
  try {
    collectives_.issue(node);
  } catch (const ConfigError& error) {
    fail(r, row, error.what());
  }
}

std::uint32_t NodeRunner::group_of(std::uint32_t r, NodeIndex row) const {
  const auto name = traces_[r]->pg_name().get(row);
  if (!name) return GroupTable::world;
  const std::string_view text = traces_[r]->string(*name);
  const auto group = groups_.find(text);
  if (!group) {
    fail(r, row, "pg_name \"" + std::string(text) + "\" is not in the communicator groups (" + groups_.names() + ")");
  }
  return *group;
}

void NodeRunner::issue_memory(std::uint32_t r, NodeIndex row) {
  if (config_.memory.type == MemoryType::none) {
    fail(r, row, "a remote-memory access, but memory-type is NO_MEMORY_EXPANSION");
  }
  const std::uint64_t bytes = required(r, row, IntegerAttribute::tensor_size);
  const RemoteMemory::Request request{r, row, memory_.duration_ns(bytes)};
  begin(r, row);
  if (memory_.crowds(r, kernel_.now())) ties_.cannot_tell("ranks that ask a memory server in one ns");
  if (memory_.request(request)) kernel_.act_after(r, request.duration_ns, {0, row, ActionKind::node_end});
}

std::uint64_t NodeRunner::required(std::uint32_t r, NodeIndex row, IntegerAttribute attribute) const {
  const auto value = traces_[r]->column(attribute).get(row);
  if (!value) fail(r, row, "attribute " + std::string(to_string(attribute)) + " is missing");
  if (*value < 0) {
    fail(r, row,
         "attribute " + std::string(to_string(attribute)) + " is " + std::to_string(*value) +
             "; it must not be negative");
  }
  return static_cast<std::uint64_t>(*value);
}

// ---- results

void NodeRunner::record_start(std::uint32_t r, NodeIndex row) {
  if (config_.observer != nullptr) config_.observer->node_started(r, row, kernel_.now());
  if (!config_.record_nodes) return;
  const std::size_t place = ranks_[r].first_node + row;
  std::uint64_t& start = result_.node_start_ns[place];
  if (start == kernel_.now()) return;
  result_.late_node.push_back(place);
  result_.late_ns.push_back(kernel_.now() - start);
  start = kernel_.now();
}

void NodeRunner::record_end(std::uint32_t r, NodeIndex row) {
  if (config_.observer != nullptr) config_.observer->node_ended(r, row, kernel_.now());
  if (progress_ != nullptr) progress_->done.fetch_add(copies_, std::memory_order_relaxed);
  if (config_.record_nodes) result_.node_end_ns[ranks_[r].first_node + row] = kernel_.now();
}

bool NodeRunner::finished() const {
  return std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.is_through(); });
}

void NodeRunner::collect() {
  for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
    Rank& rank = ranks_[r];
    // ASTRA-sim does not notice a cycle as long as something ran.
    const bool nothing_ran = rank.feeder.remaining() == rank.feeder.trace().size();
    if (rank.feeder.remaining() > 0 && (!config_.parity || nothing_ran)) {
      try {
        rank.feeder.pop();
      } catch (const DependencyError& error) {
        throw DependencyError("rank " + std::to_string(r) + ": " + error.what(), error.nodes());
      }
    }
    const std::uint64_t old_formula = rank.finish_ns - rank.charged_ns;
    result_.finish_ns.push_back(rank.finish_ns);
    result_.compute_ns.push_back(rank.clock.busy_ns(Resource::compute));
    result_.comm_ns.push_back(rank.clock.busy_ns(Resource::comm));
    result_.exposed_comm_ns.push_back(config_.parity ? old_formula : rank.clock.exposed_ns());
    result_.idle_ns.push_back(rank.clock.idle_ns());
    result_.cpu_ns.push_back(rank.clock.busy_ns(Resource::cpu));
    result_.memory_ns.push_back(rank.clock.busy_ns(Resource::memory));
    result_.finish_minus_compute_ns.push_back(old_formula);
    result_.first_node.push_back(config_.record_nodes ? rank.first_node : 0);
  }
  result_.first_node.push_back(result_.node_start_ns.size());
}

std::vector<NodeIndex> NodeRunner::running(std::uint32_t r) const {
  std::vector<NodeIndex> rows;
  const std::vector<bool>& running = ranks_[r].running;
  for (NodeIndex row = 0; row < running.size(); ++row) {
    if (running[row]) rows.push_back(row);
  }
  return rows;
}

std::vector<NodeIndex> NodeRunner::held(std::uint32_t r) const {
  std::vector<NodeIndex> rows;
  for (const auto& [group, turns] : ranks_[r].turns) {
    for (const auto& [number, row] : turns.held) rows.push_back(row);
  }
  return rows;
}

std::string NodeRunner::lane_name(std::uint32_t r, NodeIndex row) const {
  const LanePlan& plan = *ranks_[r].plan;
  return plan.lanes[plan.lane_of_row[row]].name();
}

std::string NodeRunner::describe_node(std::uint32_t r, NodeIndex row) const {
  const Trace& trace = *traces_[r];
  return "node " + std::to_string(trace.ids()[row]) + " \"" + std::string(trace.name(row)) + "\" (" +
         to_string(trace.types()[row]) + ")";
}

std::string NodeRunner::describe(std::uint32_t r, NodeIndex row) const {
  return "rank " + std::to_string(r) + ": " + describe_node(r, row);
}

void NodeRunner::fail(std::uint32_t r, NodeIndex row, const std::string& problem) const {
  throw SimulationError(describe(r, row) + ": " + problem);
}

}  // namespace chakra::sim
