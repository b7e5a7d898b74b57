// SPDX-License-Identifier: MIT
#include <span>
#include <string>

#include "c_api/dependency_kind.hpp"
#include "c_api/handles.hpp"
#include "c_api/value.hpp"
#include "chakra_core/et_file.hpp"

using namespace chakra;
using namespace chakra::c_api;

namespace {

static_assert(CHAKRA_COMM_COLL_NODE == static_cast<int>(NodeType::comm_coll));
static_assert(sizeof(NodeType) == sizeof(std::int32_t));

LoadOptions load_options(chakra_on_error on_error) {
  LoadOptions options;
  switch (on_error) {
    case CHAKRA_STRICT:
      return options;
    case CHAKRA_RECOVER:
      options.on_error = OnError::recover;
      return options;
    case CHAKRA_STRICT_DATA:
      options.needed = DependencyKind::data;
      return options;
  }
  throw Failure(CHAKRA_ERROR_ARGUMENT, "unknown way to treat errors " + std::to_string(static_cast<int>(on_error)));
}

chakra_rows c_rows(std::span<const NodeIndex> rows) noexcept { return {rows.data(), rows.size()}; }

const AttributeColumn<std::int64_t>* integer_column(const Trace& trace, std::string_view name) noexcept {
  for (std::size_t i = 0; i < integer_attribute_count; ++i) {
    const auto attribute = static_cast<IntegerAttribute>(i);
    if (name == to_string(attribute)) {
      return &trace.column(attribute);
    }
  }
  return nullptr;
}

/// Reads an attribute that has a column, absent or not; false if this one has none.
bool read_column(const Trace& trace, NodeIndex row, std::string_view name, std::optional<Value>& value) {
  if (name == "is_cpu_op") {
    const auto flag = trace.is_cpu_op().get(row);
    value = flag ? std::optional<Value>(*flag != 0) : std::nullopt;
    return true;
  }
  if (name == "pg_name") {
    const auto text = trace.pg_name().get(row);
    value = text ? std::optional<Value>(trace.string(*text)) : std::nullopt;
    return true;
  }
  const auto* column = integer_column(trace, name);
  if (column != nullptr) {
    const auto integer = column->get(row);
    value = integer ? std::optional<Value>(*integer) : std::nullopt;
  }
  return column != nullptr;
}

/// Calls `use` with the first attribute of a name, if there is one.
template <class Use>
chakra_status use_attribute(const chakra_trace* handle, std::uint32_t row, const char* name, chakra_error** error,
                            Use&& use) noexcept {
  return guarded(error, [&]() -> chakra_status {
    const Trace& trace = trace_of(handle);
    check_row(trace, row);
    need(name, "name");
    std::optional<Value> value;
    if (read_column(trace, row, name, value)) {
      if (!value) {
        return CHAKRA_ABSENT;
      }
      use(*value);
      return CHAKRA_OK;
    }
    const auto attribute = trace.attribute(row, name);
    if (!attribute) {
      return CHAKRA_ABSENT;
    }
    if (count_values(*attribute) != 1 || is_list(attribute->kind)) {
      throw_not_convertible(name, "a single value");
    }
    use(value_at(*attribute, 0));
    return CHAKRA_OK;
  });
}

}  // namespace

chakra_trace* chakra_trace_load(const char* path, chakra_on_error on_error, chakra_error** error) {
  return made(error, [&] {
    need(path, "path");
    return new chakra_trace{load(path, load_options(on_error))};
  });
}

chakra_trace* chakra_trace_load_bytes(const void* bytes, size_t size, const char* name, chakra_on_error on_error,
                                      chakra_error** error) {
  return made(error, [&] {
    if (size != 0) {
      need(bytes, "bytes");
    }
    const std::span<const std::byte> span(static_cast<const std::byte*>(bytes), size);
    return new chakra_trace{load_bytes(span, name == nullptr ? "<bytes>" : name, load_options(on_error))};
  });
}

void chakra_trace_free(chakra_trace* trace) { delete trace; }

size_t chakra_trace_size(const chakra_trace* trace) { return trace->trace->size(); }

uint64_t chakra_trace_problems(const chakra_trace* trace) {
  const Report& report = trace->trace->load_report();
  return report.errors() + report.warnings();
}

chakra_string chakra_trace_schema_version(const chakra_trace* trace) {
  return c_string(trace->trace->metadata().version);
}

const uint64_t* chakra_trace_ids(const chakra_trace* trace) { return trace->trace->ids().data(); }

const int32_t* chakra_trace_types(const chakra_trace* trace) {
  return reinterpret_cast<const std::int32_t*>(trace->trace->types().data());
}

const uint64_t* chakra_trace_start_ns(const chakra_trace* trace) { return trace->trace->start_ns().data(); }
const uint64_t* chakra_trace_duration_ns(const chakra_trace* trace) { return trace->trace->duration_ns().data(); }
chakra_string chakra_trace_name(const chakra_trace* trace, uint32_t row) { return c_string(trace->trace->name(row)); }

chakra_rows chakra_trace_data_deps(const chakra_trace* trace, uint32_t row) {
  return c_rows(trace->trace->data_deps()[row]);
}

chakra_rows chakra_trace_ctrl_deps(const chakra_trace* trace, uint32_t row) {
  return c_rows(trace->trace->ctrl_deps()[row]);
}

chakra_status chakra_trace_children(const chakra_trace* trace, uint32_t row, chakra_dependencies kind,
                                    chakra_rows* children, chakra_error** error) {
  return guarded(error, [&] {
    check_row(trace_of(trace), row);
    need(children, "children");
    *children = c_rows(trace->trace->children(dependency_kind(kind))[row]);
    return CHAKRA_OK;
  });
}

uint32_t chakra_trace_find(const chakra_trace* trace, uint64_t id) {
  return trace->trace->find(id).value_or(CHAKRA_NO_ROW);
}

chakra_status chakra_trace_get_int64(const chakra_trace* trace, uint32_t row, const char* name, int64_t* value,
                                     chakra_error** error) {
  return use_attribute(trace, row, name, error,
                       [&](const Value& found) { *value = as_integer<std::int64_t>(found, name); });
}

chakra_status chakra_trace_get_uint64(const chakra_trace* trace, uint32_t row, const char* name, uint64_t* value,
                                      chakra_error** error) {
  return use_attribute(trace, row, name, error,
                       [&](const Value& found) { *value = as_integer<std::uint64_t>(found, name); });
}

chakra_status chakra_trace_get_double(const chakra_trace* trace, uint32_t row, const char* name, double* value,
                                      chakra_error** error) {
  return use_attribute(trace, row, name, error, [&](const Value& found) { *value = as_double(found, name); });
}

chakra_status chakra_trace_get_string(const chakra_trace* trace, uint32_t row, const char* name, char* buffer,
                                      size_t capacity, size_t* size, chakra_error** error) {
  return use_attribute(trace, row, name, error,
                       [&](const Value& found) { copy_text(as_text(found, name), buffer, capacity, size); });
}
