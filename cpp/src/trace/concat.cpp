// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>

#include "chakra_core/errors.hpp"
#include "chakra_core/trace_builder.hpp"
#include "chakra_core/trace_ops.hpp"
#include "trace/row_block.hpp"
#include "trace/trace_storage.hpp"

namespace chakra {

namespace {

using detail::RecordForm;
using detail::TraceStorage;

template <class Column>
void copy_rows(const Column& from, Column& to, std::size_t first) {
  std::copy(from.begin(), from.end(), to.begin() + static_cast<std::ptrdiff_t>(first));
}

void append_parents(const Adjacency& from, NodeIndex first, detail::Column<std::uint64_t>& offsets,
                    detail::Column<NodeIndex>& parents) {
  const std::uint64_t before = parents.size();
  for (std::size_t row = 0; row + 1 < from.offsets.size(); ++row) {
    offsets[first + row + 1] = before + from.offsets[row + 1];
  }
  parents.resize(before + from.indices.size());
  std::transform(from.indices.begin(), from.indices.end(), parents.begin() + static_cast<std::ptrdiff_t>(before),
                 [&](NodeIndex parent) { return parent + first; });
}

AttributeColumn<std::uint32_t> renumbered(AttributeColumn<std::uint32_t> column,
                                          const std::vector<std::uint32_t>& strings) {
  column.map([&](std::uint32_t id) { return strings[id]; });
  return column;
}

void append_columns(const TraceStorage& from, NodeIndex first, TraceStorage& to) {
  std::vector<std::uint32_t> strings(from.strings.size());
  for (std::uint32_t id = 0; id < from.strings.size(); ++id) {
    strings[id] = to.strings.intern(from.strings.view(id));
  }
  copy_rows(from.ids, to.ids, first);
  copy_rows(from.types, to.types, first);
  copy_rows(from.start_ns, to.start_ns, first);
  copy_rows(from.duration_ns, to.duration_ns, first);
  copy_rows(from.record_begin, to.record_begin, first);
  copy_rows(from.record_size, to.record_size, first);
  copy_rows(from.record_form, to.record_form, first);
  std::transform(from.name_ids.begin(), from.name_ids.end(), to.name_ids.begin() + first,
                 [&](std::uint32_t id) { return strings[id]; });
  to.attributes.is_cpu_op.append(first, from.attributes.is_cpu_op);
  to.attributes.pg_name.append(first, renumbered(from.attributes.pg_name, strings));
  to.attributes.involved_dim.append(first, renumbered(from.attributes.involved_dim, strings));
  for (std::size_t i = 0; i < integer_attribute_count; ++i) {
    to.attributes.integers[i].append(first, from.attributes.integers[i]);
  }
}

void append_trace(const Trace& trace, NodeIndex first, TraceStorage& to) {
  append_columns(trace.storage(), first, to);
  append_parents(trace.data_deps(), first, to.data_offsets, to.data_parents);
  append_parents(trace.ctrl_deps(), first, to.ctrl_offsets, to.ctrl_parents);
  for (const auto& source : trace.storage().sources) {
    if (std::find(to.sources.begin(), to.sources.end(), source) == to.sources.end()) {
      to.sources.push_back(source);
    }
  }
  to.left_out_dependencies += trace.storage().left_out_dependencies;
}

/// Whether any parent of a row gets another id when ids become rows.
bool renames_a_parent(const TraceStorage& storage, const detail::Column<std::uint64_t>& offsets,
                      const detail::Column<NodeIndex>& parents, std::size_t row) {
  return std::any_of(parents.begin() + static_cast<std::ptrdiff_t>(offsets[row]),
                     parents.begin() + static_cast<std::ptrdiff_t>(offsets[row + 1]),
                     [&](NodeIndex parent) { return storage.ids[parent] != parent; });
}

/// Ids become rows. Records of nodes that nothing changes for stay whole.
void renumber(TraceStorage& storage) {
  for (std::size_t row = 0; row < storage.ids.size(); ++row) {
    RecordForm& form = storage.record_form[row];
    if (form == RecordForm::tail) {
      continue;
    }
    if (storage.ids[row] != row) {
      form = RecordForm::whole_but_id_and_deps;
    } else if (form == RecordForm::whole &&
               (renames_a_parent(storage, storage.data_offsets, storage.data_parents, row) ||
                renames_a_parent(storage, storage.ctrl_offsets, storage.ctrl_parents, row))) {
      form = RecordForm::whole_but_deps;
    }
  }
  for (std::size_t row = 0; row < storage.ids.size(); ++row) {
    storage.ids[row] = row;
  }
}

void index_ids(TraceStorage& storage) {
  const auto duplicates = storage.index.build(storage.ids);
  if (!duplicates.empty()) {
    const auto& [first, second] = duplicates.front();
    throw ChakraError("node id " + std::to_string(storage.ids[second]) + " is that of rows " + std::to_string(first) +
                      " and " + std::to_string(second) + " of the whole; renumber the ids");
  }
}

}  // namespace

TracePtr concat(std::span<const TracePtr> traces, ConcatIds ids) {
  if (traces.empty()) {
    return TraceBuilder().build();
  }
  std::size_t rows = 0;
  for (const TracePtr& trace : traces) {
    rows += trace->size();
  }
  auto storage = std::make_unique<TraceStorage>();
  detail::resize_rows(*storage, rows);
  storage->data_offsets[0] = 0;
  storage->ctrl_offsets[0] = 0;
  std::size_t first = 0;
  for (const TracePtr& trace : traces) {
    append_trace(*trace, static_cast<NodeIndex>(first), *storage);
    first += trace->size();
  }
  storage->attributes.shrink_to_fit();
  if (ids == ConcatIds::renumber) {
    renumber(*storage);
  }
  index_ids(*storage);
  storage->metadata = traces.front()->metadata();
  storage->metadata_record = std::string(traces.front()->metadata_record());
  const std::string& source = traces.front()->source();
  if (std::all_of(traces.begin(), traces.end(), [&](const TracePtr& trace) { return trace->source() == source; })) {
    storage->source = source;
  }
  return std::make_shared<const Trace>(std::move(storage));
}

}  // namespace chakra
