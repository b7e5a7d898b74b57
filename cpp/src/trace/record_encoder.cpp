// SPDX-License-Identifier: MIT
#include "trace/record_encoder.hpp"

#include <algorithm>

#include "trace/time_units.hpp"
#include "wire/decode.hpp"
#include "wire/encode.hpp"

namespace chakra::detail {

namespace {

void take_ids(const TraceStorage& storage, const Column<std::uint64_t>& offsets, const Column<NodeIndex>& parents,
              NodeIndex row, std::vector<NodeId>& ids) {
  ids.clear();
  for (std::uint64_t i = offsets[row]; i < offsets[row + 1]; ++i) {
    ids.push_back(storage.ids[parents[i]]);
  }
}

}  // namespace

std::string_view RecordEncoder::record(NodeIndex row) {
  const std::string_view kept = storage_.record_bytes(row);
  const RecordForm form = storage_.record_form[row];
  if (form == RecordForm::whole) {
    return kept;
  }
  take_ids(storage_, storage_.data_offsets, storage_.data_parents, row, data_);
  take_ids(storage_, storage_.ctrl_offsets, storage_.ctrl_parents, row, ctrl_);
  message_.clear();
  if (form == RecordForm::whole_but_deps) {
    wire::append_without_dependencies(message_, kept);
    wire::append_dependencies(message_, ctrl_, data_);
  } else if (form == RecordForm::whole_but_id_and_deps) {
    wire::append_id(message_, storage_.ids[row]);
    wire::append_without_id_and_dependencies(message_, kept);
    wire::append_dependencies(message_, ctrl_, data_);
  } else {
    return built_record(row, kept);
  }
  return message_;
}

std::string_view RecordEncoder::built_record(NodeIndex row, std::string_view tail) {
  const wire::NodeHead head{.id = storage_.ids[row],
                            .name = storage_.strings.view(storage_.name_ids[row]),
                            .type = storage_.types[row],
                            .ctrl_deps = ctrl_,
                            .data_deps = data_,
                            .start_micros = rounded_micros(storage_.start_ns[row]),
                            .duration_micros = rounded_micros(storage_.duration_ns[row])};
  const std::size_t bound = wire::head_bound(head) + tail.size();
  if (built_.size() < bound) {
    built_.resize(bound);
  }
  char* const end = std::copy(tail.begin(), tail.end(), wire::write_head(built_.data(), head));
  return {built_.data(), static_cast<std::size_t>(end - built_.data())};
}

}  // namespace chakra::detail
