// SPDX-License-Identifier: MIT
#include "chakra_core/arrow.hpp"

#include <array>
#include <bit>
#include <cerrno>
#include <exception>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "chakra_core/errors.hpp"

namespace chakra {

namespace {

static_assert(std::endian::native == std::endian::little, "Arrow's bitmaps are words of a little-endian machine");

constexpr std::int64_t nullable = 2;  // ARROW_FLAG_NULLABLE

/// One field: a name, a format string, and what hangs below it.
struct Field {
  std::string name;
  std::string format;
  std::int64_t flags = 0;
  std::vector<Field> children = {};
  std::vector<Field> dictionary = {};  ///< none or one
};

Field dictionary_field(std::string name, std::int64_t flags) { return {std::move(name), "i", flags, {}, {{"", "U"}}}; }

Field trace_field() {
  Field whole{"", "+s"};
  const auto list = [](const char* name) { return Field{name, "+L", 0, {{"item", "L"}}}; };
  whole.children = {{"id", "L"},          dictionary_field("name", 0), {"type", "i"},     {"start_ns", "L"},
                    {"duration_ns", "L"}, list("data_deps"),           list("ctrl_deps"), {"is_cpu_op", "b", nullable}};
  for (std::size_t i = 0; i < integer_attribute_count; ++i) {
    whole.children.push_back({std::string(to_string(static_cast<IntegerAttribute>(i))), "l", nullable});
  }
  whole.children.push_back(dictionary_field("pg_name", nullable));
  whole.children.push_back(dictionary_field("involved_dim", nullable));
  return whole;
}

/// Releases what was exported and not moved away by the consumer.
template <class Exported>
void release_all(std::vector<Exported>& exported) {
  for (Exported& one : exported) {
    if (one.release != nullptr) {
      one.release(&one);
    }
  }
}

/// Owner of an exported schema's strings and children.
struct SchemaParts {
  SchemaParts() = default;
  SchemaParts(const SchemaParts&) = delete;
  SchemaParts& operator=(const SchemaParts&) = delete;
  ~SchemaParts() { release_all(schemas); }

  Field field;
  std::vector<ArrowSchema> schemas;  ///< children, then the dictionary
  std::vector<ArrowSchema*> children;
};

void release_schema(ArrowSchema* schema) {
  delete static_cast<SchemaParts*>(schema->private_data);
  schema->release = nullptr;
}

void export_field(Field field, ArrowSchema* out) {
  auto parts = std::make_unique<SchemaParts>();
  parts->field = std::move(field);
  const std::size_t children = parts->field.children.size();
  parts->schemas.resize(children + parts->field.dictionary.size());
  for (std::size_t i = 0; i < parts->schemas.size(); ++i) {
    const bool is_child = i < children;
    export_field(is_child ? parts->field.children[i] : parts->field.dictionary[i - children], &parts->schemas[i]);
    if (is_child) {
      parts->children.push_back(&parts->schemas[i]);
    }
  }
  ArrowSchema* const dictionary = parts->field.dictionary.empty() ? nullptr : &parts->schemas.back();
  *out = {parts->field.format.c_str(),
          parts->field.name.c_str(),
          nullptr,
          parts->field.flags,
          static_cast<std::int64_t>(children),
          parts->children.data(),
          dictionary,
          &release_schema,
          nullptr};
  out->private_data = parts.release();
}

/// A column before it is exported. Whatever a buffer points to is held by `owner`.
struct ColumnParts {
  std::shared_ptr<const void> owner;
  std::int64_t length = 0;
  std::int64_t null_count = 0;
  std::vector<const void*> buffers = {};
  std::vector<ColumnParts> children = {};
  std::vector<ColumnParts> dictionary = {};  ///< none or one
};

/// Owner of an exported array's buffers and children.
struct ArrayParts {
  ArrayParts() = default;
  ArrayParts(const ArrayParts&) = delete;
  ArrayParts& operator=(const ArrayParts&) = delete;
  ~ArrayParts() { release_all(arrays); }

