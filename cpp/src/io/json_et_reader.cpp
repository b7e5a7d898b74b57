// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "chakra_core/errors.hpp"
#include "io/json_attributes.hpp"
#include "io/json_et.hpp"
#include "io/json_records.hpp"
#include "io/record_reader.hpp"
#include "trace/record_arena.hpp"
#include "trace/time_units.hpp"
#include "trace/trace_assembly.hpp"
#include "wire/decode.hpp"
#include "wire/encode.hpp"

namespace chakra::io {

namespace {

constexpr std::array node_members = {json_et::id,        json_et::name,      json_et::type,     json_et::ctrl_deps,
                                     json_et::data_deps, json_et::start,     json_et::duration, json_et::inputs,
                                     json_et::outputs,   json_et::attributes};
constexpr const char* default_version = "0.0.4";

constexpr std::string_view white_space = " \t\r\n";

RecordFormat json_et_format() {
  return {
      .list = std::string(json_et::graph),
      .record = "node",
      .first_key = std::string(json_et::id),
      .ambiguous_key = {},
      .after_keys = {"workload_name", "ngpus", "soc"},
      .foreign_keys = {"traceEvents", "nodes"},
      .foreign_problem =
          "is JSON but no execution trace: PyTorch's host traces (\"nodes\") and Kineto's device traces "
          "(\"traceEvents\") are to be linked and converted first",
  };
}

/// An attribute and where it stands in the file.
struct PlacedAttribute {
  Attribute attribute;
  std::uint64_t offset;
};

/// One node as it stands in the file.
struct JsonNode {
  std::optional<NodeId> id;
  std::string name;
  std::int32_t type = 0;
  std::vector<NodeId> ctrl_deps;
  std::vector<NodeId> data_deps;
  std::uint64_t start_ns = 0;
  std::uint64_t duration_ns = 0;
  /// Whole microseconds as they stand there: more of them than ns can be are for the decoder to refuse.
  std::uint64_t start_micros = 0;
  std::uint64_t duration_micros = 0;
  std::optional<IoInfo> inputs;
  std::optional<IoInfo> outputs;
  std::vector<PlacedAttribute> plain;
  std::vector<PlacedAttribute> listed;
};

class JsonEtReader {
 public:
  JsonEtReader(JsonScanner& scanner, std::string name, const LoadOptions& options)
      : scanner_(scanner), input_{std::move(name), options.on_error}, options_(options) {
    assembly_.storage().source = input_.name;
    assembly_.storage().sources.push_back(arena_);
    metadata_.version = default_version;
  }

  Report& report() noexcept { return assembly_.storage().load_report; }
  const EtInput& input() const noexcept { return input_; }

  void read_node() {
    ++record_;
    place_ = scanner_.offset();
    if (scanner_.peek() != JsonKind::object) {
      scanner_.skip();
      problem(ProblemKind::malformed_record, place_, "a node that is no object");
      return;
    }
    node_ = JsonNode{};
    scanner_.enter_object();
    std::string_view key;
    while (scanner_.next_key(key)) {
      read_node_member(key);
    }
    if (!node_.id) {
      problem(ProblemKind::malformed_record, place_, "a node without a usable \"Id\"");
      return;
    }
    keep_node();
  }

  void read_file_member(std::string_view key) {
    place_ = scanner_.offset();
    if (key == json_et::version && scanner_.peek() == JsonKind::string) {
      metadata_.version = std::string(scanner_.read_string());
    } else if (key == json_et::attributes && scanner_.peek() == JsonKind::array) {
      read_listed(listed_);
    } else {
      std::string name(key);
      plain_.push_back({read_plain_attribute(scanner_, std::move(name)), place_});
    }
  }

  TracePtr finish() {
    for (PlacedAttribute& placed : joined(plain_, listed_)) {
      metadata_.attributes.push_back(std::move(placed.attribute));
    }
    detail::TraceStorage& storage = assembly_.storage();
    storage.metadata_record = wire::encode_metadata(metadata_);
    storage.metadata = std::move(metadata_);
    return assembly_.finish(options_.on_error, options_.threads, options_.needed);
  }

