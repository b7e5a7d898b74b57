// SPDX-License-Identifier: MIT
#include "pytorch/node_writer.hpp"

#include <algorithm>
#include <charconv>
#include <deque>
#include <mutex>
#include <tuple>
#include <utility>

#include "chakra_core/errors.hpp"
#include "parallel/parallel_for.hpp"
#include "trace/trace_assembly.hpp"
#include "wire/append_attribute.hpp"
#include "wire/encode.hpp"
#include "wire/utf8.hpp"

namespace chakra::pytorch {

namespace {

// Text as a JSON string with its quotes.
std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      constexpr std::string_view digits = "0123456789abcdef";
      out += "\\u00";
      out += digits[static_cast<unsigned char>(c) >> 4];
      out += digits[static_cast<unsigned char>(c) & 15U];
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string groups_as_json(const std::vector<ProcessGroup>& groups) {
  std::string out = "[";
  for (const ProcessGroup& group : groups) {
    if (out.size() > 1) out += ", ";
    out += "{\"pg_name\": " + json_string(group.name) + ", \"pg_desc\": " + json_string(group.description) +
           ", \"backend_config\": " + json_string(group.backend) + ", \"ranks\": [";
    for (std::size_t i = 0; i < group.ranks.size(); ++i) {
      if (i > 0) out += ", ";
      out += std::to_string(group.ranks[i]);
    }
    const std::int64_t size = group.ranks.empty() ? group.size : static_cast<std::int64_t>(group.ranks.size());
    out += "], \"group_size\": " + std::to_string(size) + ", \"group_count\": " + std::to_string(groups.size()) + "}";
  }
  return out + "]";
}

std::string_view view_or_empty(const StringPool& strings, std::uint32_t id) {
  return id == no_string ? std::string_view{} : strings.view(id);
}

// Text as Python's repr of a str with single quotes.
std::string python_string(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

}  // namespace

bool is_group_init(std::string_view name) noexcept { return name.find("process_group:init") != std::string_view::npos; }

std::vector<std::int64_t> exclusive_times(const CallTree& tree) {
  std::vector<std::int64_t> exclusive(tree.frames.size(), 0);
  for (std::uint32_t f = 0; f < tree.frames.size(); ++f) {
    const Frame& frame = tree.frames[f];
    if (!frame.is_op) continue;
    exclusive[f] += frame.end_ns - frame.start_ns;
    const std::uint32_t caller = frame.parent == no_row ? no_row : tree.frames[frame.parent].op;
    if (caller != no_row) exclusive[caller] -= frame.end_ns - frame.start_ns;
  }
  return exclusive;
}

std::optional<NodeType> memory_node_type(const LinkedModel& model, const DeviceWork& work) {
  const DeviceEvent& event = model.device->events[work.event];
  if (event.kind != DeviceEventKind::memcpy) return std::nullopt;
  const std::string_view name = model.device->strings.view(event.name);
  const auto has = [name](std::string_view text) { return name.find(text) != std::string_view::npos; };
  if (has("HtoD") || has("HostToDevice")) return NodeType::mem_load;
  if (has("DtoH") || has("DeviceToHost")) return NodeType::mem_store;
  return std::nullopt;
}

std::vector<std::uint64_t> lane_tids(const LinkedModel& model) {
  std::vector<std::uint64_t> tids(model.tree.lane_count(), 0);
  std::vector<std::uint8_t> known(tids.size(), 0);
  for (const Frame& frame : model.tree.frames) {
    const std::uint32_t node = model.match.node_of_event[frame.event];
    if (known[frame.lane] != 0 || node == no_row || model.host->nodes[node].tid == 0) continue;
    known[frame.lane] = 1;
    tids[frame.lane] = model.host->nodes[node].tid;
  }
  for (std::size_t lane = 0; lane < tids.size(); ++lane) {
    if (known[lane] != 0) continue;
    const DeviceThread& thread = model.device->threads[model.tree.lane_thread[lane]];
    const std::string_view text = model.device->strings.view(thread.tid);
    std::int64_t tid = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), tid);
    // A thread without a number gets one that no real thread has.
    tids[lane] = parsed.ec == std::errc() ? static_cast<std::uint64_t>(tid) : (std::uint64_t{1} << 40) + lane;
  }
  return tids;
}

NodeWriter::NodeWriter(const LinkedModel& model, const std::vector<std::uint64_t>& lane_tids)
    : model_(model), lane_tids_(lane_tids) {}

