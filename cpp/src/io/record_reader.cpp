// SPDX-License-Identifier: MIT
#include "io/record_reader.hpp"

#include <utility>

#include "chakra_core/errors.hpp"

namespace chakra::io {

using detail::RecordForm;

void EtInput::problem(Report& report, ProblemKind kind, std::optional<std::uint64_t> record,
                      std::optional<std::uint64_t> offset, const std::string& text, std::vector<NodeId> nodes) const {
  if (strict()) {
    throw FormatError({name, record, offset}, text);
  }
  report.add({kind, text, std::move(nodes), record, offset});
}

void RecordReader::read(std::string_view message, std::uint64_t record, std::uint64_t begin) {
  try {
    wire::decode_node(message, node_);
  } catch (const wire::Malformed& error) {
    input_.problem(
        block_->report, ProblemKind::malformed_record, record, begin + error.offset(),
        "no Node message: " + std::string(error.what()) + (input_.strict() ? "" : "; the record was dropped"));
    block_->skip_record();
    return;
  }
  if (node_.problems.empty() && node_.name_is_utf8) {
    block_->append(node_, message, RecordForm::whole);
    return;
  }
  report_problems(record, begin);
  append_mended(message);
}

void RecordReader::report_problems(std::uint64_t record, std::uint64_t begin) {
  const std::string node = "node " + std::to_string(node_.id) + ": ";
  for (const wire::AttributeProblem& found : node_.problems) {
    const bool is_time = found.offset == 0;
    input_.problem(block_->report, ProblemKind::attribute_type, record, begin + found.offset,
                   node + (is_time ? "" : "attribute ") + std::string(found.name) + " " + found.what +
                       (input_.strict() ? "" : "; it was dropped"),
                   {node_.id});
  }
  if (!node_.name_is_utf8) {
    input_.problem(block_->report, ProblemKind::malformed_record, record, begin,
                   node + "the name is not UTF-8" + (input_.strict() ? "" : "; bad bytes read as U+FFFD"), {node_.id});
  }
}

/// Keeps a node without what was wrong with it, so that it can be written and read again.
void RecordReader::append_mended(std::string_view message) {
  std::string mended;
  wire::append_mended(mended, message, node_.problems);
  if (!mended_) {
    mended_ = std::make_shared<detail::RecordArena>();
  }
  const std::string_view stored = mended_->store(mended);
  wire::decode_node(stored, node_);
  block_->append(node_, stored, RecordForm::whole);
}

}  // namespace chakra::io