 private:
  /// What is wrong with the node under way, or with the file if there is none yet.
  void problem(ProblemKind kind, std::uint64_t offset, const std::string& text) {
    const std::string node = node_.id ? "node " + std::to_string(*node_.id) + ": " : std::string();
    input_.problem(
        report(), kind, record_, offset,
        node + text + " (line " + std::to_string(scanner_.line()) + ")" + (input_.strict() ? "" : "; it was dropped"),
        node_.id ? std::vector<NodeId>{*node_.id} : std::vector<NodeId>());
  }

  void bad_member(std::string_view key, std::uint64_t offset, const std::string& what) {
    problem(ProblemKind::malformed_record, offset, "\"" + std::string(key) + "\" " + what);
  }

  void read_node_member(std::string_view key) {
    const std::uint64_t offset = scanner_.offset();
    if (key == json_et::id) {
      node_.id = read_id();
    } else if (key == json_et::name) {
      read_text(json_et::name, node_.name);
    } else if (key == json_et::type) {
      read_type();
    } else if (key == json_et::data_deps) {
      read_parents(json_et::data_deps, node_.data_deps);
    } else if (key == json_et::ctrl_deps) {
      read_parents(json_et::ctrl_deps, node_.ctrl_deps);
    } else if (key == json_et::start) {
      read_time(json_et::start, node_.start_micros, node_.start_ns);
    } else if (key == json_et::duration) {
      read_time(json_et::duration, node_.duration_micros, node_.duration_ns);
    } else if (key == json_et::inputs && scanner_.peek() == JsonKind::object) {
      node_.inputs = read_io(json_et::inputs);
    } else if (key == json_et::outputs && scanner_.peek() == JsonKind::object) {
      node_.outputs = read_io(json_et::outputs);
    } else if (key == json_et::attributes && scanner_.peek() == JsonKind::array) {
      read_listed(node_.listed);
    } else {
      std::string name(key);
      node_.plain.push_back({read_plain_attribute(scanner_, std::move(name)), offset});
    }
  }

  std::optional<NodeId> read_id() {
    if (scanner_.peek() == JsonKind::number) {
      return scanner_.read_number().to_uint64();
    }
    scanner_.skip();
    return std::nullopt;
  }

  void read_text(std::string_view key, std::string& text) {
    const std::uint64_t offset = scanner_.offset();
    if (scanner_.peek() == JsonKind::string) {
      text = scanner_.read_string();
      return;
    }
    scanner_.skip();
    bad_member(key, offset, "is no string");
  }

  /// A number, or the schema's name for it.
  void read_type() {
    const std::uint64_t offset = scanner_.offset();
    std::optional<std::int64_t> type;
    if (scanner_.peek() == JsonKind::number) {
      type = scanner_.read_number().to_int64();
    } else if (scanner_.peek() == JsonKind::string) {
      const auto known = parse_node_type(scanner_.read_string());
      type = known ? std::optional<std::int64_t>(static_cast<std::int32_t>(*known)) : std::nullopt;
    } else {
      scanner_.skip();
    }
    if (!type || *type != static_cast<std::int32_t>(*type)) {
      return bad_member(json_et::type, offset, "is no type of nodes");
    }
    node_.type = static_cast<std::int32_t>(*type);
  }

  void read_parents(std::string_view key, std::vector<NodeId>& parents) {
    parents.clear();
    const std::uint64_t offset = scanner_.offset();
    if (scanner_.peek() != JsonKind::array) {
      scanner_.skip();
      return bad_member(key, offset, "is no list of ids");
    }
    scanner_.enter_array();
    while (scanner_.next_element()) {
      const std::uint64_t place = scanner_.offset();
      if (const auto parent = read_id()) {
        parents.push_back(*parent);
      } else {
        bad_member(key, place, "holds something that is no id");
      }
    }
  }