void NodeWriter::begin(NodeId id, std::string_view name, NodeType type, std::int64_t start_ns,
                       std::int64_t duration_ns) {
  wire::clear(node_);
  node_.id = id;
  node_.name = name;
  node_.type = static_cast<std::int32_t>(type);
  node_.start_ns = static_cast<std::uint64_t>(start_ns);
  node_.duration_ns = static_cast<std::uint64_t>(duration_ns);
  tensors_.clear();
  attributes_.clear();
  check_text(name, "its name");
}

void NodeWriter::refuse(std::string_view problem) const {
  throw ChakraError("node " + std::to_string(node_.id) + ": " + std::string(problem));
}

void NodeWriter::check_text(std::string_view text, std::string_view what) const {
  if (!wire::is_utf8(text)) refuse(std::string(what) + " is not UTF-8, which protobuf demands of a string");
}

void NodeWriter::add_int64(std::string_view name, std::int64_t value) {
  wire::append_integer_attribute(attributes_, name, AttributeKind::int64_value, static_cast<std::uint64_t>(value));
}

void NodeWriter::add_uint64(std::string_view name, std::uint64_t value) {
  wire::append_integer_attribute(attributes_, name, AttributeKind::uint64_value, value);
}

void NodeWriter::add_string(std::string_view name, std::string_view text) {
  check_text(text, name);
  wire::append_string_attribute(attributes_, name, text);
}

void NodeWriter::add_host_attributes(const HostNode& node) {
  add_uint64("rf_id", node.rf_id);
  add_uint64("fw_parent", node.fw_parent);
  add_int64("seq_id", node.seq_id);
  add_uint64("scope", node.scope);
  add_uint64("tid", node.tid);
  add_uint64("fw_tid", node.fw_tid);
  add_string("op_schema", view_or_empty(model_.host->strings, node.op_schema));
}

void NodeWriter::add_event_attributes(std::uint32_t event) {
  const DeviceEvent& item = model_.device->events[event];
  if (item.record_function_id != 0) add_uint64("rf_id", item.record_function_id);
  if (item.op != no_row && model_.device->ops[item.op].sequence_number >= 0) {
    add_int64("seq_id", model_.device->ops[item.op].sequence_number);
  }
  const std::uint32_t frame = model_.tree.frame_of_event[event];
  if (frame != no_row) add_uint64("tid", lane_tid(model_.tree.frames[frame].lane));
}

void NodeWriter::add_is_cpu_op(bool value) {
  wire::append_integer_attribute(attributes_, "is_cpu_op", AttributeKind::bool_value, value ? 1 : 0);
}

void NodeWriter::add_copied_bytes(std::uint32_t event) {
  const std::uint32_t copy = model_.device->events[event].copy;
  if (copy != no_row) add_uint64("tensor_size", static_cast<std::uint64_t>(model_.device->copy_bytes[copy]));
}

void NodeWriter::add_communication(const Communication& comm) {
  if (comm.collective) add_int64("comm_type", static_cast<std::int64_t>(*comm.collective));
  if (comm.size_bytes >= 0) add_int64("comm_size", comm.size_bytes);
  if (comm.source >= 0) add_int64("comm_src", comm.source);
  if (comm.destination >= 0) add_int64("comm_dst", comm.destination);
  if (comm.tag >= 0) add_int64("comm_tag", comm.tag);
  if (!comm.group.empty()) add_string("pg_name", comm.group);
  if (comm.sequence >= 0) add_int64("comm_seq", comm.sequence);
}

wire::IoView NodeWriter::view(const Texts& texts, const char* what) const {
  const wire::IoView io = {view_or_empty(texts.strings, texts.values), view_or_empty(texts.strings, texts.shapes),
                           view_or_empty(texts.strings, texts.types)};
  for (const std::string_view text : {io.values, io.shapes, io.types}) check_text(text, what);
  return io;
}

void NodeWriter::add_tensors(std::uint32_t node, std::uint32_t event) {
  if (node != no_row) {
    const HostNode& host = model_.host->nodes[node];
    const StringPool& strings = model_.host->strings;
    const auto& [in, out] = std::tie(host.inputs, host.outputs);
    wire::append_inputs(tensors_, view({strings, in.values, in.shapes, in.types}, "a text of its inputs"));
    wire::append_outputs(tensors_, view({strings, out.values, out.shapes, out.types}, "a text of its outputs"));
  } else if (event != no_row && model_.device->events[event].op != no_row) {
    const OpArguments& op = model_.device->ops[model_.device->events[event].op];
    wire::append_inputs(tensors_, view({model_.device->strings, op.concrete_inputs, op.input_dims, op.input_types},
                                       "a text of its inputs"));
    wire::append_outputs(tensors_, wire::IoView{});
  }
}

