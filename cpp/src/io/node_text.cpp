// SPDX-License-Identifier: MIT
#include "io/node_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "io/base64.hpp"
#include "io/json_text.hpp"
#include "trace/trace_storage.hpp"
#include "wire/decode.hpp"
#include "wire/utf8.hpp"

namespace chakra::io {

namespace {

using Part = DumpColumn::Part;

constexpr std::array<std::pair<std::string_view, Part>, 12> named_parts = {{{"id", Part::id},
                                                                            {"name", Part::name},
                                                                            {"type", Part::type},
                                                                            {"start_ns", Part::start_ns},
                                                                            {"duration_ns", Part::duration_ns},
                                                                            {"data_deps", Part::data_deps},
                                                                            {"ctrl_deps", Part::ctrl_deps},
                                                                            {"inputs", Part::inputs},
                                                                            {"outputs", Part::outputs},
                                                                            {"attrs", Part::attrs},
                                                                            {"is_cpu_op", Part::is_cpu_op},
                                                                            {"pg_name", Part::pg_name}}};

template <class Integer>
void append_integer(std::string& out, Integer value) {
  std::array<char, 24> digits;
  out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
}

void append_number(std::string& out, double value) {
  if (std::isfinite(value)) {
    append_json_double(out, value);
  } else {
    out += std::isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  }
}

/// Values of attributes as JSON.
class JsonValue {
 public:
  JsonValue(std::string& out, AttributeKind kind)
      : out_(out), is_bytes_(kind == AttributeKind::bytes_value || kind == AttributeKind::bytes_list) {}

  void operator()(std::monostate) { out_ += "null"; }
  void operator()(std::int64_t value) { append_integer(out_, value); }
  void operator()(std::uint64_t value) { append_integer(out_, value); }
  void operator()(double value) { append_number(out_, value); }
  void operator()(bool value) { out_ += value ? "true" : "false"; }
  void operator()(const std::string& value) { (*this)(std::string_view(value)); }
  // Text of attributes has been checked when it was decoded.
  void operator()(std::string_view value) {
    if (is_bytes_) {
      out_ += '"';
      append_base64(out_, value);
      out_ += '"';
    } else {
      append_json_utf8(out_, value);
    }
  }
  template <class Value>
  void operator()(const std::vector<Value>& values) {
    out_ += '[';
    bool first = true;
    for (const auto& value : values) {
      if (!std::exchange(first, false)) {
        out_ += ',';
      }
      (*this)(static_cast<const Value&>(value));
    }
    out_ += ']';
  }

 private:
  std::string& out_;
  bool is_bytes_;
};

void append_value(std::string& out, const Attribute& attribute) {
  std::visit(JsonValue(out, attribute.kind), attribute.value);
}

void append_ids(std::string& out, const Trace& trace, std::span<const NodeIndex> rows, char between) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i != 0) {
      out += between;
    }
    append_integer(out, trace.ids()[rows[i]]);
  }
}

template <class Info>
void append_io(std::string& out, const Info& info) {
  out += "{\"values\":";
  append_json_string(out, info.values);
  out += ",\"shapes\":";
  append_json_string(out, info.shapes);
  out += ",\"types\":";
  append_json_string(out, info.types);
  out += '}';
}

void append_attributes(std::string& out, const std::vector<std::string_view>& messages) {
  std::vector<std::string_view> names;
  names.reserve(messages.size());
  out += '{';
  for (const std::string_view message : messages) {
    const wire::AttributeView attribute = wire::view_attribute(message);
    if (std::find(names.begin(), names.end(), attribute.name) != names.end()) {
      continue;
    }
    if (!names.empty()) {
      out += ',';
    }
    names.push_back(attribute.name);
    append_json_utf8(out, attribute.name);
    out += ':';
    if (attribute.kind != AttributeKind::none && std::holds_alternative<std::monostate>(attribute.scalar)) {
      append_value(out, wire::decode_attribute_message(message));
    } else {
      std::visit(JsonValue(out, attribute.kind), attribute.scalar);
    }
  }
  out += '}';
}

/// Inputs, outputs and attributes, straight from the record: they are most of what a dump writes.
void append_cold_column(std::string& out, const wire::ColdParts& parts, const DumpColumn& column) {
  if (column.part == Part::attrs) {
    append_attributes(out, parts.attributes);
  } else {
    append_io(out, column.part == Part::inputs ? parts.inputs : parts.outputs);
  }
}

bool is_cold(const DumpColumn& column) noexcept {
  return column.part == Part::inputs || column.part == Part::outputs || column.part == Part::attrs;
}

bool is_left_out(const wire::ColdParts& parts, const DumpColumn& column) noexcept {
  const wire::IoView& info = column.part == Part::inputs ? parts.inputs : parts.outputs;
  return column.is_optional && info.values.empty() && info.shapes.empty() && info.types.empty();
}