  /// Microseconds, with decimals down to the nanosecond.
  void read_time(std::string_view key, std::uint64_t& micros, std::uint64_t& ns) {
    const std::uint64_t offset = scanner_.offset();
    if (scanner_.peek() != JsonKind::number) {
      scanner_.skip();
      return bad_member(key, offset, "is no time in microseconds");
    }
    const JsonNumber number = scanner_.read_number();
    if (const auto whole = number.to_uint64()) {
      micros = *whole;
      ns = 0;
      return;
    }
    const auto scaled = number.scaled(3);
    if (!scaled || *scaled < 0) {
      return bad_member(key, offset, "is no time in microseconds");
    }
    ns = static_cast<std::uint64_t>(*scaled);
    micros = detail::rounded_micros(ns);
  }

  IoInfo read_io(std::string_view which) {
    IoInfo info;
    scanner_.enter_object();
    std::string_view key;
    while (scanner_.next_key(key)) {
      if (key == "values") {
        read_text(which, info.values);
      } else if (key == "shapes") {
        read_text(which, info.shapes);
      } else if (key == "types") {
        read_text(which, info.types);
      } else {
        const std::uint64_t offset = scanner_.offset();
        const std::string what = "has the unknown member \"" + std::string(key) + "\"";
        scanner_.skip();
        bad_member(which, offset, what);
      }
    }
    return info;
  }

  void read_listed(std::vector<PlacedAttribute>& attributes) {
    scanner_.enter_array();
    while (scanner_.next_element()) {
      const std::uint64_t offset = scanner_.offset();
      std::string what;
      if (auto attribute = read_listed_attribute(scanner_, what)) {
        attributes.push_back({std::move(*attribute), offset});
      } else {
        bad_member(json_et::attributes, offset, "holds " + what);
      }
    }
  }

  /// All attributes of a node: those of the list, and plain members that are no copies of them.
  static std::vector<PlacedAttribute> joined(std::vector<PlacedAttribute>& plain,
                                             std::vector<PlacedAttribute>& listed) {
    if (listed.empty()) {
      return std::move(plain);
    }
    std::unordered_set<std::string> names;
    for (const PlacedAttribute& one : listed) {
      names.insert(one.attribute.name);
    }
    std::vector<PlacedAttribute> all = std::move(listed);
    for (PlacedAttribute& one : plain) {
      if (!names.contains(one.attribute.name)) {
        all.push_back(std::move(one));
      }
    }
    return all;
  }

  void keep_node() {
    std::vector<PlacedAttribute> attributes = joined(node_.plain, node_.listed);
    append_exact_time(attributes, "start_ns", node_.start_ns);
    append_exact_time(attributes, "duration_ns", node_.duration_ns);
    encode(attributes);
    std::string_view record = arena_->store(message_);
    wire::decode_node(record, decoded_);
    if (!decoded_.problems.empty()) {
      for (const wire::AttributeProblem& found : decoded_.problems) {
        const std::string which = found.offset == 0 ? "" : "attribute ";
        problem(ProblemKind::attribute_type, offset_of(found, attributes),
                which + std::string(found.name) + " " + found.what);
      }
      std::string mended;
      wire::append_mended(mended, record, decoded_.problems);
      record = arena_->store(mended);
      wire::decode_node(record, decoded_);
    }
    assembly_.growing().append(decoded_, record, detail::RecordForm::whole);
  }

  /// For a time with decimals, unless the file gives the nanoseconds itself.
  void append_exact_time(std::vector<PlacedAttribute>& attributes, const char* name, std::uint64_t ns) const {
    const bool given = std::any_of(attributes.begin(), attributes.end(),
                                   [&](const PlacedAttribute& one) { return one.attribute.name == name; });
    if (ns % 1000 != 0 && !given) {
      attributes.push_back({make_uint64(name, ns), place_});
    }
  }

