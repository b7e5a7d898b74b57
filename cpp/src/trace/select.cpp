// SPDX-License-Identifier: MIT
#include <algorithm>
#include <limits>
#include <utility>

#include "chakra_core/errors.hpp"
#include "chakra_core/trace_ops.hpp"
#include "trace/row_block.hpp"
#include "trace/trace_storage.hpp"

namespace chakra {

namespace {

using detail::RecordForm;
using detail::TraceStorage;

constexpr NodeIndex not_kept = std::numeric_limits<NodeIndex>::max();

/// Where each row of the whole trace goes.
std::vector<NodeIndex> new_rows(const Trace& trace, std::span<const NodeIndex> rows) {
  std::vector<NodeIndex> to(trace.size(), not_kept);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] >= trace.size()) {
      throw ChakraError("row " + std::to_string(rows[i]) + " is not in a trace of " + std::to_string(trace.size()) +
                        " nodes");
    }
    if (to[rows[i]] != not_kept) {
      throw ChakraError("row " + std::to_string(rows[i]) + " (node " + std::to_string(trace.ids()[rows[i]]) +
                        ") is selected twice; name each row once");
    }
    to[rows[i]] = static_cast<NodeIndex>(i);
  }
  return to;
}

/// Strings of the selection, in the order in which they are first asked for.
class KeptStrings {
 public:
  KeptStrings(const TraceStorage& from, TraceStorage& to)
      : from_(from), to_(to), ids_(from.strings.size(), std::numeric_limits<std::uint32_t>::max()) {}

  std::uint32_t operator()(std::uint32_t id) {
    if (ids_[id] == std::numeric_limits<std::uint32_t>::max()) {
      ids_[id] = to_.strings.intern(from_.strings.view(id));
    }
    return ids_[id];
  }

 private:
  const TraceStorage& from_;
  TraceStorage& to_;
  std::vector<std::uint32_t> ids_;
};

template <class Value, class Change>
void gather(const AttributeColumn<Value>& from, std::span<const NodeIndex> rows, AttributeColumn<Value>& to,
            Change&& change) {
  if (from.count() == 0) {
    return;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (const auto value = from.get(rows[i])) {
      to.append(static_cast<NodeIndex>(i), change(*value));
    }
  }
}

void gather_columns(const TraceStorage& from, std::span<const NodeIndex> rows, TraceStorage& to) {
  KeptStrings strings(from, to);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const NodeIndex row = rows[i];
    to.ids[i] = from.ids[row];
    to.types[i] = from.types[row];
    to.name_ids[i] = strings(from.name_ids[row]);
    to.start_ns[i] = from.start_ns[row];
    to.duration_ns[i] = from.duration_ns[row];
    to.record_begin[i] = from.record_begin[row];
    to.record_size[i] = from.record_size[row];
    to.record_form[i] = from.record_form[row];
  }
  const auto same = [](auto value) { return value; };
  gather(from.attributes.is_cpu_op, rows, to.attributes.is_cpu_op, same);
  gather(from.attributes.pg_name, rows, to.attributes.pg_name, strings);
  gather(from.attributes.involved_dim, rows, to.attributes.involved_dim, strings);
  for (std::size_t i = 0; i < integer_attribute_count; ++i) {
    gather(from.attributes.integers[i], rows, to.attributes.integers[i], same);
  }
  to.attributes.shrink_to_fit();
}

/// Parents that are kept; the record of a row that lost one no longer says its dependencies.
void gather_parents(const Adjacency& parents, std::span<const NodeIndex> rows, const std::vector<NodeIndex>& to_row,
                    TraceStorage& to, detail::Column<std::uint64_t>& offsets, detail::Column<NodeIndex>& kept) {
  offsets[0] = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto before = kept.size();
    for (const NodeIndex parent : parents[rows[i]]) {
      if (to_row[parent] != not_kept) {
        kept.push_back(to_row[parent]);
      }
    }
    offsets[i + 1] = kept.size();
    if (const auto left_out = parents[rows[i]].size() - (kept.size() - before); left_out != 0) {
      to.left_out_dependencies += left_out;
      if (to.record_form[i] == RecordForm::whole) {
        to.record_form[i] = RecordForm::whole_but_deps;
      }
    }
  }
  kept.shrink_to_fit();
}

bool runs_within(std::uint64_t start, std::uint64_t duration, const NodeFilter& filter) noexcept {
  if (filter.end_ns && start >= *filter.end_ns) {
    return false;
  }
  const std::uint64_t from = filter.start_ns.value_or(0);
  return start >= from || duration > from - start;
}

/// For each interned string whether it is one of these.
std::vector<bool> wanted_strings(const Trace& trace, const std::vector<std::string>& texts) {
  std::vector<bool> wanted(trace.string_count(), false);
  for (const std::string& text : texts) {
    if (const auto id = trace.storage().strings.find(text)) {
      wanted[*id] = true;
    }
  }
  return wanted;
}

}  // namespace

std::vector<NodeIndex> rows_where(const Trace& trace, const NodeFilter& filter) {
  const std::vector<bool> groups = wanted_strings(trace, filter.process_groups);
  std::vector<NodeIndex> rows;
  for (NodeIndex row = 0; row < trace.size(); ++row) {
    const auto& types = filter.types;
    if (!types.empty() && std::find(types.begin(), types.end(), trace.types()[row]) == types.end()) {
      continue;
    }
    if (!runs_within(trace.start_ns()[row], trace.duration_ns()[row], filter)) {
      continue;
    }
    if (!filter.process_groups.empty()) {
      const auto group = trace.pg_name().get(row);
      if (!group || !groups[*group]) {
        continue;
      }
    }
    rows.push_back(row);
  }
  return rows;
}

std::vector<NodeIndex> rows_of(const Trace& trace, std::span<const NodeId> ids) {
  std::vector<NodeIndex> rows;
  rows.reserve(ids.size());
  for (const NodeId id : ids) {
    const auto row = trace.find(id);
    if (!row) {
      throw ChakraError("no node has the id " + std::to_string(id));
    }
    rows.push_back(*row);
  }
  return rows;
}

TracePtr select(const Trace& trace, std::span<const NodeIndex> rows) {
  const TraceStorage& from = trace.storage();
  const std::vector<NodeIndex> to_row = new_rows(trace, rows);
  auto storage = std::make_unique<TraceStorage>();
  detail::resize_rows(*storage, rows.size());
  gather_columns(from, rows, *storage);
  gather_parents(trace.data_deps(), rows, to_row, *storage, storage->data_offsets, storage->data_parents);
  gather_parents(trace.ctrl_deps(), rows, to_row, *storage, storage->ctrl_offsets, storage->ctrl_parents);
  storage->index.build(storage->ids);
  storage->sources = from.sources;
  storage->metadata = from.metadata;
  storage->metadata_record = from.metadata_record;
  storage->source = from.source;
  return std::make_shared<const Trace>(std::move(storage));
}

std::uint64_t left_out_dependencies(const Trace& trace) noexcept { return trace.storage().left_out_dependencies; }

}  // namespace chakra
