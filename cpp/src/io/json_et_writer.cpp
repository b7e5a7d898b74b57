// SPDX-License-Identifier: MIT
#include <algorithm>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "io/json_attributes.hpp"
#include "io/json_et.hpp"
#include "io/json_text.hpp"
#include "trace/time_units.hpp"
#include "wire/known_attribute.hpp"

namespace chakra::io {

namespace {

constexpr std::size_t write_size = std::size_t{1} << 20;

void append_key(std::string& out, std::string_view key) {
  append_json_string(out, key);
  out += ": ";
}

void append_member(std::string& out, std::string_view key, std::string_view text) {
  out += ", ";
  append_key(out, key);
  append_json_string(out, text);
}

void append_parents(std::string& out, std::string_view key, const Trace& trace, std::span<const NodeIndex> parents) {
  out += ", ";
  append_key(out, key);
  out += '[';
  for (std::size_t i = 0; i < parents.size(); ++i) {
    out += i > 0 ? ", " : "";
    out += std::to_string(trace.ids()[parents[i]]);
  }
  out += ']';
}

void append_io(std::string& out, std::string_view key, const IoInfo& info) {
  if (info == IoInfo{}) {
    return;
  }
  out += ", ";
  append_key(out, key);
  out += "{\"values\": ";
  append_json_string(out, info.values);
  append_member(out, "shapes", info.shapes);
  append_member(out, "types", info.types);
  out += '}';
}

/// What tools that know no "attr" look for in the node itself.
bool is_for_simulators(const Attribute& attribute) {
  const wire::KnownAttribute known = wire::known(attribute.name);
  const bool is_scalar = std::holds_alternative<std::int64_t>(attribute.value) ||
                         std::holds_alternative<std::uint64_t>(attribute.value) ||
                         std::holds_alternative<bool>(attribute.value);
  return is_scalar && (wire::is_integer_column(known) || known == wire::KnownAttribute::is_cpu_op);
}

/// Appends attributes as plain members if they all come back from those, otherwise as the list "attr" and beside it
/// those that simulators read.
void append_attributes(std::string& out, std::span<const Attribute> attributes, bool (*is_taken)(std::string_view)) {
  std::unordered_set<std::string_view> names;
  const bool plain = std::all_of(attributes.begin(), attributes.end(), [&](const Attribute& attribute) {
    return is_plain(attribute) && !is_taken(attribute.name) && names.insert(attribute.name).second;
  });
  names.clear();
  for (const Attribute& attribute : attributes) {
    if (plain || (is_for_simulators(attribute) && names.insert(attribute.name).second)) {
      out += ", ";
      append_key(out, attribute.name);
      append_plain_value(out, attribute);
    }
  }
  if (plain) {
    return;
  }
  out += ", ";
  append_key(out, json_et::attributes);
  out += '[';
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    out += i > 0 ? ", " : "";
    append_listed_attribute(out, attributes[i]);
  }
  out += ']';
}

void append_time(std::string& out, std::string_view key, std::uint64_t ns) {
  if (ns != 0) {
    out += ", ";
    append_key(out, key);
    out += std::to_string(detail::rounded_micros(ns));
  }
}

void append_node(std::string& out, const Trace& trace, NodeIndex row) {
  out += '{';
  append_key(out, json_et::id);
  out += std::to_string(trace.ids()[row]);
  append_member(out, json_et::name, trace.name(row));
  out += ", ";
  append_key(out, json_et::type);
  out += std::to_string(static_cast<std::int32_t>(trace.types()[row]));
  if (!trace.ctrl_deps()[row].empty()) {
    append_parents(out, json_et::ctrl_deps, trace, trace.ctrl_deps()[row]);
  }
  append_parents(out, json_et::data_deps, trace, trace.data_deps()[row]);
  append_time(out, json_et::start, trace.start_ns()[row]);
  append_time(out, json_et::duration, trace.duration_ns()[row]);
  append_io(out, json_et::inputs, trace.inputs(row));
  append_io(out, json_et::outputs, trace.outputs(row));
  append_attributes(out, trace.attributes(row), is_node_member);
  out += '}';
}

}  // namespace

void write_json_et(const Trace& trace, std::string_view version, Progress* progress,
                   const std::function<void(std::string_view)>& put) {
  std::string buffer = "{\n";
  append_key(buffer, json_et::version);
  append_json_string(buffer, version);
  append_attributes(buffer, trace.metadata().attributes, is_file_member);
  buffer += ",\n";
  append_key(buffer, json_et::graph);
  buffer += '[';
  for (NodeIndex row = 0; row < trace.size(); ++row) {
    buffer += row > 0 ? ",\n" : "\n";
    append_node(buffer, trace, row);
    if (buffer.size() >= write_size) {
      put(buffer);
      buffer.clear();
      if (progress != nullptr) {
        progress->done = row;
        if (progress->cancel) {
          throw Cancelled();
        }
      }
    }
  }
  buffer += "\n]\n}\n";
  put(buffer);
}

}  // namespace chakra::io
