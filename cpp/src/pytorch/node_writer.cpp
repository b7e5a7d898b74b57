// SPDX-License-Identifier: MIT
#include "pytorch/node_writer.hpp"

#include <charconv>
#include <utility>

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

NodeWriter::NodeWriter(const LinkedModel& model) : model_(model), lane_tids_(lane_tids(model)) {}

void NodeWriter::begin(NodeId id, std::string_view name, NodeType type, std::int64_t start_ns,
                       std::int64_t duration_ns) {
  spec_ = {};
  spec_.id = id;
  spec_.name = name;
  spec_.type = type;
  spec_.start_ns = static_cast<std::uint64_t>(start_ns);
  spec_.duration_ns = static_cast<std::uint64_t>(duration_ns);
  data_deps_.clear();
  ctrl_deps_.clear();
  attributes_.clear();
  has_tensors_ = false;
}

void NodeWriter::add_host_attributes(const HostNode& node) {
  add(make_uint64("rf_id", node.rf_id));
  add(make_uint64("fw_parent", node.fw_parent));
  add(make_int64("seq_id", node.seq_id));
  add(make_uint64("scope", node.scope));
  add(make_uint64("tid", node.tid));
  add(make_uint64("fw_tid", node.fw_tid));
  add(make_string("op_schema", std::string(view_or_empty(model_.host->strings, node.op_schema))));
}

void NodeWriter::add_event_attributes(std::uint32_t event) {
  const DeviceEvent& item = model_.device->events[event];
  if (item.record_function_id != 0) add(make_uint64("rf_id", item.record_function_id));
  if (item.op != no_row && model_.device->ops[item.op].sequence_number >= 0) {
    add(make_int64("seq_id", model_.device->ops[item.op].sequence_number));
  }
  const std::uint32_t frame = model_.tree.frame_of_event[event];
  if (frame != no_row) add(make_uint64("tid", lane_tid(model_.tree.frames[frame].lane)));
}

void NodeWriter::add_is_cpu_op(bool value) { add(make_bool("is_cpu_op", value)); }

void NodeWriter::add_copied_bytes(std::uint32_t event) {
  const std::uint32_t copy = model_.device->events[event].copy;
  if (copy != no_row) add(make_uint64("tensor_size", static_cast<std::uint64_t>(model_.device->copy_bytes[copy])));
}

void NodeWriter::add_communication(const Communication& comm) {
  if (comm.collective) add(make_int64("comm_type", static_cast<std::int64_t>(*comm.collective)));
  if (comm.size_bytes >= 0) add(make_int64("comm_size", comm.size_bytes));
  if (comm.source >= 0) add(make_int64("comm_src", comm.source));
  if (comm.destination >= 0) add(make_int64("comm_dst", comm.destination));
  if (comm.tag >= 0) add(make_int64("comm_tag", comm.tag));
  if (!comm.group.empty()) add(make_string("pg_name", comm.group));
  if (comm.sequence >= 0) add(make_int64("comm_seq", comm.sequence));
}

std::string_view NodeWriter::view_or_empty(const StringPool& strings, std::uint32_t id) {
  return id == no_string ? std::string_view{} : strings.view(id);
}

void NodeWriter::add_tensors(std::uint32_t node, std::uint32_t event) {
  if (node != no_row) {
    const HostNode& host = model_.host->nodes[node];
    set_io(inputs_, model_.host->strings, host.inputs.values, host.inputs.shapes, host.inputs.types);
    set_io(outputs_, model_.host->strings, host.outputs.values, host.outputs.shapes, host.outputs.types);
    has_tensors_ = true;
  } else if (event != no_row && model_.device->events[event].op != no_row) {
    const OpArguments& op = model_.device->ops[model_.device->events[event].op];
    set_io(inputs_, model_.device->strings, op.concrete_inputs, op.input_dims, op.input_types);
    outputs_ = {};
    has_tensors_ = true;
  }
}

void NodeWriter::set_io(IoInfo& io, const StringPool& strings, std::uint32_t values, std::uint32_t shapes,
                        std::uint32_t types) {
  io.values = view_or_empty(strings, values);
  io.shapes = view_or_empty(strings, shapes);
  io.types = view_or_empty(strings, types);
}

bool NodeWriter::write_groups(NodeId id) {
  if (model_.groups.empty()) return false;
  begin(id, "## process_group:init ##", NodeType::metadata, 0, 0);
  add_is_cpu_op(true);
  inputs_ = {"[" + python_string(groups_as_json(model_.groups)) + "]", "[[]]", "['String']"};
  outputs_ = {"[]", "[]", "[]"};
  has_tensors_ = true;
  finish();
  return true;
}

void NodeWriter::finish() {
  spec_.data_deps = data_deps_;
  spec_.ctrl_deps = ctrl_deps_;
  spec_.attributes = attributes_;
  spec_.inputs = has_tensors_ ? &inputs_ : nullptr;
  spec_.outputs = has_tensors_ ? &outputs_ : nullptr;
  builder_.add_node(spec_);
}

void NodeWriter::set_metadata(std::string_view layout) {
  Metadata metadata;
  metadata.version = "0.0.4";
  if (model_.host) {
    metadata.attributes.push_back(make_string("schema", model_.host->schema));
    if (!model_.host->time.empty()) metadata.attributes.push_back(make_string("time", model_.host->time));
    if (model_.host->pid >= 0) metadata.attributes.push_back(make_int64("pid", model_.host->pid));
    if (model_.host->start_ts >= 0) metadata.attributes.push_back(make_int64("start_ts", model_.host->start_ts));
    if (model_.host->finish_ts >= 0) metadata.attributes.push_back(make_int64("finish_ts", model_.host->finish_ts));
  }
  if (model_.rank) metadata.attributes.push_back(make_int64("rank", *model_.rank));
  metadata.attributes.push_back(make_string("layout", std::string(layout)));
  builder_.set_metadata(std::move(metadata));
}

TracePtr NodeWriter::build(std::string_view layout) {
  set_metadata(layout);
  return builder_.build();
}

}  // namespace chakra::pytorch
