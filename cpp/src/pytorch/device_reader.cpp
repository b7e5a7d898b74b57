// SPDX-License-Identifier: MIT
#include "pytorch/device_reader.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "chakra_core/errors.hpp"
#include "io/json_records.hpp"
#include "pytorch/json_fields.hpp"
#include "pytorch/process_groups.hpp"

namespace chakra::pytorch {

namespace {

constexpr std::int64_t all_streams = 4'294'967'295;  // CUPTI's "no stream in particular", an unsigned -1

constexpr char to_lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Equal but for the case of ASCII letters; `lower` is in lower case.
bool equals_ignoring_case(std::string_view text, std::string_view lower) noexcept {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return to_lower(a) == b; });
}

bool ends_with_ignoring_case(std::string_view text, std::string_view lower) noexcept {
  return text.size() >= lower.size() && equals_ignoring_case(text.substr(text.size() - lower.size()), lower);
}

/// The kind that a category stands for; nullopt for events that are not kept.
std::optional<DeviceEventKind> kind_of(std::string_view category) noexcept {
  const auto is = [&](std::string_view lower) { return equals_ignoring_case(category, lower); };
  if (is("cpu_op") || is("operator")) {
    return DeviceEventKind::cpu_op;
  }
  if (is("user_annotation")) {
    return DeviceEventKind::user_annotation;
  }
  if (is("runtime") || ends_with_ignoring_case(category, "_runtime") || ends_with_ignoring_case(category, "_driver")) {
    return DeviceEventKind::runtime_call;
  }
  if (is("kernel") || is("mtia_ccp_events") || ends_with_ignoring_case(category, "_kernel")) {
    return DeviceEventKind::kernel;
  }
  if (is("gpu_memcpy") || is("memcpy")) {
    return DeviceEventKind::memcpy;
  }
  if (is("gpu_memset") || is("memset")) {
    return DeviceEventKind::memset;
  }
  if (is("cuda_sync")) {
    return DeviceEventKind::sync;
  }
  return std::nullopt;
}

enum class Argument : std::uint8_t {
  external_id,
  record_function_id,
  correlation,
  stream,
  device,
  bytes,
  input_dims,
  input_types,
  concrete_inputs,
  sequence_number,
  forward_thread,
  collective_name,
  dtype,
  in_elements,
  out_elements,
  in_split,
  out_split,
  group_size,
  group_name,
  group_id,
  group_description,
  group_ranks,
  global_rank_start,
  global_rank_stride,
  comm_sequence,
  rank,
  source_rank,
  destination_rank,
  sync_kind,
  wait_on_stream,
  wait_on_record,
  wait_on_event,
};

struct ArgumentName {
  std::string_view lower;
  Argument argument;
};

constexpr std::array argument_names = {
    ArgumentName{"external id", Argument::external_id},
    ArgumentName{"record function id", Argument::record_function_id},
    ArgumentName{"correlation", Argument::correlation},
    ArgumentName{"stream", Argument::stream},
    ArgumentName{"device", Argument::device},
    ArgumentName{"bytes", Argument::bytes},
    ArgumentName{"input dims", Argument::input_dims},
    ArgumentName{"input type", Argument::input_types},
    ArgumentName{"concrete inputs", Argument::concrete_inputs},
    ArgumentName{"sequence number", Argument::sequence_number},
    ArgumentName{"fwd thread id", Argument::forward_thread},
    ArgumentName{"collective name", Argument::collective_name},
    ArgumentName{"dtype", Argument::dtype},
    ArgumentName{"in msg nelems", Argument::in_elements},
    ArgumentName{"out msg nelems", Argument::out_elements},
    ArgumentName{"in split size", Argument::in_split},
    ArgumentName{"out split size", Argument::out_split},
    ArgumentName{"group size", Argument::group_size},
    ArgumentName{"process group name", Argument::group_name},
    ArgumentName{"process group id", Argument::group_id},
    ArgumentName{"process group description", Argument::group_description},
    ArgumentName{"process group ranks", Argument::group_ranks},
    ArgumentName{"global rank start", Argument::global_rank_start},
    ArgumentName{"global rank stride", Argument::global_rank_stride},
    ArgumentName{"seq", Argument::comm_sequence},
    ArgumentName{"rank", Argument::rank},
    ArgumentName{"src rank", Argument::source_rank},
    ArgumentName{"dst rank", Argument::destination_rank},
    ArgumentName{"cuda_sync_kind", Argument::sync_kind},
    ArgumentName{"wait_on_stream", Argument::wait_on_stream},
    ArgumentName{"wait_on_cuda_event_record_corr_id", Argument::wait_on_record},
    ArgumentName{"wait_on_cuda_event_id", Argument::wait_on_event},
};