wire::ColdParts cold_parts(const Trace& trace, NodeIndex row) {
  wire::ColdParts parts;
  wire::find_cold_parts(trace.storage().record_bytes(row), parts);
  return parts;
}

/// The value of one column as JSON.
void append_json_value(std::string& out, const Trace& trace, NodeIndex row, const DumpColumn& column) {
  switch (column.part) {
    case Part::id:
      return append_integer(out, trace.ids()[row]);
    case Part::name:
      return append_json_string(out, trace.name(row));
    case Part::type:
      return append_json_string(out, to_string(trace.types()[row]));
    case Part::start_ns:
      return append_integer(out, trace.start_ns()[row]);
    case Part::duration_ns:
      return append_integer(out, trace.duration_ns()[row]);
    case Part::data_deps:
    case Part::ctrl_deps:
      out += '[';
      append_ids(out, trace, (column.part == Part::data_deps ? trace.data_deps() : trace.ctrl_deps())[row], ',');
      out += ']';
      return;
    case Part::inputs:
    case Part::outputs:
    case Part::attrs:
      return append_cold_column(out, cold_parts(trace, row), column);
    case Part::integer_attribute:
      if (const auto value = trace.column(column.integer).get(row)) {
        return append_integer(out, *value);
      }
      break;
    case Part::is_cpu_op:
      if (const auto value = trace.is_cpu_op().get(row)) {
        out += *value != 0 ? "true" : "false";
        return;
      }
      break;
    case Part::pg_name:
      if (const auto value = trace.pg_name().get(row)) {
        return append_json_string(out, trace.string(*value));
      }
      break;
    case Part::attribute:
      if (const auto attribute = trace.attribute(row, column.name)) {
        return append_value(out, *attribute);
      }
      break;
  }
  out += "null";
}

/// The column as text that is not in quotes yet.
void append_plain(std::string& out, const Trace& trace, NodeIndex row, const DumpColumn& column) {
  if (column.part == Part::name) {
    out += trace.name(row);
  } else if (column.part == Part::type) {
    out += to_string(trace.types()[row]);
  } else if (column.part == Part::data_deps) {
    append_ids(out, trace, trace.data_deps()[row], ' ');
  } else if (column.part == Part::ctrl_deps) {
    append_ids(out, trace, trace.ctrl_deps()[row], ' ');
  } else if (column.part == Part::pg_name) {
    const auto value = trace.pg_name().get(row);
    out += value ? trace.string(*value) : std::string_view{};
  } else if (column.part == Part::attribute) {
    const auto attribute = trace.attribute(row, column.name);
    if (attribute && attribute->kind == AttributeKind::string_value) {
      out += std::get<std::string>(attribute->value);
    } else if (attribute && attribute->kind != AttributeKind::none) {
      append_value(out, *attribute);
    }
  } else {
    append_json_value(out, trace, row, column);
    if (out == "null") {
      out.clear();
    }
  }
}

}  // namespace

DumpColumn dump_column(const std::string& name) {
  std::string key;
  append_json_string(key, name);
  key += ':';
  for (const auto& [known, part] : named_parts) {
    if (known == name) {
      return {part, name, key};
    }
  }
  for (std::size_t i = 0; i < integer_attribute_count; ++i) {
    if (to_string(static_cast<IntegerAttribute>(i)) == name) {
      return {Part::integer_attribute, name, key, static_cast<IntegerAttribute>(i)};
    }
  }
  return {Part::attribute, name, key};
}

void append_json_node(std::string& out, const Trace& trace, NodeIndex row, const std::vector<DumpColumn>& columns) {
  const bool any_cold = std::any_of(columns.begin(), columns.end(), is_cold);
  const wire::ColdParts parts = any_cold ? cold_parts(trace, row) : wire::ColdParts{};
  char before = '{';
  for (const DumpColumn& column : columns) {
    if (is_left_out(parts, column)) {
      continue;
    }
    out += std::exchange(before, ',');
    out += column.key;
    if (is_cold(column)) {
      append_cold_column(out, parts, column);
    } else {
      append_json_value(out, trace, row, column);
    }
  }
  out += before == '{' ? "{}" : "}";
}

void append_csv_cell(std::string& out, std::string_view text) {
  const std::string valid = wire::is_utf8(text) ? std::string(text) : wire::replace_invalid_utf8(text);
  if (valid.find_first_of(",\"\r\n") == std::string::npos) {
    out += valid;
    return;
  }
  out += '"';
  for (const char character : valid) {
    if (character == '"') {
      out += '"';
    }
    out += character;
  }
  out += '"';
}

void append_csv_node(std::string& out, const Trace& trace, NodeIndex row, const std::vector<DumpColumn>& columns) {
  std::string cell;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i != 0) {
      out += ',';
    }
    cell.clear();
    append_plain(cell, trace, row, columns[i]);
    append_csv_cell(out, cell);
  }
  out += "\r\n";
}

}  // namespace chakra::io
