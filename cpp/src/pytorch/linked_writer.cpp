// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "io/json_text.hpp"
#include "io/output_file.hpp"
#include "pytorch/linked_file.hpp"
#include "pytorch/node_writer.hpp"
#include "pytorch/ops_graph.hpp"
#include "pytorch/repr_to_json.hpp"

namespace chakra::pytorch {

namespace {

constexpr std::size_t write_size = std::size_t{1} << 20;

constexpr std::array<std::string_view, 7> categories = {
    "cpu_op", "user_annotation", "cuda_runtime", "kernel", "gpu_memcpy", "gpu_memset", "cuda_sync",
};

// An object that is written member by member.
class JsonObject {
 public:
  explicit JsonObject(std::string& out) : out_(out) { out_ += '{'; }
  JsonObject(const JsonObject&) = delete;
  JsonObject& operator=(const JsonObject&) = delete;
  ~JsonObject() { out_ += '}'; }

  std::string& key(std::string_view name) {
    if (!std::exchange(first_, false)) out_ += ", ";
    io::append_json_string(out_, name);
    return out_ += ": ";
  }
  void text(std::string_view name, std::string_view value) { io::append_json_string(key(name), value); }
  template <class Integer>
  void integer(std::string_view name, Integer value) {
    key(name) += std::to_string(value);
  }
  /// Leaves out what is absent.
  void known(std::string_view name, std::int64_t value, std::int64_t absent) {
    if (value != absent) integer(name, value);
  }
  void known(std::string_view name, const StringPool& strings, std::uint32_t id) {
    if (id != no_string) text(name, strings.view(id));
  }
  /// Nanoseconds as microseconds, exactly.
  void micros(std::string_view name, std::int64_t ns) { append_micros(key(name), ns); }

  static void append_micros(std::string& out, std::int64_t ns) {
    const bool negative = ns < 0;
    const std::uint64_t size = negative ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
    const std::string fraction = std::to_string(1000 + size % 1000);
    if (negative) out += '-';
    out += std::to_string(size / 1000) + '.' + fraction.substr(1);
  }

 private:
  std::string& out_;
  bool first_ = true;
};

bool is_integer_text(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  return !digits.empty() && digits.size() < 20 && (digits == "0" || digits.front() != '0') &&
         std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
}

class LinkedWriter {
 public:
  LinkedWriter(const LinkedModel& model, io::OutputFile& file)
      : model_(model), graph_(build_ops_graph(model)), lane_tids_(lane_tids(model)), file_(file) {
    if (!model.device) return;
    sources_.resize(graph_.nodes.size());
    for (std::uint32_t w = 0; w < graph_.waits.size(); ++w) sources_[graph_.waits[w].target].push_back(w);
    pieces_of_op_.resize(model.tree.frames.size());
    for (std::uint32_t p = 0; p < model.pieces.pieces.size(); ++p) {
      const std::uint32_t op = model.pieces.pieces[p].op;
      if (op != no_row) pieces_of_op_[op].push_back(p);
    }
  }

  void run() {
    {
      JsonObject document(out_);
      write_header(document);
      document.key("nodes") += "[\n";
      for (std::uint32_t n = 0; n < graph_.nodes.size(); ++n) {
        if (n > 0) out_ += ",\n";
        write_node(n);
        flush_if_full();
      }
      out_ += "\n]";
      if (model_.device) write_device(document, *model_.device);
    }
    out_ += '\n';
    file_.write(out_);
  }

 private:
  void flush_if_full() {
    if (out_.size() < write_size) return;
    file_.write(out_);
    out_.clear();
  }

  void write_header(JsonObject& document) {
    {
      document.key(linked_key);
      JsonObject header(out_);
      header.integer("version", linked_version);
      if (model_.rank) header.integer("rank", *model_.rank);
      header.key("host") += model_.host ? "true" : "false";
      header.key("device") += model_.device ? "true" : "false";
      header.micros("origin_ts", model_.tree.origin_ns);
      if (model_.node_times.only) write_event_waits(header);
    }
    document.text("schema", model_.host ? model_.host->schema : "1.1.1-chakra.0.0.4");
    document.integer("pid", model_.host ? model_.host->pid : -1);
    document.text("time", model_.host ? model_.host->time : "");
    document.integer("start_ts", model_.host ? model_.host->start_ts : -1);
    document.integer("finish_ts", model_.host ? model_.host->finish_ts : -1);
  }