std::optional<Argument> find_argument(std::string_view key) noexcept {
  if (key.empty()) {
    return std::nullopt;
  }
  const char first = to_lower(key.front());
  for (const ArgumentName& name : argument_names) {
    if (name.lower.size() == key.size() && name.lower.front() == first && equals_ignoring_case(key, name.lower)) {
      return name.argument;
    }
  }
  return std::nullopt;
}

/// What one event says, before it is known whether it is kept. Strings keep their memory from event to event.
struct RawEvent {
  char phase = 0;
  bool known_category = false;
  std::optional<DeviceEventKind> kind;
  bool forward_backward = false;  ///< category "fwdbwd"
  std::string name;
  std::string pid;
  std::string tid;
  std::optional<std::int64_t> start_ns;
  bool has_start = false;
  std::int64_t duration_ns = 0;
  std::uint64_t id = 0;
  std::int64_t bytes = -1;
  DeviceEvent event;
  OpArguments op;
  bool has_op = false;
  CommArguments comm;
  bool has_comm = false;
  bool has_group_name = false;
  SyncArguments sync;
  bool has_sync = false;

  /// Back to nothing known; what was not touched is not written again.
  void clear() {
    phase = 0;
    known_category = false;
    kind.reset();
    forward_backward = false;
    name.clear();
    pid.clear();
    tid.clear();
    start_ns.reset();
    has_start = false;
    duration_ns = 0;
    id = 0;
    bytes = -1;
    event = {};
    if (std::exchange(has_op, false)) {
      op = {};
    }
    if (std::exchange(has_comm, false)) {
      comm = {};
      has_group_name = false;
    }
    if (std::exchange(has_sync, false)) {
      sync = {};
    }
  }
  /// As far as is known, the event will be kept.
  bool may_be_kept() const noexcept {
    return (phase == 0 || phase == 'X' || ((phase == 's' || phase == 'f') && (!known_category || forward_backward))) &&
           (!known_category || kind || forward_backward);
  }
};

class DeviceReader {
 public:
  DeviceReader(io::JsonScanner& scanner, DeviceTrace& trace) : scanner_(scanner), trace_(trace) {}

  void read_event() {
    raw_.clear();
    const std::uint64_t place = scanner_.offset();
    scanner_.enter_object();
    std::string_view key;
    while (scanner_.next_key(key)) {
      read_event_member(key);
    }
    if (raw_.phase == 'X' && raw_.kind) {
      keep_event(place);
    } else if (raw_.forward_backward && (raw_.phase == 's' || raw_.phase == 'f')) {
      keep_flow(place);
    }
  }

  void read_member(std::string_view key) {
    if (key == "traceName") {
      read_text(scanner_, trace_.trace_name);
    } else if (key == "baseTimeNanoseconds") {
      trace_.base_time_ns = read_int64(scanner_).value_or(-1);
    } else if (key == "distributedInfo") {
      read_distributed_info();
    } else {
      scanner_.skip();
    }
  }

