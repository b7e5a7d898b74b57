// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chakra_core/et_file.hpp"
#include "trace/record_arena.hpp"
#include "trace/row_block.hpp"
#include "wire/decode.hpp"

namespace chakra::io {

/// The input of a reader, and what happens to problems in it.
struct EtInput {
  std::string name;
  OnError on_error;

  bool strict() const noexcept { return on_error == OnError::strict; }

  /// Strict reading ends here; recovery takes note and goes on.
  void problem(Report& report, ProblemKind kind, std::optional<std::uint64_t> record,
               std::optional<std::uint64_t> offset, const std::string& text, std::vector<NodeId> nodes = {}) const;
};

/// Decodes Node messages into rows of a block.
class RecordReader {
 public:
  RecordReader(const EtInput& input, detail::RowBlock& block) : input_(input), block_(&block) {}

  /// `message` is record number `record`, `begin` its offset in the uncompressed file. It must stay where it is.
  void read(std::string_view message, std::uint64_t record, std::uint64_t begin);
  /// Later rows go there.
  void go_on_in(detail::RowBlock& block) noexcept { block_ = &block; }

  /// Records that recovery had to change; null if there were none.
  std::shared_ptr<detail::RecordArena> mended() const { return mended_; }

 private:
  void report_problems(std::uint64_t record, std::uint64_t begin);
  void append_mended(std::string_view message);

  const EtInput& input_;
  detail::RowBlock* block_;
  wire::DecodedNode node_{};
  std::shared_ptr<detail::RecordArena> mended_;
};

}  // namespace chakra::io