  std::shared_ptr<const void> owner;
  std::vector<const void*> buffers;
  std::vector<ArrowArray> arrays;  ///< children, then the dictionary
  std::vector<ArrowArray*> children;
};

void release_array(ArrowArray* array) {
  delete static_cast<ArrayParts*>(array->private_data);
  array->release = nullptr;
}

void export_column(ColumnParts column, ArrowArray* out) {
  auto parts = std::make_unique<ArrayParts>();
  parts->owner = std::move(column.owner);
  parts->buffers = std::move(column.buffers);
  const std::size_t children = column.children.size();
  parts->arrays.resize(children + column.dictionary.size());
  for (std::size_t i = 0; i < parts->arrays.size(); ++i) {
    const bool is_child = i < children;
    export_column(std::move(is_child ? column.children[i] : column.dictionary[i - children]), &parts->arrays[i]);
    if (is_child) {
      parts->children.push_back(&parts->arrays[i]);
    }
  }
  *out = {column.length,
          column.null_count,
          0,
          static_cast<std::int64_t>(parts->buffers.size()),
          static_cast<std::int64_t>(children),
          parts->buffers.data(),
          parts->children.data(),
          column.dictionary.empty() ? nullptr : &parts->arrays.back(),
          &release_array,
          nullptr};
  out->private_data = parts.release();
}

/// Buffers of no bytes still have an address: some readers take a null one for a missing buffer.
constexpr std::uint64_t nothing = 0;

template <class Values>
const void* address(const Values& values) noexcept {
  return values.empty() ? static_cast<const void*>(&nothing) : static_cast<const void*>(values.data());
}

std::int64_t length_of(const Trace& trace) noexcept { return static_cast<std::int64_t>(trace.size()); }

ColumnParts plain_column(const TracePtr& trace, const void* values) {
  return {trace, length_of(*trace), 0, {nullptr, values}};
}

/// Dependencies as node ids; the offsets are the trace's own.
ColumnParts list_column(const TracePtr& trace, const Adjacency& parents) {
  const auto ids = std::make_shared<std::vector<NodeId>>();
  ids->reserve(parents.indices.size());
  for (const NodeIndex row : parents.indices) {
    ids->push_back(trace->ids()[row]);
  }
  ColumnParts list = plain_column(trace, address(parents.offsets));
  list.children.push_back({ids, static_cast<std::int64_t>(ids->size()), 0, {nullptr, address(*ids)}});
  return list;
}

/// Values by row with a validity bitmap, both made for the export.
template <class Wide>
struct Unpacked {
  std::vector<std::uint64_t> validity;
  std::vector<Wide> values;
};

template <class Wide, class Value>
ColumnParts unpacked_column(const Trace& trace, const AttributeColumn<Value>& column) {
  const auto parts = std::make_shared<Unpacked<Wide>>();
  parts->validity.assign(column.presence().begin(), column.presence().end());
  parts->validity.resize((trace.size() + 63) / 64, 0);
  parts->values.resize(trace.size(), 0);
  std::size_t next = 0;
  for (std::size_t word = 0; word < column.presence().size(); ++word) {
    for (std::uint64_t bits = column.presence()[word]; bits != 0; bits &= bits - 1) {
      const std::size_t row = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
      parts->values[row] = static_cast<Wide>(column.values()[next++]);
    }
  }
  const auto absent = length_of(trace) - static_cast<std::int64_t>(column.count());
  return {parts, length_of(trace), absent, {address(parts->validity), address(parts->values)}};
}

ColumnParts flag_column(const Trace& trace) {
  const AttributeColumn<std::uint8_t>& column = trace.is_cpu_op();
  ColumnParts flags = unpacked_column<std::uint8_t>(trace, column);
  const auto bits = std::make_shared<Unpacked<std::uint64_t>>();
  bits->validity.assign(column.presence().begin(), column.presence().end());
  bits->validity.resize((trace.size() + 63) / 64, 0);
  bits->values.resize((trace.size() + 63) / 64, 0);
  const auto* const values = static_cast<const std::uint8_t*>(flags.buffers[1]);
  for (std::size_t row = 0; row < trace.size(); ++row) {
    bits->values[row / 64] |= std::uint64_t{values[row]} << (row % 64);
  }
  return {bits, flags.length, flags.null_count, {address(bits->validity), address(bits->values)}};
}

/// All interned strings one after another, shared by the dictionaries of an export.
struct Strings {
  std::vector<std::int64_t> offsets = {0};
  std::string bytes;
};

ColumnParts dictionary_of(const Trace& trace) {
  const auto strings = std::make_shared<Strings>();
  if (trace.string_count() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw ChakraError("a trace of more than 2,147,483,647 different strings has no form in Arrow here");
  }
  for (std::uint32_t id = 0; id < trace.string_count(); ++id) {
    strings->bytes += trace.string(id);
    strings->offsets.push_back(static_cast<std::int64_t>(strings->bytes.size()));
  }
  return {strings,
          static_cast<std::int64_t>(trace.string_count()),
          0,
          {nullptr, address(strings->offsets), address(strings->bytes)}};
}

ColumnParts trace_column(const TracePtr& trace) {
  const Trace& t = *trace;
  const ColumnParts strings = dictionary_of(t);
  // Numbers of strings are below 2^31 here, so that the same bits are an int32.
  ColumnParts names = plain_column(trace, address(t.name_ids()));
  names.dictionary.push_back(strings);
  ColumnParts whole{trace, length_of(t), 0, {nullptr}};
  whole.children = {plain_column(trace, address(t.ids())),
                    std::move(names),
                    plain_column(trace, address(t.types())),
                    plain_column(trace, address(t.start_ns())),
                    plain_column(trace, address(t.duration_ns())),
                    list_column(trace, t.data_deps()),
                    list_column(trace, t.ctrl_deps()),
                    flag_column(t)};
  for (std::size_t i = 0; i < integer_attribute_count; ++i) {
    whole.children.push_back(unpacked_column<std::int64_t>(t, t.column(static_cast<IntegerAttribute>(i))));
  }
  for (const auto* const column : {&t.pg_name(), &t.involved_dim()}) {
    whole.children.push_back(unpacked_column<std::int32_t>(t, *column));
    whole.children.back().dictionary.push_back(strings);
  }
  return whole;
}

/// State of a stream: the trace until it has been handed out.
struct StreamParts {
  TracePtr trace;
  bool handed_out = false;
  std::string error;
};

/// Runs `work` for a C caller, who takes an error number and asks for the text.
template <class Work>
int guarded(ArrowArrayStream* stream, Work&& work) {
  auto& parts = *static_cast<StreamParts*>(stream->private_data);
  try {
    work(parts);
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  } catch (const std::exception& error) {
    parts.error = error.what();
    return EINVAL;
  }
}

int stream_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  return guarded(stream, [&](StreamParts&) { export_schema(out); });
}

int stream_next(ArrowArrayStream* stream, ArrowArray* out) {
  return guarded(stream, [&](StreamParts& parts) {
    *out = {};
    if (!std::exchange(parts.handed_out, true)) {
      export_array(parts.trace, out);
    }
  });
}

const char* stream_error(ArrowArrayStream* stream) {
  const auto& error = static_cast<StreamParts*>(stream->private_data)->error;
  return error.empty() ? nullptr : error.c_str();
}

void release_stream(ArrowArrayStream* stream) {
  delete static_cast<StreamParts*>(stream->private_data);
  stream->release = nullptr;
}

}  // namespace

void export_schema(ArrowSchema* out) { export_field(trace_field(), out); }

void export_array(const TracePtr& trace, ArrowArray* out) { export_column(trace_column(trace), out); }

void export_stream(const TracePtr& trace, ArrowArrayStream* out) {
  *out = {&stream_schema, &stream_next, &stream_error, &release_stream, new StreamParts{trace, false, {}}};
}

}  // namespace chakra