 private:
  void read_event_member(std::string_view key) {
    if (key == "ph") {
      read_text(scanner_, text_);
      raw_.phase = text_.empty() ? '\0' : text_.front();
    } else if (key == "cat") {
      read_text(scanner_, text_);
      raw_.known_category = true;
      raw_.kind = kind_of(text_);
      raw_.forward_backward = equals_ignoring_case(text_, "fwdbwd");
    } else if (key == "args") {
      read_arguments();
    } else if (!raw_.may_be_kept()) {
      scanner_.skip();
    } else if (key == "name") {
      read_text(scanner_, raw_.name);
    } else if (key == "pid") {
      read_text(scanner_, raw_.pid);
    } else if (key == "tid") {
      read_text(scanner_, raw_.tid);
    } else if (key == "ts") {
      raw_.has_start = true;
      raw_.start_ns = read_microseconds(scanner_);
    } else if (key == "dur") {
      raw_.duration_ns = read_microseconds(scanner_).value_or(0);
    } else if (key == "id") {
      raw_.id = read_uint64(scanner_).value_or(0);
    } else {
      scanner_.skip();
    }
  }

  void read_arguments() {
    if (!raw_.may_be_kept() || raw_.forward_backward || scanner_.peek() != io::JsonKind::object) {
      scanner_.skip();
      return;
    }
    scanner_.enter_object();
    std::string_view key;
    while (scanner_.next_key(key)) {
      if (const std::optional<Argument> argument = find_argument(key)) {
        read_argument(*argument);
      } else {
        scanner_.skip();
      }
    }
  }

  void read_argument(Argument argument) {
    if (argument <= Argument::bytes) {
      read_common_argument(argument);
    } else if (argument <= Argument::forward_thread) {
      raw_.has_op = true;
      read_op_argument(argument);
    } else if (argument <= Argument::destination_rank) {
      raw_.has_comm = true;
      read_comm_argument(argument);
    } else {
      raw_.has_sync = true;
      read_sync_argument(argument);
    }
  }

  void read_common_argument(Argument argument) {
    switch (argument) {
      case Argument::external_id:
        raw_.event.external_id = read_uint64(scanner_).value_or(0);
        break;
      case Argument::record_function_id:
        raw_.event.record_function_id = read_uint64(scanner_).value_or(0);
        break;
      case Argument::correlation:
        raw_.event.correlation = read_uint64(scanner_).value_or(0);
        break;
      case Argument::stream:
        raw_.event.stream = read_stream();
        break;
      case Argument::bytes:
        raw_.bytes = read_count();
        break;
      default:  // device
        raw_.event.device = static_cast<std::int32_t>(
            std::clamp<std::int64_t>(read_int64(scanner_).value_or(-1), -1, std::numeric_limits<std::int32_t>::max()));
    }
  }

  void read_op_argument(Argument argument) {
    switch (argument) {
      case Argument::input_dims:
        raw_.op.input_dims = read_interned();
        break;
      case Argument::input_types:
        raw_.op.input_types = read_interned();
        break;
      case Argument::concrete_inputs:
        raw_.op.concrete_inputs = read_interned();
        break;
      case Argument::sequence_number:
        raw_.op.sequence_number = read_count();
        break;
      default:  // forward_thread
        raw_.op.forward_thread = read_count();
    }
  }

  void read_comm_argument(Argument argument) {
    CommArguments& comm = raw_.comm;
    switch (argument) {
      case Argument::collective_name:
        comm.collective_name = read_interned();
        break;
      case Argument::dtype:
        comm.dtype = read_interned();
        break;
      case Argument::in_split:
        comm.in_split = read_interned();
        break;
      case Argument::out_split:
        comm.out_split = read_interned();
        break;
      case Argument::group_name:
        comm.group_name = read_interned();
        raw_.has_group_name = true;
        break;
      case Argument::group_id: {
        const std::uint32_t id = read_interned();
        comm.group_name = raw_.has_group_name ? comm.group_name : id;
        break;
      }
      case Argument::group_description:
        comm.group_description = read_interned();
        break;
      case Argument::group_ranks:
        comm.group_ranks = read_interned();
        break;
      default:
        comm_count(argument) = read_count();
    }
  }

