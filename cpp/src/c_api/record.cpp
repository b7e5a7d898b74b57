// SPDX-License-Identifier: MIT
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "c_api/handles.hpp"
#include "c_api/value.hpp"

using namespace chakra;
using namespace chakra::c_api;

struct chakra_record {
  TracePtr trace;
  std::vector<Attribute> attributes;
  IoInfo inputs;
  IoInfo outputs;
  std::string bytes;
};

namespace {

static_assert(CHAKRA_KIND_BYTES_LIST == static_cast<int>(AttributeKind::bytes_list));

chakra_io_info c_io_info(const IoInfo& info) noexcept {
  return {c_string(info.values), c_string(info.shapes), c_string(info.types)};
}

/// Calls `use` with one value of one attribute.
template <class Use>
chakra_status use_value(const chakra_record* record, std::size_t index, std::size_t element, chakra_error** error,
                        Use&& use) noexcept {
  return guarded(error, [&] {
    need(record, "record");
    if (index >= record->attributes.size()) {
      throw Failure(CHAKRA_ERROR_ARGUMENT, "attribute number " + std::to_string(index) +
                                               " was asked for of a record that has " +
                                               std::to_string(record->attributes.size()));
    }
    const Attribute& attribute = record->attributes[index];
    use(value_at(attribute, element), attribute.name);
    return CHAKRA_OK;
  });
}

}  // namespace

chakra_record* chakra_record_read(const chakra_trace* trace, uint32_t row, chakra_error** error) {
  return made(error, [&] {
    const Trace& from = trace_of(trace);
    check_row(from, row);
    return new chakra_record{trace->trace, from.attributes(row), from.inputs(row), from.outputs(row), from.record(row)};
  });
}

chakra_record* chakra_record_read_metadata(const chakra_trace* trace, chakra_error** error) {
  return made(error, [&] {
    const Trace& from = trace_of(trace);
    return new chakra_record{trace->trace, from.metadata().attributes, {}, {}, std::string(from.metadata_record())};
  });
}

void chakra_record_free(chakra_record* record) { delete record; }

size_t chakra_record_size(const chakra_record* record) { return record->attributes.size(); }

chakra_attribute chakra_record_attribute(const chakra_record* record, size_t index) {
  const Attribute& attribute = record->attributes[index];
  return {c_string(attribute.name), c_string(attribute.doc_string), static_cast<chakra_attribute_kind>(attribute.kind),
          count_values(attribute)};
}

size_t chakra_record_find(const chakra_record* record, const char* name) {
  const auto& attributes = record->attributes;
  const auto found = std::find_if(attributes.begin(), attributes.end(),
                                  [&](const Attribute& attribute) { return attribute.name == name; });
  return found == attributes.end() ? CHAKRA_NO_ATTRIBUTE : static_cast<std::size_t>(found - attributes.begin());
}

chakra_io_info chakra_record_inputs(const chakra_record* record) { return c_io_info(record->inputs); }
chakra_io_info chakra_record_outputs(const chakra_record* record) { return c_io_info(record->outputs); }
chakra_string chakra_record_bytes(const chakra_record* record) { return c_string(record->bytes); }

chakra_status chakra_record_int64(const chakra_record* record, size_t index, size_t element, int64_t* value,
                                  chakra_error** error) {
  return use_value(record, index, element, error, [&](const Value& found, const std::string& name) {
    *value = as_integer<std::int64_t>(found, name);
  });
}

chakra_status chakra_record_uint64(const chakra_record* record, size_t index, size_t element, uint64_t* value,
                                   chakra_error** error) {
  return use_value(record, index, element, error, [&](const Value& found, const std::string& name) {
    *value = as_integer<std::uint64_t>(found, name);
  });
}

chakra_status chakra_record_double(const chakra_record* record, size_t index, size_t element, double* value,
                                   chakra_error** error) {
  return use_value(record, index, element, error,
                   [&](const Value& found, const std::string& name) { *value = as_double(found, name); });
}

chakra_status chakra_record_string(const chakra_record* record, size_t index, size_t element, chakra_string* value,
                                   chakra_error** error) {
  return use_value(record, index, element, error,
                   [&](const Value& found, const std::string& name) { *value = c_string(as_text(found, name)); });
}
