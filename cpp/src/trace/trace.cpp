// SPDX-License-Identifier: MIT
#include "chakra_core/trace.hpp"

#include <algorithm>
#include <utility>

#include "chakra_core/errors.hpp"
#include "trace/record_encoder.hpp"
#include "trace/trace_storage.hpp"
#include "wire/decode.hpp"

namespace chakra {

namespace {

constexpr std::array<std::string_view, integer_attribute_count> integer_attribute_names = {
    "num_ops",  "tensor_size", "comm_type", "comm_size", "comm_priority",
    "comm_src", "comm_dst",    "comm_tag",  "stream",    "tid",
};

template <class Column>
std::size_t column_bytes(const Column& column) noexcept {
  return column.size() * sizeof(typename Column::value_type);
}

/// Bytes that were decoded once when the trace was loaded may still hold a cold part that is malformed.
template <class Decode>
auto decode_cold(const Trace& trace, NodeIndex row, Decode&& decode) {
  try {
    return decode(trace.storage().record_bytes(row));
  } catch (const wire::Malformed& error) {
    const auto offset = trace.record_offset(row);
    throw FormatError({trace.source(), {}, offset ? std::optional(*offset + error.offset()) : std::nullopt},
                      "node " + std::to_string(trace.ids()[row]) + ": " + error.what());
  }
}

void append_parent_ids(std::vector<NodeId>& ids, const detail::TraceStorage& storage, std::span<const NodeIndex> rows,
                       const detail::ParentsApart& apart, NodeIndex row) {
  for (const NodeIndex parent : rows) {
    ids.push_back(storage.ids[parent]);
  }
  const auto elsewhere = apart[row];
  ids.insert(ids.end(), elsewhere.begin(), elsewhere.end());
}

}  // namespace

namespace detail {

std::optional<std::uint64_t> RecordSource::offset_of(const char* at) const noexcept {
  const std::string_view held = bytes();
  if (held.empty() || at < held.data() || at > held.data() + held.size()) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(at - held.data());
}

}  // namespace detail

std::string_view to_string(IntegerAttribute attribute) noexcept {
  return integer_attribute_names[static_cast<std::size_t>(attribute)];
}

Trace::Trace(std::unique_ptr<detail::TraceStorage> storage) : storage_(std::move(storage)) {}
Trace::~Trace() = default;

std::size_t Trace::size() const noexcept { return storage_->ids.size(); }
std::span<const NodeId> Trace::ids() const noexcept { return storage_->ids; }
std::span<const NodeType> Trace::types() const noexcept { return storage_->types; }
std::span<const std::uint64_t> Trace::start_ns() const noexcept { return storage_->start_ns; }
std::span<const std::uint64_t> Trace::duration_ns() const noexcept { return storage_->duration_ns; }
std::span<const std::uint32_t> Trace::name_ids() const noexcept { return storage_->name_ids; }
std::string_view Trace::name(NodeIndex row) const noexcept { return storage_->strings.view(storage_->name_ids[row]); }
std::size_t Trace::string_count() const noexcept { return storage_->strings.size(); }
std::string_view Trace::string(std::uint32_t id) const noexcept { return storage_->strings.view(id); }

Adjacency Trace::data_deps() const noexcept { return {storage_->data_offsets, storage_->data_parents}; }
Adjacency Trace::ctrl_deps() const noexcept { return {storage_->ctrl_offsets, storage_->ctrl_parents}; }

std::vector<NodeId> Trace::parent_ids(NodeIndex row, DependencyKind kind) const {
  std::vector<NodeId> ids;
  if (kind != DependencyKind::control) {
    append_parent_ids(ids, *storage_, data_deps()[row], storage_->apart_data, row);
  }
  if (kind != DependencyKind::data) {
    append_parent_ids(ids, *storage_, ctrl_deps()[row], storage_->apart_ctrl, row);
  }
  return ids;
}

const AttributeColumn<std::uint8_t>& Trace::is_cpu_op() const noexcept { return storage_->attributes.is_cpu_op; }

const AttributeColumn<std::int64_t>& Trace::column(IntegerAttribute attribute) const noexcept {
  return storage_->attributes.integers[static_cast<std::size_t>(attribute)];
}

const AttributeColumn<std::uint32_t>& Trace::pg_name() const noexcept { return storage_->attributes.pg_name; }
const AttributeColumn<std::uint32_t>& Trace::involved_dim() const noexcept { return storage_->attributes.involved_dim; }

std::optional<NodeIndex> Trace::find(NodeId id) const noexcept { return storage_->index.find(id); }

std::vector<Attribute> Trace::attributes(NodeIndex row) const {
  return decode_cold(*this, row, wire::decode_attributes);
}

std::optional<Attribute> Trace::attribute(NodeIndex row, std::string_view name) const {
  return decode_cold(*this, row, [&](std::string_view bytes) { return wire::decode_attribute(bytes, name); });
}

IoInfo Trace::inputs(NodeIndex row) const { return decode_cold(*this, row, wire::decode_inputs); }
IoInfo Trace::outputs(NodeIndex row) const { return decode_cold(*this, row, wire::decode_outputs); }

std::string Trace::record(NodeIndex row) const {
  detail::RecordEncoder encoder(*storage_);
  return std::string(encoder.record(row));
}

const Metadata& Trace::metadata() const noexcept { return storage_->metadata; }
std::string_view Trace::metadata_record() const noexcept { return storage_->metadata_record; }
const std::string& Trace::source() const noexcept { return storage_->source; }
const Report& Trace::load_report() const noexcept { return storage_->load_report; }

std::optional<std::uint64_t> Trace::record_offset(NodeIndex row) const noexcept {
  for (const auto& source : storage_->sources) {
    if (const auto offset = source->offset_of(storage_->record_begin[row])) {
      return offset;
    }
  }
  return std::nullopt;
}

std::size_t Trace::memory_bytes() const noexcept {
  const detail::TraceStorage& s = *storage_;
  std::size_t bytes = column_bytes(s.ids) + column_bytes(s.types) + column_bytes(s.name_ids) +
                      column_bytes(s.start_ns) + column_bytes(s.duration_ns) + column_bytes(s.data_offsets) +
                      column_bytes(s.data_parents) + column_bytes(s.ctrl_offsets) + column_bytes(s.ctrl_parents) +
                      column_bytes(s.record_begin) + column_bytes(s.record_size) + column_bytes(s.record_form) +
                      s.strings.memory_bytes() + s.index.memory_bytes() + s.attributes.memory_bytes() +
                      s.metadata_record.capacity() + s.apart_data.memory_bytes() + s.apart_ctrl.memory_bytes();
  for (const auto* kinds : {&s.children, &s.children_by_id}) {
    for (const auto& children : *kinds) {
      bytes += children.memory_bytes.load();
    }
  }
  bytes += s.order_of_ids.memory_bytes.load();
  for (const auto& source : s.sources) {
    bytes += source->memory_bytes();
  }
  return bytes;
}

}  // namespace chakra
