// SPDX-License-Identifier: MIT
#include "chakra_core/trace_builder.hpp"

#include <string>
#include <utility>

#include "chakra_core/errors.hpp"
#include "trace/record_arena.hpp"
#include "trace/trace_assembly.hpp"
#include "wire/decode.hpp"
#include "wire/encode.hpp"
#include "wire/utf8.hpp"

namespace chakra {

namespace {

constexpr const char* default_schema_version = "0.0.4";
constexpr const char* start_attribute = "start_ns";
constexpr const char* duration_attribute = "duration_ns";

std::string context(const NodeSpec& node) { return "node " + std::to_string(node.id); }

/// The exact time goes into an attribute unless whole microseconds already say it.
void append_exact_time(std::string& tail, const char* name, std::uint64_t ns) {
  if (ns % 1000 != 0) {
    wire::append_node_attribute(tail, make_uint64(name, ns));
  }
}

void check_time_attribute(const NodeSpec& node, const Attribute& attribute, std::uint64_t ns) {
  const auto* given = std::get_if<std::uint64_t>(&attribute.value);
  if (given == nullptr || *given != ns) {
    throw ChakraError(context(node) + ": attribute " + attribute.name +
                      " differs from the time given for the node; pass the time only");
  }
}

void check_text(std::string_view text, const std::string& what) {
  if (!wire::is_utf8(text)) {
    throw ChakraError(what + " is not UTF-8, which protobuf demands of a string");
  }
}

// Texts for messages are made only where there is something to say: these checks see every node and attribute.

void check_io(const NodeSpec& node, const IoInfo& info, const char* what) {
  const auto check = [&](std::string_view text, const char* part) {
    if (!wire::is_utf8(text)) check_text(text, context(node) + ": the " + part + " of its " + what);
  };
  check(info.values, "values");
  check(info.shapes, "shapes");
  check(info.types, "types");
}

/// The name is checked first, since the other message shows it.
template <class Owner>
void check_attribute(const Attribute& attribute, const Owner& owner) {
  if (!wire::is_utf8(attribute.name)) check_text(attribute.name, owner() + ": the name of an attribute");
  if (!is_consistent(attribute)) {
    throw ChakraError(owner() + ": the value of attribute " + attribute.name +
                      " does not fit its kind (another type, out of range, or text that is not UTF-8)");
  }
}

std::string encode_tail(const NodeSpec& node) {
  std::string tail;
  if (node.inputs != nullptr) {
    check_io(node, *node.inputs, "inputs");
    wire::append_inputs(tail, *node.inputs);
  }
  if (node.outputs != nullptr) {
    check_io(node, *node.outputs, "outputs");
    wire::append_outputs(tail, *node.outputs);
  }
  for (const Attribute& attribute : node.attributes) {
    check_attribute(attribute, [&node] { return context(node); });
    if (attribute.name == start_attribute) {
      check_time_attribute(node, attribute, node.start_ns);
    } else if (attribute.name == duration_attribute) {
      check_time_attribute(node, attribute, node.duration_ns);
    } else {
      wire::append_node_attribute(tail, attribute);
    }
  }
  append_exact_time(tail, start_attribute, node.start_ns);
  append_exact_time(tail, duration_attribute, node.duration_ns);
  return tail;
}

/// All but id, name and dependencies; `tail` must outlive `decoded`.
void decode_shared(std::string_view tail, const NodeSpec& node, wire::DecodedNode& decoded) {
  wire::decode_node(tail, decoded);
  if (!decoded.problems.empty()) {
    const wire::AttributeProblem& problem = decoded.problems.front();
    throw ChakraError(context(node) + ": attribute " + std::string(problem.name) + " " + problem.what);
  }
  decoded.type = static_cast<std::int32_t>(node.type);
  decoded.start_ns = node.start_ns;
  decoded.duration_ns = node.duration_ns;
}

}  // namespace

struct TraceBuilder::State {
  /// `tail` is in the arena.
  struct Pattern {
    wire::DecodedNode decoded;
    std::string_view tail;
  };