  // Of a trace that another linker made: what waits for what, by the rows of its events.
  void write_event_waits(JsonObject& header) {
    header.key("event_waits") += '[';
    for (std::size_t w = 0; w < model_.node_times.waits.size(); ++w) {
      const NodeWait& wait = model_.node_times.waits[w];
      if (w > 0) out_ += ", ";
      out_ += "[" + std::to_string(wait.source) + ", " + std::to_string(wait.target) + "]";
    }
    out_ += ']';
  }

  // --- nodes, as today's converter knows them ---

  void write_node(std::uint32_t n) {
    const OpsNode& node = graph_.nodes[n];
    const bool on_device = node.kind == OpsKind::work || node.kind == OpsKind::comm;
    JsonObject json(out_);
    json.integer("id", n);
    json.text("name", OpsGraph::name_of(model_, node));
    json.integer("ctrl_deps", parent_of(n));
    if (node.kind == OpsKind::host) write_origin(json, node.index);
    write_op(json, node);
    if (!model_.device || (node.frame == no_row && !on_device && node.comm == no_row)) return;
    write_times(json, node);
    if (on_device) {
      write_device_fields(json, node);
    } else {
      write_waits(json, n);
      if (node.frame != no_row) write_cuts(json, node.frame);
    }
  }

  // A node without a caller is its own, as the root of a host trace is; device work hangs under the first thread.
  std::uint32_t parent_of(std::uint32_t n) {
    if (graph_.nodes[n].parent != no_row) return graph_.nodes[n].parent;
    if (graph_.nodes[n].kind != OpsKind::work) return n;
    return first_thread_root().value_or(n);
  }

  std::optional<std::uint32_t> first_thread_root() {
    if (!root_searched_) {
      root_searched_ = true;
      const auto is_root = [this](const OpsNode& node) {
        return node.kind == OpsKind::host && OpsGraph::name_of(model_, node).ends_with("|thread]");
      };
      const auto found = std::find_if(graph_.nodes.begin(), graph_.nodes.end(), is_root);
      if (found != graph_.nodes.end()) root_ = static_cast<std::uint32_t>(found - graph_.nodes.begin());
    }
    return root_;
  }

  // Where the node stands in the host trace, so that it can be read back.
  void write_origin(JsonObject& json, std::uint32_t row) {
    const HostNode& node = model_.host->nodes[row];
    json.key("host") += "[" + std::to_string(row) + ", " + std::to_string(node.id) + ", " +
                        (node.parent == no_host_id ? "null" : std::to_string(node.parent)) + "]";
  }

  // What a node has of its op: for device work that of the op that launched it.
  void write_op(JsonObject& json, const OpsNode& node) {
    const std::uint32_t frame = OpsGraph::owner_of(model_, node);
    std::uint32_t host = node.kind == OpsKind::host ? node.index : no_row;
    std::uint32_t event = no_row;
    if (frame != no_row && host == no_row) {
      event = model_.tree.frames[frame].event;
      host = model_.match.node_of_event[event];
    }
    if (host != no_row) {
      write_host_op(json, model_.host->nodes[host]);
    } else {
      write_event_op(json, event, frame);
    }
  }

  void write_list(JsonObject& json, std::string_view name, const StringPool& strings, std::uint32_t id) {
    if (id == no_string) return;
    append_repr_as_json(json.key(name), strings.view(id));
  }

  void write_io(JsonObject& json, std::string_view name, const StringPool& strings, const HostIo& io) {
    json.key(name);
    JsonObject lists(out_);
    write_list(lists, "values", strings, io.values);
    write_list(lists, "shapes", strings, io.shapes);
    write_list(lists, "types", strings, io.types);
  }

  // One entry of `attrs`.
  class AttributeList {
   public:
    explicit AttributeList(std::string& out) : out_(out) { out_ += '['; }
    AttributeList(const AttributeList&) = delete;
    AttributeList& operator=(const AttributeList&) = delete;
    ~AttributeList() { out_ += ']'; }

