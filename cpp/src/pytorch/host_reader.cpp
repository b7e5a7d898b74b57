// SPDX-License-Identifier: MIT
#include "pytorch/host_reader.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "chakra_core/errors.hpp"
#include "io/json_records.hpp"
#include "io/python_repr.hpp"
#include "pytorch/json_fields.hpp"

namespace chakra::pytorch {

namespace {

constexpr std::array<std::string_view, 6> known_schemas = {
    "1.0.1",
    "1.0.2-chakra.0.0.4",
    "1.0.3-chakra.0.0.4",
    "1.1.0-chakra.0.0.4",
    "1.1.1-chakra.0.0.4",
    "1.1.1-chakra.1.0.0",
};

class HostReader {
 public:
  /// With `extras` the nodes are those of a linked trace.
  HostReader(io::JsonScanner& scanner, HostTrace& trace, LinkedExtras* extras = nullptr)
      : scanner_(scanner), trace_(trace), extras_(extras) {}

  void read_node() {
    const std::uint64_t place = scanner_.offset();
    node_ = HostNode{};
    attributes_.clear();
    linked_ = {};
    waits_.clear();
    has_id_ = false;
    scanner_.enter_object();
    std::string_view key;
    while (scanner_.next_key(key)) {
      read_node_member(key);
    }
    if (!has_id_) {
      if (!scanner_.recovering()) {
        throw FormatError({.path = scanner_.name(), .record = {}, .offset = place}, "node without a usable \"id\"");
      }
      trace_.report.add("node without a usable \"id\"", place_text(place));
      return;
    }
    keep_node();
  }

  void read_member(std::string_view key) {
    if (key == "schema") {
      read_text(scanner_, trace_.schema);
    } else if (key == "time") {
      read_text(scanner_, trace_.time);
    } else if (key == "pid") {
      trace_.pid = read_int64(scanner_).value_or(-1);
    } else if (key == "start_ts") {
      trace_.start_ts = read_int64(scanner_).value_or(-1);
    } else if (key == "finish_ts") {
      trace_.finish_ts = read_int64(scanner_).value_or(-1);
    } else if (extras_ != nullptr && key == linked_key) {
      read_linked_header();
    } else {
      scanner_.skip();
    }
  }

  /// What is odd about the file as a whole but stops nobody.
  void report_oddities() {
    if (std::find(known_schemas.begin(), known_schemas.end(), trace_.schema) == known_schemas.end()) {
      trace_.report.add("unknown schema \"" + trace_.schema + "\", read like the known ones");
    }
    if (trace_.finish_ts == -1) {
      trace_.report.add("no finish_ts: the collection was interrupted");
    }
  }

 private:
  void read_node_member(std::string_view key) {
    if (key == "id") {
      const std::optional<std::uint64_t> id = read_uint64(scanner_);
      has_id_ = id.has_value();
      node_.id = id.value_or(0);
    } else if (key == "name") {
      node_.name = read_interned();
    } else if (key == "ctrl_deps" || key == "parent") {
      read_parent();
    } else if (key == "inputs") {
      read_io(node_.inputs);
    } else if (key == "outputs") {
      read_io(node_.outputs);
    } else if (key == "attrs") {
      read_attributes();
    } else if (key.starts_with("input_") || key.starts_with("output_")) {
      read_old_io(key);
    } else if (!(extras_ != nullptr && read_linked_member(key)) && !read_field(key)) {
      scanner_.skip();
    }
  }

  void read_linked_header() {
    if (scanner_.peek() != io::JsonKind::object) {
      scanner_.skip();
      return;
    }
    scanner_.enter_object();
    std::string_view key;
    while (scanner_.next_key(key)) {
      if (key == "version") {
        extras_->version = read_int64(scanner_).value_or(-1);
      } else if (key == "rank") {
        extras_->rank = read_int64(scanner_);
      } else if (key == "host") {
        extras_->host = read_truth();
      } else if (key == "device") {
        extras_->device = read_truth();
      } else if (key == "event_waits") {
        read_event_waits();
      } else {
        scanner_.skip();
      }
    }
  }

  void read_event_waits() {
    extras_->event_waits.emplace();
    if (scanner_.peek() != io::JsonKind::array) {
      scanner_.skip();
      return;
    }
    scanner_.enter_array();
    while (scanner_.next_element()) {
      const std::array<std::optional<std::uint64_t>, 3> pair = read_numbers();
      if (pair[0] && pair[1]) extras_->event_waits->push_back({*pair[0], *pair[1]});
    }
  }

  bool read_truth() {
    if (scanner_.peek() == io::JsonKind::boolean) return scanner_.read_boolean();
    scanner_.skip();
    return false;
  }