  detail::TraceAssembly assembly;
  std::shared_ptr<detail::RecordArena> arena = std::make_shared<detail::RecordArena>();
  wire::DecodedNode decoded{};
  std::vector<Pattern> patterns;
};

TraceBuilder::TraceBuilder() : state_(std::make_unique<State>()) { set_metadata({default_schema_version, {}}); }
TraceBuilder::~TraceBuilder() = default;
TraceBuilder::TraceBuilder(TraceBuilder&&) noexcept = default;
TraceBuilder& TraceBuilder::operator=(TraceBuilder&&) noexcept = default;

void TraceBuilder::set_metadata(Metadata metadata) {
  detail::TraceStorage& storage = state_->assembly.storage();
  check_text(metadata.version, "metadata: the version");
  for (const Attribute& attribute : metadata.attributes) {
    check_attribute(attribute, [] { return std::string("metadata"); });
  }
  storage.metadata_record = wire::encode_metadata(metadata);
  storage.metadata = std::move(metadata);
}

void TraceBuilder::set_source(std::string source) { state_->assembly.storage().source = std::move(source); }

void TraceBuilder::add_node(const NodeSpec& node) {
  if (!wire::is_utf8(node.name)) check_text(node.name, context(node) + ": its name");
  const std::string tail = encode_tail(node);
  wire::DecodedNode& decoded = state_->decoded;
  decode_shared(tail, node, decoded);
  decoded.id = node.id;
  decoded.name = node.name;
  decoded.data_deps.assign(node.data_deps);
  decoded.ctrl_deps.assign(node.ctrl_deps);
  state_->assembly.growing().append(decoded, state_->arena->store(tail), detail::RecordForm::tail);
}

std::size_t TraceBuilder::add_pattern(const NodeSpec& shared) {
  State::Pattern pattern{{}, state_->arena->store(encode_tail(shared))};
  decode_shared(pattern.tail, shared, pattern.decoded);
  state_->patterns.push_back(std::move(pattern));
  return state_->patterns.size() - 1;
}

void TraceBuilder::add_node_like(std::size_t pattern, NodeId id, std::string_view name,
                                 std::span<const NodeId> data_deps, std::span<const NodeId> ctrl_deps) {
  if (pattern >= state_->patterns.size()) {
    throw ChakraError("node " + std::to_string(id) + ": there is no pattern " + std::to_string(pattern) + " of " +
                      std::to_string(state_->patterns.size()));
  }
  if (!wire::is_utf8(name)) check_text(name, "node " + std::to_string(id) + ": its name");
  State::Pattern& shared = state_->patterns[pattern];
  shared.decoded.id = id;
  shared.decoded.name = name;
  shared.decoded.data_deps.assign(data_deps);
  shared.decoded.ctrl_deps.assign(ctrl_deps);
  state_->assembly.growing().append(shared.decoded, shared.tail, detail::RecordForm::tail);
}

void TraceBuilder::add_record(std::string_view node_message) {
  const std::string_view stored = state_->arena->store(node_message);
  const auto record = size() + 1;
  try {
    wire::decode_node(stored, state_->decoded);
  } catch (const wire::Malformed& error) {
    throw FormatError({"<node message>", record, error.offset()}, error.what());
  }
  if (!state_->decoded.problems.empty()) {
    const wire::AttributeProblem& problem = state_->decoded.problems.front();
    throw FormatError(
        {"<node message>", record, problem.offset},
        "node " + std::to_string(state_->decoded.id) + ": attribute " + std::string(problem.name) + " " + problem.what);
  }
  if (!state_->decoded.name_is_utf8) {
    throw FormatError({"<node message>", record, std::nullopt},
                      "node " + std::to_string(state_->decoded.id) + ": the name is not UTF-8");
  }
  state_->assembly.growing().append(state_->decoded, stored, detail::RecordForm::whole);
}

std::size_t TraceBuilder::size() const noexcept { return state_->assembly.storage().ids.size(); }

TracePtr TraceBuilder::build() {
  const std::unique_ptr<State> finished = std::exchange(state_, std::make_unique<State>());
  set_metadata({default_schema_version, {}});
  finished->assembly.storage().sources.push_back(finished->arena);
  return finished->assembly.finish(OnError::strict);
}

}  // namespace chakra