  void encode(const std::vector<PlacedAttribute>& attributes) {
    message_.clear();
    ends_.clear();
    wire::append_head(message_, {.id = *node_.id,
                                 .name = node_.name,
                                 .type = static_cast<NodeType>(node_.type),
                                 .ctrl_deps = node_.ctrl_deps,
                                 .data_deps = node_.data_deps,
                                 .start_micros = node_.start_micros,
                                 .duration_micros = node_.duration_micros});
    if (node_.inputs) {
      wire::append_inputs(message_, *node_.inputs);
    }
    if (node_.outputs) {
      wire::append_outputs(message_, *node_.outputs);
    }
    for (const PlacedAttribute& one : attributes) {
      wire::append_node_attribute(message_, one.attribute);
      ends_.push_back(message_.size());
    }
  }

  /// Where in the file the attribute stands that a problem of the encoded message is about.
  std::uint64_t offset_of(const wire::AttributeProblem& found, const std::vector<PlacedAttribute>& attributes) const {
    const auto end = std::upper_bound(ends_.begin(), ends_.end(), found.offset);
    return found.offset == 0 || end == ends_.end() ? place_
                                                   : attributes[static_cast<std::size_t>(end - ends_.begin())].offset;
  }

  JsonScanner& scanner_;
  EtInput input_;
  const LoadOptions& options_;
  detail::TraceAssembly assembly_;
  std::shared_ptr<detail::RecordArena> arena_ = std::make_shared<detail::RecordArena>();
  Metadata metadata_;
  std::vector<PlacedAttribute> plain_;   // of the file
  std::vector<PlacedAttribute> listed_;  // likewise
  std::uint64_t record_ = 0;
  std::uint64_t place_ = 0;
  JsonNode node_;
  std::string message_;
  std::vector<std::size_t> ends_;  // of the attributes in the message
  wire::DecodedNode decoded_{};
};

}  // namespace

bool is_node_member(std::string_view name) noexcept {
  return std::find(node_members.begin(), node_members.end(), name) != node_members.end();
}

bool is_file_member(std::string_view name) noexcept {
  return name == json_et::graph || name == json_et::version || name == json_et::attributes;
}

bool looks_like_json(std::string_view start) noexcept {
  if (start.starts_with("\xEF\xBB\xBF")) {
    start.remove_prefix(3);
  }
  const auto skip_space = [&] { start.remove_prefix(std::min(start.find_first_not_of(white_space), start.size())); };
  skip_space();
  if (!start.starts_with('{')) {
    return false;
  }
  start.remove_prefix(1);
  skip_space();
  if (start.empty() || start.front() == '}') {
    return true;
  }
  if (start.front() != '"') {
    return false;
  }
  constexpr std::size_t longest_name = 64;
  const std::size_t quote = start.substr(0, longest_name).find('"', 1);
  if (quote == std::string_view::npos) {
    return false;
  }
  start.remove_prefix(quote + 1);
  skip_space();
  return start.starts_with(':');
}

TracePtr read_json_et(ByteStream& stream, const std::string& name, const LoadOptions& options) {
  JsonScanner scanner(stream, name, {.on_error = options.on_error});
  JsonEtReader reader(scanner, name, options);
  const auto note = [&](std::string_view what, std::optional<std::uint64_t> offset, std::uint64_t count) {
    reader.report().add({ProblemKind::malformed_record,
                         std::string(what) + (count > 1 ? ", " + std::to_string(count) + " times" : ""),
                         {},
                         {},
                         offset});
  };
  JsonRecords records(stream, scanner, json_et_format(), note, options.progress);
  try {
    records.read([&](JsonScanner&) { reader.read_node(); },
                 [&](JsonScanner&, std::string_view key) { reader.read_file_member(key); });
  } catch (const FormatError& error) {
    if (options.on_error == OnError::strict) {
      throw;
    }
    reader.report().add({ProblemKind::malformed_record, error.what(), {}, {}, error.location().offset});
  }
  return reader.finish();
}

}  // namespace chakra::io