    template <class Integer>
    void integer(std::string_view name, std::string_view type, Integer value) {
      JsonObject entry(next());
      entry.text("name", name);
      entry.text("type", type);
      entry.integer("value", value);
    }
    void text(std::string_view name, std::string_view value) {
      JsonObject entry(next());
      entry.text("name", name);
      entry.text("type", "string");
      entry.text("value", value);
    }
    std::string& next() {
      if (!std::exchange(first_, false)) out_ += ", ";
      return out_;
    }

   private:
    std::string& out_;
    bool first_ = true;
  };

  void write_host_op(JsonObject& json, const HostNode& node) {
    const StringPool& strings = model_.host->strings;
    write_io(json, "inputs", strings, node.inputs);
    write_io(json, "outputs", strings, node.outputs);
    AttributeList attrs(json.key("attrs"));
    attrs.integer("rf_id", "uint64", node.rf_id);
    attrs.integer("fw_parent", "uint64", node.fw_parent);
    attrs.integer("seq_id", "int64", node.seq_id);
    attrs.integer("scope", "uint64", node.scope);
    attrs.integer("tid", "uint64", node.tid);
    attrs.integer("fw_tid", "uint64", node.fw_tid);
    attrs.text("op_schema", node.op_schema == no_string ? std::string_view() : strings.view(node.op_schema));
    for (std::uint32_t i = 0; i < node.attribute_count; ++i) {
      write_attribute(attrs.next(), model_.host->attributes[node.first_attribute + i]);
    }
  }

  void write_attribute(std::string& out, const HostAttribute& attribute) {
    const StringPool& strings = model_.host->strings;
    JsonObject entry(out);
    entry.known("name", strings, attribute.name);
    entry.known("type", strings, attribute.type);
    if (attribute.value == no_string) return;
    const std::string_view value = strings.view(attribute.value);
    const bool is_text = attribute.type != no_string && strings.view(attribute.type) == "string";
    if (!is_text && (is_integer_text(value) || value == "true" || value == "false")) {
      entry.key("value") += value;
    } else {
      entry.text("value", value);
    }
  }

  void write_event_op(JsonObject& json, std::uint32_t event, std::uint32_t frame) {
    static constexpr OpArguments nothing;
    const bool has_arguments = event != no_row && model_.device->events[event].op != no_row;
    const OpArguments& op = has_arguments ? model_.device->ops[model_.device->events[event].op] : nothing;
    {
      json.key("inputs");
      JsonObject lists(out_);
      write_argument(lists, "values", op.concrete_inputs);
      write_argument(lists, "shapes", op.input_dims);
      write_argument(lists, "types", op.input_types);
    }
    json.key("outputs") += R"({"values": [], "shapes": [], "types": []})";
    AttributeList attrs(json.key("attrs"));
    attrs.integer("rf_id", "uint64", event == no_row ? 0 : model_.device->events[event].record_function_id);
    attrs.integer("fw_parent", "uint64", 0);
    attrs.integer("seq_id", "int64", op.sequence_number);
    attrs.integer("scope", "uint64", 0);
    attrs.integer("tid", "uint64", frame == no_row ? 0 : lane_tids_[model_.tree.frames[frame].lane]);
    attrs.integer("fw_tid", "uint64", 0);
    attrs.text("op_schema", "");
  }

  void write_argument(JsonObject& lists, std::string_view name, std::uint32_t id) {
    if (id == no_string) {
      lists.key(name) += "[]";
    } else {
      write_list(lists, name, model_.device->strings, id);
    }
  }

  void write_times(JsonObject& json, const OpsNode& node) {
    std::int64_t inclusive = node.duration_ns;
    if (node.frame != no_row) {
      inclusive = model_.tree.frames[node.frame].end_ns - model_.tree.frames[node.frame].start_ns;
    }
    json.micros("inclusive_dur", inclusive);
    json.micros("exclusive_dur", node.duration_ns);
    json.micros("ts", model_.tree.origin_ns + node.start_ns);
  }

  void write_device_fields(JsonObject& json, const OpsNode& node) {
    json.text("ph", "X");
    if (node.kind == OpsKind::comm) {
      json.text("cat", "user_annotation");
    } else {
      const DeviceWork& work = model_.launches.work[node.index];
      json.text("cat", categories[static_cast<std::size_t>(model_.device->events[work.event].kind)]);
      const std::int64_t stream = model_.launches.streams[work.stream].stream;
      json.known("stream", stream, no_stream);
      const std::uint32_t release = model_.pieces.release_of_work[node.index];
      if (release != no_row) json.micros("release_ts", model_.tree.origin_ns + model_.pieces.pieces[release].end_ns);
    }
    const Communication* comm = OpsGraph::communication_of(model_, node);
    if (comm != nullptr && !comm->group.empty()) json.text("pg_name", comm->group);
  }

