// SPDX-License-Identifier: MIT
#include "trace/trace_assembly.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "chakra_core/errors.hpp"

namespace chakra::detail {

namespace {

constexpr std::size_t most_nodes = std::numeric_limits<NodeIndex>::max() - 1;
/// A message about missing parents names this many of them.
constexpr std::size_t most_named = 5;

template <class Value>
AttributeColumn<Value> kept_rows(const AttributeColumn<Value>& column, const std::vector<bool>& keep) {
  AttributeColumn<Value> kept;
  NodeIndex to = 0;
  for (std::size_t row = 0; row < keep.size(); ++row) {
    if (!keep[row]) {
      continue;
    }
    if (const auto value = column.get(static_cast<NodeIndex>(row))) {
      kept.append(to, *value);
    }
    ++to;
  }
  return kept;
}

template <class Value>
void keep_rows(std::vector<Value>& column, const std::vector<bool>& keep) {
  std::size_t to = 0;
  for (std::size_t row = 0; row < keep.size(); ++row) {
    if (keep[row]) {
      column[to++] = column[row];
    }
  }
  column.resize(to);
}

void keep_rows(std::vector<std::uint64_t>& offsets, std::vector<NodeId>& parents, const std::vector<bool>& keep) {
  std::vector<std::uint64_t> new_offsets = {0};
  std::size_t to = 0;
  for (std::size_t row = 0; row < keep.size(); ++row) {
    if (!keep[row]) {
      continue;
    }
    for (std::uint64_t i = offsets[row]; i < offsets[row + 1]; ++i) {
      parents[to++] = parents[i];
    }
    new_offsets.push_back(to);
  }
  parents.resize(to);
  offsets = std::move(new_offsets);
}

}  // namespace

TraceAssembly::TraceAssembly() : storage_(std::make_unique<TraceStorage>()) {
  storage_->data_offsets.push_back(0);
  storage_->ctrl_offsets.push_back(0);
}

void TraceAssembly::reserve(std::size_t nodes) {
  TraceStorage& to = *storage_;
  to.ids.reserve(nodes);
  to.types.reserve(nodes);
  to.name_ids.reserve(nodes);
  to.start_ns.reserve(nodes);
  to.duration_ns.reserve(nodes);
  to.data_offsets.reserve(nodes + 1);
  to.ctrl_offsets.reserve(nodes + 1);
  to.record_begin.reserve(nodes);
  to.record_size.reserve(nodes);
  to.record_form.reserve(nodes);
}

void TraceAssembly::append(const wire::DecodedNode& node, std::string_view record, RecordForm form) {
  TraceStorage& to = *storage_;
  if (to.ids.size() >= most_nodes) {
    throw ChakraError("a trace holds at most 4,294,967,294 nodes; split the file");
  }
  if (record.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw ChakraError("a node of more than 4 GiB; protobuf itself allows 2 GiB");
  }
  const auto row = static_cast<NodeIndex>(to.ids.size());
  to.ids.push_back(node.id);
  to.types.push_back(static_cast<NodeType>(node.type));
  to.name_ids.push_back(to.strings.intern(node.name));
  to.start_ns.push_back(node.start_ns);
  to.duration_ns.push_back(node.duration_ns);
  data_parent_ids_.insert(data_parent_ids_.end(), node.data_deps.begin(), node.data_deps.end());
  ctrl_parent_ids_.insert(ctrl_parent_ids_.end(), node.ctrl_deps.begin(), node.ctrl_deps.end());
  to.data_offsets.push_back(data_parent_ids_.size());
  to.ctrl_offsets.push_back(ctrl_parent_ids_.size());
  if (node.is_cpu_op) {
    to.is_cpu_op.append(row, *node.is_cpu_op ? 1 : 0);
  }
  for (std::size_t i = 0; i < integer_attribute_count; ++i) {
    if ((node.integers_present >> i & 1U) != 0) {
      to.integers[i].append(row, node.integers[i]);
    }
  }
  if (node.pg_name) {
    to.pg_name.append(row, to.strings.intern(*node.pg_name));
  }
  if (node.involved_dim) {
    to.involved_dim.append(row, to.strings.intern(*node.involved_dim));
  }
  to.record_begin.push_back(record.data());
  to.record_size.push_back(static_cast<std::uint32_t>(record.size()));
  to.record_form.push_back(form);
}

/// Record 0 is the metadata. Holds until drop_duplicates() moves the rows.
std::uint64_t TraceAssembly::record_number(NodeIndex row) const {
  const auto skipped = std::upper_bound(skipped_before_.begin(), skipped_before_.end(), std::size_t{row});
  return std::uint64_t{row} + 1 + static_cast<std::uint64_t>(skipped - skipped_before_.begin());
}

std::string TraceAssembly::describe_record(NodeIndex row) const {
  std::string text = "record " + std::to_string(record_number(row));
  const char* const at = storage_->record_begin[row];
  for (const auto& source : storage_->sources) {
    const std::string_view bytes = source->bytes();
    if (at >= bytes.data() && at < bytes.data() + bytes.size()) {
      text += " (byte offset " + std::to_string(at - bytes.data()) + ")";
    }
  }
  return text;
}

void TraceAssembly::drop_duplicates(const std::vector<IdIndex::Duplicate>& duplicates) {
  TraceStorage& to = *storage_;
  std::vector<bool> keep(to.ids.size(), true);
  for (const auto& [first, second] : duplicates) {
    keep[second] = false;
    to.load_report.add({ProblemKind::duplicate_id,
                        "node id " + std::to_string(to.ids[second]) + " of " + describe_record(first) +
                            " stands again in " + describe_record(second) + ", which was dropped",
                        {to.ids[second]},
                        record_number(second)});
  }
  keep_rows(to.ids, keep);
  keep_rows(to.types, keep);
  keep_rows(to.name_ids, keep);
  keep_rows(to.start_ns, keep);
  keep_rows(to.duration_ns, keep);
  keep_rows(to.record_begin, keep);
  keep_rows(to.record_size, keep);
  keep_rows(to.record_form, keep);
  keep_rows(to.data_offsets, data_parent_ids_, keep);
  keep_rows(to.ctrl_offsets, ctrl_parent_ids_, keep);
  to.is_cpu_op = kept_rows(to.is_cpu_op, keep);
  to.pg_name = kept_rows(to.pg_name, keep);
  to.involved_dim = kept_rows(to.involved_dim, keep);
  for (auto& column : to.integers) {
    column = kept_rows(column, keep);
  }
}

void TraceAssembly::throw_missing_parents() const {
  const TraceStorage& from = *storage_;
  std::vector<NodeId> missing;
  std::string named;
  std::size_t count = 0;
  for (std::size_t row = 0; row < from.ids.size(); ++row) {
    const auto look = [&](const std::vector<std::uint64_t>& offsets, const std::vector<NodeId>& parents) {
      for (std::uint64_t i = offsets[row]; i < offsets[row + 1]; ++i) {
        if (from.index.find(parents[i])) {
          continue;
        }
        if (count++ < most_named) {
          named += (named.empty() ? "" : "; ") + std::string("node ") + std::to_string(from.ids[row]) +
                   " depends on missing node " + std::to_string(parents[i]);
        }
        missing.push_back(parents[i]);
      }
    };
    look(from.data_offsets, data_parent_ids_);
    look(from.ctrl_offsets, ctrl_parent_ids_);
  }
  if (count > most_named) {
    named += "; and " + std::to_string(count - most_named) + " more";
  }
  std::sort(missing.begin(), missing.end());
  missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
  throw DependencyError((from.source.empty() ? "" : from.source + ": ") + named +
                            ". Load with on_error=\"recover\" to drop such dependencies",
                        std::move(missing));
}

void TraceAssembly::resolve(const std::vector<NodeId>& parent_ids, std::vector<std::uint64_t>& offsets,
                            std::vector<NodeIndex>& parents, OnError on_error) {
  TraceStorage& to = *storage_;
  parents.reserve(parent_ids.size());
  std::uint64_t begin = 0;
  for (std::size_t row = 0; row < to.ids.size(); ++row) {
    const std::uint64_t end = offsets[row + 1];
    for (std::uint64_t i = begin; i < end; ++i) {
      if (const auto parent = to.index.find(parent_ids[i])) {
        parents.push_back(*parent);
        continue;
      }
      if (on_error == OnError::strict) {
        throw_missing_parents();
      }
      to.load_report.add({ProblemKind::missing_parent,
                          "node " + std::to_string(to.ids[row]) + " depends on missing node " +
                              std::to_string(parent_ids[i]) + "; the dependency was dropped",
                          {to.ids[row], parent_ids[i]}});
      if (to.record_form[row] == RecordForm::whole) {
        to.record_form[row] = RecordForm::whole_but_deps;
      }
    }
    begin = end;
    offsets[row + 1] = parents.size();
  }
}

void TraceAssembly::shrink_to_fit() {
  TraceStorage& to = *storage_;
  to.ids.shrink_to_fit();
  to.types.shrink_to_fit();
  to.name_ids.shrink_to_fit();
  to.start_ns.shrink_to_fit();
  to.duration_ns.shrink_to_fit();
  to.data_offsets.shrink_to_fit();
  to.ctrl_offsets.shrink_to_fit();
  to.record_begin.shrink_to_fit();
  to.record_size.shrink_to_fit();
  to.record_form.shrink_to_fit();
  to.is_cpu_op.shrink_to_fit();
  to.pg_name.shrink_to_fit();
  to.involved_dim.shrink_to_fit();
  for (auto& column : to.integers) {
    column.shrink_to_fit();
  }
}

TracePtr TraceAssembly::finish(OnError on_error) {
  TraceStorage& to = *storage_;
  // Before the index, which keeps a view of the ids.
  shrink_to_fit();
  const auto duplicates = to.index.build(to.ids);
  if (!duplicates.empty()) {
    if (on_error == OnError::strict) {
      const auto& [first, second] = duplicates.front();
      throw FormatError({to.source, record_number(second), {}}, "node id " + std::to_string(to.ids[second]) +
                                                                    " is already that of " + describe_record(first) +
                                                                    "; ids must be unique in a file");
    }
    drop_duplicates(duplicates);
    to.index.build(to.ids);
  }
  resolve(data_parent_ids_, to.data_offsets, to.data_parents, on_error);
  resolve(ctrl_parent_ids_, to.ctrl_offsets, to.ctrl_parents, on_error);
  data_parent_ids_ = {};
  ctrl_parent_ids_ = {};
  return std::make_shared<const Trace>(std::exchange(storage_, nullptr));
}

}  // namespace chakra::detail