  /// What only a linked trace has; false if `key` is nothing of that.
  bool read_linked_member(std::string_view key) {
    if (key == "host") {
      read_origin();
    } else if (key == "ts") {
      const std::optional<std::int64_t> start = read_microseconds(scanner_);
      linked_.has_time = start.has_value();
      linked_.start_ns = start.value_or(0);
    } else if (key == "inclusive_dur") {
      linked_.duration_ns = std::max<std::int64_t>(0, read_microseconds(scanner_).value_or(0));
    } else if (key == "cat") {
      linked_.category = read_interned();
    } else if (key == "stream") {
      linked_.stream = read_int64(scanner_).value_or(0);
    } else if (key == "pg_name") {
      linked_.group = read_interned();
    } else if (key == "inter_thread_dep" || key == "sync_dep") {
      read_waits();
    } else {
      return false;
    }
    return true;
  }

  /// Ids of nodes that this one waits for: one, several, or null.
  void read_waits() {
    if (scanner_.peek() != io::JsonKind::array) {
      note_wait(read_uint64(scanner_));
      return;
    }
    scanner_.enter_array();
    while (scanner_.next_element()) note_wait(read_uint64(scanner_));
  }

  void note_wait(std::optional<std::uint64_t> source) {
    if (source) waits_.push_back(*source);
  }

  /// Row, id and parent in the host trace.
  void read_origin() {
    const std::array<std::optional<std::uint64_t>, 3> values = read_numbers();
    if (!values[0] || !values[1]) return;
    linked_.from_host = true;
    linked_.row = *values[0];
    linked_.host_id = *values[1];
    linked_.host_parent = values[2].value_or(no_host_id);
  }

  /// The first numbers of an array.
  std::array<std::optional<std::uint64_t>, 3> read_numbers() {
    std::array<std::optional<std::uint64_t>, 3> values;
    if (scanner_.peek() != io::JsonKind::array) {
      scanner_.skip();
      return values;
    }
    std::size_t count = 0;
    scanner_.enter_array();
    while (scanner_.next_element()) {
      const std::optional<std::uint64_t> value = read_uint64(scanner_);
      if (count < values.size()) values[count] = value;
      ++count;
    }
    return values;
  }

  /// A field that 1.0.1 has in the node and later schemas have in `attrs`; false if `name` is none of them.
  bool read_field(std::string_view name) {
    if (name == "seq_id") {
      node_.seq_id = read_int64(scanner_).value_or(-1);
    } else if (name == "op_schema") {
      node_.op_schema = read_interned();
    } else if (std::uint64_t* const field = number_field(name)) {
      *field = read_uint64(scanner_).value_or(0);
    } else {
      return false;
    }
    return true;
  }

  std::uint64_t* number_field(std::string_view name) noexcept {
    if (name == "rf_id") {
      return &node_.rf_id;
    }
    if (name == "fw_parent") {
      return &node_.fw_parent;
    }
    if (name == "scope") {
      return &node_.scope;
    }
    if (name == "tid") {
      return &node_.tid;
    }
    return name == "fw_tid" ? &node_.fw_tid : nullptr;
  }

  void read_parent() {
    if (scanner_.peek() != io::JsonKind::array) {
      node_.parent = read_uint64(scanner_).value_or(no_host_id);
      return;
    }
    scanner_.enter_array();
    while (scanner_.next_element()) {
      const std::uint64_t parent = read_uint64(scanner_).value_or(no_host_id);
      node_.parent = node_.parent == no_host_id ? parent : node_.parent;
    }
  }

  void read_io(HostIo& io) {
    if (scanner_.peek() != io::JsonKind::object) {
      io.values = read_interned_list();
      return;
    }
    scanner_.enter_object();
    std::string_view key;
    while (scanner_.next_key(key)) {
      if (std::uint32_t* const field = io_field(io, key)) {
        *field = read_interned_list();
      } else {
        scanner_.skip();
      }
    }
  }

  /// "input_shapes" and the like.
  void read_old_io(std::string_view key) {
    HostIo& io = key.starts_with("input_") ? node_.inputs : node_.outputs;
    if (std::uint32_t* const field = io_field(io, key.substr(key.find('_') + 1))) {
      *field = read_interned_list();
    } else {
      scanner_.skip();
    }
  }

  static std::uint32_t* io_field(HostIo& io, std::string_view key) noexcept {
    if (key == "values") {
      return &io.values;
    }
    if (key == "shapes") {
      return &io.shapes;
    }
    return key == "types" ? &io.types : nullptr;
  }

  void read_attributes() {
    if (scanner_.peek() != io::JsonKind::array) {
      scanner_.skip();
      return;
    }
    scanner_.enter_array();
    while (scanner_.next_element()) {
      if (scanner_.peek() == io::JsonKind::object) {
        read_attribute();
      } else {
        scanner_.skip();
      }
    }
  }

  void read_attribute() {
    name_.clear();
    HostAttribute attribute;
    bool done = false;  // the value went into a field of the node
    scanner_.enter_object();
    std::string_view key;
    while (scanner_.next_key(key)) {
      if (key == "name") {
        read_text(scanner_, name_);
      } else if (key == "type") {
        attribute.type = read_interned();
      } else if (key != "value") {
        scanner_.skip();
      } else if (!name_.empty() && read_field(name_)) {
        done = true;
      } else {
        attribute.value = read_attribute_value();
      }
    }
    if (done || name_.empty()) {
      return;
    }
    if (attribute.value != no_string && set_field(trace_.strings.view(attribute.value))) {
      return;
    }
    attribute.name = trace_.strings.intern(name_);
    attributes_.push_back(attribute);
  }