  std::int64_t& comm_count(Argument argument) {
    CommArguments& comm = raw_.comm;
    switch (argument) {
      case Argument::in_elements:
        return comm.in_elements;
      case Argument::out_elements:
        return comm.out_elements;
      case Argument::group_size:
        return comm.group_size;
      case Argument::global_rank_start:
        return comm.global_rank_start;
      case Argument::global_rank_stride:
        return comm.global_rank_stride;
      case Argument::comm_sequence:
        return comm.sequence;
      case Argument::rank:
        return comm.rank;
      case Argument::source_rank:
        return comm.source_rank;
      default:
        return comm.destination_rank;
    }
  }

  void read_sync_argument(Argument argument) {
    switch (argument) {
      case Argument::sync_kind:
        raw_.sync.kind = read_interned();
        break;
      case Argument::wait_on_stream:
        raw_.sync.wait_on_stream = read_stream();
        break;
      case Argument::wait_on_record: {
        const std::uint64_t record = read_uint64(scanner_).value_or(0);
        raw_.sync.wait_on_record = record == static_cast<std::uint64_t>(all_streams) ? 0 : record;
        break;
      }
      default: {  // wait_on_event
        const std::int64_t event = read_count();
        raw_.sync.wait_on_event = event == all_streams ? -1 : event;
      }
    }
  }

  /// A stream number; AMD writes the stream of a call as a pointer in a string, which is none.
  std::int64_t read_stream() {
    const std::optional<std::int64_t> stream = read_int64(scanner_);
    if (!stream) {
      return no_stream;
    }
    return *stream == all_streams ? -1 : *stream;
  }

  std::int64_t read_count() { return read_int64(scanner_).value_or(-1); }

  std::uint32_t read_interned() {
    read_text(scanner_, text_);
    return trace_.strings.intern(text_);
  }

  /// Whether the event has a time; an event without one is an error, or lost when recovering.
  bool check_time(std::uint64_t place) {
    if (raw_.start_ns) {
      return true;
    }
    const std::string problem = raw_.has_start ? "event whose \"ts\" is no usable number" : "event without \"ts\"";
    if (!scanner_.recovering()) {
      throw FormatError({.path = scanner_.name(), .record = {}, .offset = place}, problem + " ('" + raw_.name + "')");
    }
    trace_.report.add(problem, place_text(place));
    return false;
  }

  void keep_event(std::uint64_t place) {
    if (!check_time(place)) {
      return;
    }
    DeviceEvent event = raw_.event;
    event.kind = *raw_.kind;
    event.start_ns = *raw_.start_ns;
    event.duration_ns = raw_.duration_ns;
    if (event.duration_ns < 0) {
      trace_.report.add("event with a negative duration, taken as 0", place_text(place));
      event.duration_ns = 0;
    }
    if (event.start_ns > std::numeric_limits<std::int64_t>::max() - event.duration_ns) {
      trace_.report.add("event that ends beyond the range of time, duration taken as 0", place_text(place));
      event.duration_ns = 0;
    }
    if (event.kind == DeviceEventKind::kernel && event.start_ns == 0 && event.duration_ns == 0) {
      trace_.report.add("kernel with timestamp 0", place_text(place));
    }
    event.name = trace_.strings.intern(raw_.name);
    event.thread = thread_row();
    const bool on_cpu = event.kind == DeviceEventKind::cpu_op || event.kind == DeviceEventKind::user_annotation;
    event.op = raw_.has_op && on_cpu ? append(trace_.ops, raw_.op) : no_row;
    event.comm = raw_.has_comm ? append(trace_.communications, raw_.comm) : no_row;
    event.sync = event.kind == DeviceEventKind::sync ? append(trace_.syncs, raw_.sync) : no_row;
    event.copy =
        event.kind == DeviceEventKind::memcpy && raw_.bytes >= 0 ? append(trace_.copy_bytes, raw_.bytes) : no_row;
    trace_.events.push_back(event);
  }

