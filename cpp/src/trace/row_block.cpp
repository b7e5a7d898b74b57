// SPDX-License-Identifier: MIT
#include "trace/row_block.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "chakra_core/errors.hpp"

namespace chakra::detail {

namespace {
constexpr std::size_t most_nodes = std::numeric_limits<NodeIndex>::max() - 1;
}

void resize_rows(TraceStorage& storage, std::size_t rows) {
  if (rows > most_nodes) {
    throw ChakraError("a trace holds at most 4,294,967,294 nodes; split the file");
  }
  storage.ids.resize(rows);
  storage.types.resize(rows);
  storage.name_ids.resize(rows);
  storage.start_ns.resize(rows);
  storage.duration_ns.resize(rows);
  storage.data_offsets.resize(rows + 1);
  storage.ctrl_offsets.resize(rows + 1);
  storage.record_begin.resize(rows);
  storage.record_size.resize(rows);
  storage.record_form.resize(rows);
}

void RowBlock::append(const wire::DecodedNode& node, std::string_view record, RecordForm form) {
  if (record.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw ChakraError("a node of more than 4 GiB; protobuf itself allows 2 GiB");
  }
  TraceStorage& to = *storage_;
  const std::size_t row = first_row_ + rows_;
  if (rows_ == room_) {
    resize_rows(to, row + 1);
    ++room_;
  }
  const auto local = static_cast<NodeIndex>(rows_);
  to.ids[row] = node.id;
  to.types[row] = static_cast<NodeType>(node.type);
  to.name_ids[row] = strings_->intern_name(node, row);
  to.start_ns[row] = node.start_ns;
  to.duration_ns[row] = node.duration_ns;
  data_parent_ids.append(node.data_deps);
  ctrl_parent_ids.append(node.ctrl_deps);
  to.data_offsets[row + 1] = data_parent_ids.size();
  to.ctrl_offsets[row + 1] = ctrl_parent_ids.size();
  to.record_begin[row] = record.data();
  to.record_size[row] = static_cast<std::uint32_t>(record.size());
  to.record_form[row] = form;
  if (node.is_cpu_op) {
    attributes.is_cpu_op.append(local, *node.is_cpu_op ? 1 : 0);
  }
  for (std::uint32_t bits = node.integers_present; bits != 0; bits &= bits - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(bits));
    attributes.integers[i].append(local, node.integers[i]);
  }
  if (node.pg_name) {
    attributes.pg_name.append(local, strings_->intern(*node.pg_name, row));
  }
  if (node.involved_dim) {
    attributes.involved_dim.append(local, strings_->intern(*node.involved_dim, row));
  }
  ++rows_;
}

void RowBlock::reserve() {
  attributes.is_cpu_op.reserve(room_);
  for (std::size_t i = 0; i < integer_attribute_count; ++i) {
    attributes.integers[i].reserve(std::min(room_, strings_->usual_counts[i] + strings_->usual_counts[i] / 8));
  }
}

void RowBlock::remember_counts() noexcept {
  for (std::size_t i = 0; i < integer_attribute_count; ++i) {
    strings_->usual_counts[i] = attributes.integers[i].count();
  }
}

}  // namespace chakra::detail
