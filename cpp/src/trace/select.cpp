// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>

#include "chakra_core/errors.hpp"
#include "chakra_core/trace_ops.hpp"
#include "trace/kept_rows.hpp"
#include "trace/trace_storage.hpp"

namespace chakra {

namespace {

using detail::not_kept;
using detail::RecordForm;
using detail::TraceStorage;

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
  const std::vector<NodeIndex> to_row = detail::new_rows(trace, rows);
  std::unique_ptr<TraceStorage> storage = detail::keep_rows(trace.storage(), rows);
  gather_parents(trace.data_deps(), rows, to_row, *storage, storage->data_offsets, storage->data_parents);
  gather_parents(trace.ctrl_deps(), rows, to_row, *storage, storage->ctrl_offsets, storage->ctrl_parents);
  return std::make_shared<const Trace>(std::move(storage));
}

std::uint64_t left_out_dependencies(const Trace& trace) noexcept { return trace.storage().left_out_dependencies; }

}  // namespace chakra