  /// Sets the field named `name_` from a value that came before its name; false if there is no such field.
  bool set_field(std::string_view value) {
    if (name_ == "op_schema") {
      node_.op_schema = trace_.strings.intern(value);
      return true;
    }
    const std::string text(value);
    const io::JsonNumber number = io::parse_json_number(text.data(), text.data() + text.size());
    if (name_ == "seq_id") {
      node_.seq_id = number.to_int64().value_or(-1);
      return true;
    }
    std::uint64_t* const field = number_field(name_);
    if (field != nullptr) {
      *field = number.to_uint64().value_or(0);
    }
    return field != nullptr;
  }

  std::uint32_t read_attribute_value() {
    text_.clear();
    if (scanner_.peek() == io::JsonKind::string) {
      return trace_.strings.intern(scanner_.read_string());
    }
    if (scanner_.peek() != io::JsonKind::missing) {
      io::append_json_text(text_, scanner_);
    }
    return trace_.strings.intern(text_);
  }

  void keep_node() {
    if (node_.name == no_string) {
      node_.name = trace_.strings.intern({});
    }
    node_.first_attribute = static_cast<std::uint32_t>(trace_.attributes.size());
    node_.attribute_count = static_cast<std::uint32_t>(attributes_.size());
    trace_.attributes.insert(trace_.attributes.end(), attributes_.begin(), attributes_.end());
    trace_.nodes.push_back(node_);
    if (extras_ == nullptr) return;
    for (const std::uint64_t source : waits_) extras_->waits.push_back({source, node_.id});
    extras_->nodes.push_back(linked_);
  }

  std::uint32_t read_interned() {
    if (scanner_.peek() == io::JsonKind::string) {
      return trace_.strings.intern(scanner_.read_string());
    }
    read_text(scanner_, text_);
    return trace_.strings.intern(text_);
  }

  std::uint32_t read_interned_list() {
    text_.clear();
    io::append_python_repr(text_, scanner_);
    return trace_.strings.intern(text_);
  }

  io::JsonScanner& scanner_;
  HostTrace& trace_;
  LinkedExtras* extras_;
  HostNode node_;
  LinkedNode linked_;
  std::vector<std::uint64_t> waits_;
  std::vector<HostAttribute> attributes_;
  bool has_id_ = false;
  std::string name_;
  std::string text_;
};

io::RecordFormat host_format(bool linked) {
  io::RecordFormat format = {
      .list = "nodes",
      .record = "node",
      .first_key = "id",
      .ambiguous_key = "name",  // attributes start with it; see io::JsonRecords::clear_ambiguous_key()
      .after_keys = {"finish_ts", "schema", "pid", "time", "start_ts"},
      .foreign_keys = {"traceEvents"},
      .foreign_problem =
          "this is a device trace (Kineto); a host trace (ExecutionTraceObserver, with \"nodes\") "
          "belongs here",
  };
  if (linked) {
    format.foreign_keys.clear();
    format.after_keys.insert(format.after_keys.end(),
                             {"traceName", "baseTimeNanoseconds", "distributedInfo", "traceEvents"});
  }
  return format;
}

HostTrace read_nodes(io::ByteStream& stream, const std::string& name, const ReadOptions& options,
                     const io::JsonOptions& json, LinkedExtras* extras) {
  io::JsonOptions scanner_options = json;
  scanner_options.on_error = options.on_error;
  HostTrace trace;
  trace.path = name;
  io::JsonScanner scanner(stream, name, scanner_options);
  HostReader reader(scanner, trace, extras);
  io::JsonRecords records(stream, scanner, host_format(extras != nullptr), note_in(trace.report), options.progress);
  records.read([&](io::JsonScanner&) { reader.read_node(); },
               [&](io::JsonScanner&, std::string_view key) {
                 reader.read_member(key);
                 if (trace.schema == "1.0.1") {
                   records.clear_ambiguous_key();  // its nodes start with "name" and have no attributes
                 }
               });
  reader.report_oddities();
  return trace;
}

}  // namespace

HostTrace read_host_trace(const std::filesystem::path& path, const ReadOptions& options) {
  const std::unique_ptr<io::ByteStream> stream = io::open_byte_stream(path);
  return read_host_trace(*stream, path.string(), options);
}

HostTrace read_linked_nodes(const std::filesystem::path& path, const ReadOptions& options, LinkedExtras& extras) {
  const std::unique_ptr<io::ByteStream> stream = io::open_byte_stream(path);
  return read_nodes(*stream, path.string(), options, {}, &extras);
}

HostTrace read_host_trace(io::ByteStream& stream, const std::string& name, const ReadOptions& options,
                          const io::JsonOptions& json) {
  return read_nodes(stream, name, options, json, nullptr);
}

}  // namespace chakra::pytorch