  // `sync_dep` names device work, `inter_thread_dep` an op of another thread.
  void write_waits(JsonObject& json, std::uint32_t n) {
    std::string synchronised;
    std::uint32_t other_thread = no_row;
    for (const std::uint32_t w : sources_[n]) {
      const OpsWait& wait = graph_.waits[w];
      if (wait.kind == PieceWaitKind::device || wait.kind == PieceWaitKind::comm) {
        if (!synchronised.empty()) synchronised += ", ";
        synchronised += std::to_string(wait.source);
      } else if (other_thread == no_row) {
        other_thread = wait.source;
      }
    }
    if (!synchronised.empty()) json.key("sync_dep") += "[" + synchronised + "]";
    json.key("inter_thread_dep") += other_thread == no_row ? "null" : std::to_string(other_thread);
  }

  // [kind, start, end, own time from]: see Piece.
  void write_cuts(JsonObject& json, std::uint32_t frame) {
    if (pieces_of_op_[frame].size() < 2) return;
    json.key("cuts") += '[';
    for (std::size_t i = 0; i < pieces_of_op_[frame].size(); ++i) {
      const Piece& piece = model_.pieces.pieces[pieces_of_op_[frame][i]];
      if (i > 0) out_ += ", ";
      out_ += "[\"" + std::string(to_string(piece.kind)) + '"';
      for (const std::int64_t ns : {piece.start_ns, piece.end_ns, piece.busy_from_ns}) {
        out_ += ", ";
        JsonObject::append_micros(out_, model_.tree.origin_ns + ns);
      }
      out_ += ']';
    }
    out_ += ']';
  }

  // --- the device trace ---

  void write_device(JsonObject& document, const DeviceTrace& device) {
    document.text("traceName", device.trace_name);
    document.integer("baseTimeNanoseconds", device.base_time_ns);
    write_distributed(document, device.distributed);
    document.key("traceEvents") += "[\n";
    // Threads are numbered as they come; flows go where they keep the numbers.
    std::size_t flow = 0;
    std::uint32_t threads = 0;
    const auto write_flows_until = [&](std::uint32_t thread) {
      for (; flow < device.flows.size() && threads < thread; ++flow) {
        threads = std::max(threads, device.flows[flow].thread + 1);
        write_flow(device, device.flows[flow]);
      }
    };
    for (const DeviceEvent& event : device.events) {
      write_flows_until(event.thread);
      threads = std::max(threads, event.thread + 1);
      write_event(device, event);
    }
    for (; flow < device.flows.size(); ++flow) write_flow(device, device.flows[flow]);
    out_ += "\n]";
  }

  void begin_event() {
    if (!std::exchange(first_event_, false)) out_ += ",\n";
    flush_if_full();
  }

  static void write_thread(JsonObject& json, const DeviceTrace& device, std::uint32_t thread) {
    json.text("pid", device.strings.view(device.threads[thread].pid));
    json.text("tid", device.strings.view(device.threads[thread].tid));
  }

  void write_flow(const DeviceTrace& device, const FlowPoint& flow) {
    begin_event();
    JsonObject json(out_);
    json.text("ph", flow.finish ? "f" : "s");
    json.text("cat", "fwdbwd");
    json.text("name", "fwdbwd");
    json.integer("id", flow.id);
    write_thread(json, device, flow.thread);
    json.micros("ts", flow.time_ns);
  }