  void keep_flow(std::uint64_t place) {
    if (check_time(place)) {
      trace_.flows.push_back({*raw_.start_ns, raw_.id, thread_row(), raw_.phase == 'f'});
    }
  }

  template <class Row>
  static std::uint32_t append(std::vector<Row>& rows, const Row& row) {
    rows.push_back(row);
    return static_cast<std::uint32_t>(rows.size() - 1);
  }

  std::uint32_t thread_row() {
    const DeviceThread thread{trace_.strings.intern(raw_.pid), trace_.strings.intern(raw_.tid)};
    if (last_thread_ < trace_.threads.size() && trace_.threads[last_thread_].pid == thread.pid &&
        trace_.threads[last_thread_].tid == thread.tid) {
      return last_thread_;
    }
    const std::uint64_t key = (std::uint64_t{thread.pid} << 32) | thread.tid;
    const auto [entry, added] = thread_rows_.try_emplace(key, static_cast<std::uint32_t>(trace_.threads.size()));
    if (added) {
      trace_.threads.push_back(thread);
    }
    last_thread_ = entry->second;
    return last_thread_;
  }

  void read_distributed_info() {
    if (scanner_.peek() != io::JsonKind::object) {
      scanner_.skip();
      return;
    }
    scanner_.enter_object();
    std::string_view key;
    while (scanner_.next_key(key)) {
      if (key == "backend") {
        read_text(scanner_, trace_.distributed.backend);
      } else if (key == "rank") {
        trace_.distributed.rank = read_count();
      } else if (key == "world_size") {
        trace_.distributed.world_size = read_count();
      } else if (key == "pg_config") {
        trace_.distributed.groups = read_process_groups(scanner_);
      } else {
        scanner_.skip();
      }
    }
  }

  io::JsonScanner& scanner_;
  DeviceTrace& trace_;
  RawEvent raw_;
  std::string text_;
  std::unordered_map<std::uint64_t, std::uint32_t> thread_rows_;
  std::uint32_t last_thread_ = 0;
};

io::RecordFormat device_format(bool linked) {
  io::RecordFormat format = {
      .list = "traceEvents",
      .record = "event",
      .first_key = "ph",
      .ambiguous_key = "name",  // metadata events have it in their arguments
      .after_keys = {"traceName", "displayTimeUnit", "baseTimeNanoseconds", "INFO", "distributedInfo",
                     "deviceProperties", "schemaVersion", "otherData", "metadata"},
      .bare_list = true,
      .foreign_keys = {"nodes", "schema"},
      .foreign_problem =
          "this is a host trace (ExecutionTraceObserver); a device trace (Kineto, with \"traceEvents\") "
          "belongs here",
  };
  if (linked) format.foreign_keys.clear();
  return format;
}

}  // namespace

DeviceTrace read_device_trace(const std::filesystem::path& path, const ReadOptions& options) {
  const std::unique_ptr<io::ByteStream> stream = io::open_byte_stream(path);
  return read_device_trace(*stream, path.string(), options);
}

DeviceTrace read_device_trace(io::ByteStream& stream, const std::string& name, const ReadOptions& options,
                              const io::JsonOptions& json) {
  io::JsonOptions scanner_options = json;
  scanner_options.on_error = options.on_error;
  DeviceTrace trace;
  trace.path = name;
  io::JsonScanner scanner(stream, name, scanner_options);
  DeviceReader reader(scanner, trace);
  io::JsonRecords records(stream, scanner, device_format(options.linked), note_in(trace.report), options.progress);
  records.read([&](io::JsonScanner&) { reader.read_event(); },
               [&](io::JsonScanner&, std::string_view key) { reader.read_member(key); });
  return trace;
}

}  // namespace chakra::pytorch