void NodeWriter::write_groups(NodeId id) {
  begin(id, "## process_group:init ##", NodeType::metadata, 0, 0);
  add_is_cpu_op(true);
  const std::string values = "[" + python_string(groups_as_json(model_.groups)) + "]";
  check_text(values, "the name of a process group");
  wire::append_inputs(tensors_, wire::IoView{values, "[[]]", "['String']"});
  wire::append_outputs(tensors_, wire::IoView{"[]", "[]", "[]"});
  finish();
}

void NodeWriter::finish() {
  // The exact time goes into an attribute unless whole microseconds already say it.
  if (node_.start_ns % 1000 != 0) add_uint64("start_ns", node_.start_ns);
  if (node_.duration_ns % 1000 != 0) add_uint64("duration_ns", node_.duration_ns);
  tensors_ += attributes_;
  const std::string_view record = records_->store(tensors_);
  wire::decode_node(record, decoded_);
  if (!decoded_.problems.empty()) {
    refuse("attribute " + std::string(decoded_.problems.front().name) + " " + decoded_.problems.front().what);
  }
  node_.is_cpu_op = decoded_.is_cpu_op;
  node_.integers_present = decoded_.integers_present;
  node_.integers = decoded_.integers;
  node_.pg_name = decoded_.pg_name;
  rows_->append(node_, record, detail::RecordForm::tail);
}

namespace {

Metadata metadata_of(const LinkedModel& model, std::string_view layout) {
  Metadata metadata;
  metadata.version = "0.0.4";
  if (model.host) {
    metadata.attributes.push_back(make_string("schema", model.host->schema));
    if (!model.host->time.empty()) metadata.attributes.push_back(make_string("time", model.host->time));
    if (model.host->pid >= 0) metadata.attributes.push_back(make_int64("pid", model.host->pid));
    if (model.host->start_ts >= 0) metadata.attributes.push_back(make_int64("start_ts", model.host->start_ts));
    if (model.host->finish_ts >= 0) metadata.attributes.push_back(make_int64("finish_ts", model.host->finish_ts));
  }
  if (model.rank) metadata.attributes.push_back(make_int64("rank", *model.rank));
  metadata.attributes.push_back(make_string("layout", std::string(layout)));
  for (const Attribute& attribute : metadata.attributes) {
    if (!is_consistent(attribute)) throw ChakraError("metadata: " + attribute.name + " is not UTF-8");
  }
  return metadata;
}

}  // namespace

TracePtr write_nodes(const LinkedModel& model, std::uint32_t count, std::string_view layout, unsigned threads,
                     const std::function<void(NodeWriter& writer, std::uint32_t n)>& write) {
  constexpr std::uint32_t block_nodes = 4096;
  const std::vector<std::uint64_t> tids = lane_tids(model);
  detail::TraceAssembly assembly;
  assembly.make_room(count);
  std::deque<NodeWriter> writers;
  std::vector<NodeWriter*> idle;
  std::deque<detail::RowBlock*> blocks;
  std::mutex mutex;  // of all the above
  const auto take_block = [&](std::size_t number) {
    const std::size_t begin = number * block_nodes;
    if (begin >= count) return false;
    const std::lock_guard lock(mutex);
    blocks.push_back(&assembly.take_block(std::min<std::size_t>(block_nodes, count - begin)));
    return true;
  };
  const auto fill_block = [&](std::size_t number) {
    const auto [writer, block] = [&] {
      const std::lock_guard lock(mutex);
      if (idle.empty()) idle.push_back(&writers.emplace_back(model, tids));
      NodeWriter* const taken = idle.back();
      idle.pop_back();
      return std::pair(taken, blocks[number]);
    }();
    writer->use(*block);
    const auto begin = static_cast<std::uint32_t>(number) * block_nodes;
    for (std::uint32_t n = begin; n < std::min(count, begin + block_nodes); ++n) write(*writer, n);
    const std::lock_guard lock(mutex);
    idle.push_back(writer);
    assembly.close_block(*block);
  };
  parallel_pull(threads, take_block, fill_block);

  detail::TraceStorage& storage = assembly.storage();
  storage.metadata = metadata_of(model, layout);
  storage.metadata_record = wire::encode_metadata(storage.metadata);
  for (const NodeWriter& writer : writers) storage.sources.push_back(writer.records());
  return assembly.finish(OnError::strict, threads);
}

}  // namespace chakra::pytorch