  void write_event(const DeviceTrace& device, const DeviceEvent& event) {
    begin_event();
    JsonObject json(out_);
    json.text("ph", "X");
    json.text("cat", categories[static_cast<std::size_t>(event.kind)]);
    json.text("name", device.strings.view(event.name));
    write_thread(json, device, event.thread);
    json.micros("ts", event.start_ns);
    json.micros("dur", event.duration_ns);
    json.key("args");
    JsonObject args(out_);
    if (event.external_id != 0) args.integer("External id", event.external_id);
    if (event.record_function_id != 0) args.integer("Record function id", event.record_function_id);
    if (event.correlation != 0) args.integer("correlation", event.correlation);
    args.known("stream", event.stream, no_stream);
    args.known("device", event.device, -1);
    if (event.copy != no_row) args.integer("bytes", device.copy_bytes[event.copy]);
    if (event.op != no_row) write_op_arguments(args, device.strings, device.ops[event.op]);
    if (event.comm != no_row) write_comm_arguments(args, device.strings, device.communications[event.comm]);
    if (event.sync != no_row) write_sync_arguments(args, device.strings, device.syncs[event.sync]);
  }

  // One number is always written, so that the row is there again when it is read.
  static void write_op_arguments(JsonObject& args, const StringPool& strings, const OpArguments& op) {
    args.known("Input Dims", strings, op.input_dims);
    args.known("Input type", strings, op.input_types);
    args.known("Concrete Inputs", strings, op.concrete_inputs);
    args.integer("Sequence number", op.sequence_number);
    args.known("Fwd thread id", op.forward_thread, -1);
  }

  static void write_comm_arguments(JsonObject& args, const StringPool& strings, const CommArguments& comm) {
    args.known("Collective name", strings, comm.collective_name);
    args.known("dtype", strings, comm.dtype);
    args.known("In msg nelems", comm.in_elements, -1);
    args.known("Out msg nelems", comm.out_elements, -1);
    args.known("In split size", strings, comm.in_split);
    args.known("Out split size", strings, comm.out_split);
    args.known("Group size", comm.group_size, -1);
    args.known("Process Group Name", strings, comm.group_name);
    args.known("Process Group Description", strings, comm.group_description);
    args.known("Process Group Ranks", strings, comm.group_ranks);
    args.known("Global rank start", comm.global_rank_start, -1);
    args.known("Global rank stride", comm.global_rank_stride, -1);
    args.integer("Seq", comm.sequence);
    args.known("Rank", comm.rank, -1);
    args.known("Src Rank", comm.source_rank, -1);
    args.known("Dst Rank", comm.destination_rank, -1);
  }

  static void write_sync_arguments(JsonObject& args, const StringPool& strings, const SyncArguments& sync) {
    args.known("cuda_sync_kind", strings, sync.kind);
    args.known("wait_on_stream", sync.wait_on_stream, no_stream);
    if (sync.wait_on_record != 0) args.integer("wait_on_cuda_event_record_corr_id", sync.wait_on_record);
    args.known("wait_on_cuda_event_id", sync.wait_on_event, -1);
  }

  void write_distributed(JsonObject& document, const DistributedInfo& info) {
    document.key("distributedInfo");
    JsonObject json(out_);
    json.text("backend", info.backend);
    json.integer("rank", info.rank);
    json.integer("world_size", info.world_size);
    json.key("pg_config") += '[';
    for (std::size_t g = 0; g < info.groups.size(); ++g) {
      if (g > 0) out_ += ", ";
      write_group(info.groups[g]);
    }
    out_ += ']';
  }

  void write_group(const ProcessGroup& group) {
    JsonObject json(out_);
    json.text("pg_name", group.name);
    json.text("pg_desc", group.description);
    json.text("backend_config", group.backend);
    json.known("pg_size", group.size, -1);
    json.key("ranks") += '[';
    for (std::size_t i = 0; i < group.ranks.size(); ++i) {
      if (i > 0) out_ += ", ";
      out_ += std::to_string(group.ranks[i]);
    }
    out_ += ']';
  }

  const LinkedModel& model_;
  OpsGraph graph_;
  std::vector<std::uint64_t> lane_tids_;
  io::OutputFile& file_;
  std::string out_;
  std::vector<std::vector<std::uint32_t>> sources_;       // waits by node
  std::vector<std::vector<std::uint32_t>> pieces_of_op_;  // by frame
  std::optional<std::uint32_t> root_;
  bool root_searched_ = false;
  bool first_event_ = true;
};

}  // namespace

}  // namespace chakra::pytorch

namespace chakra {

void save_linked(const LinkedTrace& linked, const std::filesystem::path& path) {
  io::OutputFile file(path, io::choose_encoding(path));
  pytorch::LinkedWriter(linked.model(), file).run();
  file.commit();
}

}  // namespace chakra
