// SPDX-License-Identifier: MIT
#include "trace/kept_rows.hpp"

#include <string>
#include <utility>

#include "chakra_core/errors.hpp"
#include "trace/row_block.hpp"

namespace chakra::detail {

namespace {

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

}  // namespace

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

std::unique_ptr<TraceStorage> keep_rows(const TraceStorage& from, std::span<const NodeIndex> rows) {
  auto storage = std::make_unique<TraceStorage>();
  resize_rows(*storage, rows.size());
  gather_columns(from, rows, *storage);
  storage->index.build(storage->ids);
  storage->sources = from.sources;
  storage->metadata = from.metadata;
  storage->metadata_record = from.metadata_record;
  storage->source = from.source;
  return storage;
}

}  // namespace chakra::detail
