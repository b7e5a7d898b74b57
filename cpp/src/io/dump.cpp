// SPDX-License-Identifier: MIT
#include "chakra_core/dump.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "chakra_core/errors.hpp"
#include "io/node_text.hpp"
#include "parallel/parallel_for.hpp"
#include "wire/decode.hpp"

namespace chakra {

namespace {

/// Nodes that one thread writes at a time, and pieces of these that one call of next() gives.
constexpr std::size_t block_rows = 256;
constexpr std::size_t most_blocks = 8;

const std::vector<std::string>& usual_columns(DumpForm form) {
  static const std::vector<std::string> json = {"id",        "name",      "type",   "start_ns", "duration_ns",
                                                "data_deps", "ctrl_deps", "inputs", "outputs",  "attrs"};
  static const std::vector<std::string> csv = {"id",        "name",      "type",          "start_ns", "duration_ns",
                                               "data_deps", "ctrl_deps", "is_cpu_op",     "num_ops",  "tensor_size",
                                               "comm_type", "comm_size", "comm_priority", "comm_src", "comm_dst",
                                               "comm_tag",  "stream",    "tid",           "pg_name"};
  return form == DumpForm::csv ? csv : json;
}

}  // namespace

struct TraceDump::State {
  TracePtr trace;
  std::vector<NodeIndex> rows;
  DumpForm form;
  unsigned threads;
  std::vector<io::DumpColumn> columns = {};
  std::array<std::string, most_blocks> blocks = {};  ///< text of one piece; kept for the memory
  std::size_t next_row = 0;
  bool begun = false;
  bool ended = false;
  std::mutex one_at_a_time = {};

  std::string head() const {
    if (form == DumpForm::json_lines) {
      return {};
    }
    if (form == DumpForm::json_array) {
      return "[";
    }
    std::string line;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (i != 0) {
        line += ',';
      }
      io::append_csv_cell(line, columns[i].name);
    }
    return line + "\r\n";
  }

  void append_node(std::string& out, std::size_t at) const {
    try {
      append(out, at);
    } catch (const wire::Malformed&) {
      // These throw the error that says which node and where.
      (void)trace->attributes(rows[at]);
      (void)trace->inputs(rows[at]);
      (void)trace->outputs(rows[at]);
      throw;
    }
  }

  void append(std::string& out, std::size_t at) const {
    if (form == DumpForm::csv) {
      io::append_csv_node(out, *trace, rows[at], columns);
      return;
    }
    if (form == DumpForm::json_array) {
      out += at == 0 ? "\n" : ",\n";
    }
    io::append_json_node(out, *trace, rows[at], columns);
    if (form == DumpForm::json_lines) {
      out += '\n';
    }
  }
};

TraceDump::TraceDump(TracePtr trace, std::vector<NodeIndex> rows, DumpOptions options)
    : state_(new State{std::move(trace), std::move(rows), options.form, options.threads}) {
  const std::size_t size = state_->trace->size();
  for (const NodeIndex row : state_->rows) {
    if (row >= size) {
      throw ChakraError("row " + std::to_string(row) + " is not in a trace of " + std::to_string(size) + " nodes");
    }
  }
  const bool is_usual = options.columns.empty();
  for (const std::string& name : is_usual ? usual_columns(options.form) : options.columns) {
    state_->columns.push_back(io::dump_column(name));
    state_->columns.back().is_optional = is_usual && (name == "inputs" || name == "outputs");
  }
}

TraceDump::~TraceDump() = default;
TraceDump::TraceDump(TraceDump&&) noexcept = default;
TraceDump& TraceDump::operator=(TraceDump&&) noexcept = default;

std::optional<std::string> TraceDump::next() {
  State& state = *state_;
  const std::lock_guard lock(state.one_at_a_time);
  if (state.ended) {
    return std::nullopt;
  }
  std::string piece = std::exchange(state.begun, true) ? std::string() : state.head();
  const std::size_t first = state.next_row;
  const std::size_t last = std::min(state.rows.size(), first + block_rows * most_blocks);
  const std::size_t blocks = (last - first + block_rows - 1) / block_rows;
  parallel_for(blocks, state.threads, [&](std::size_t block) {
    const std::size_t begin = first + block * block_rows;
    state.blocks[block].clear();
    for (std::size_t at = begin; at < std::min(last, begin + block_rows); ++at) {
      state.append_node(state.blocks[block], at);
    }
  });
  for (std::size_t block = 0; block < blocks; ++block) {
    piece += state.blocks[block];
  }
  state.next_row = last;
  if (last == state.rows.size()) {
    state.ended = true;
    piece += state.form == DumpForm::json_array ? "\n]\n" : "";
  }
  return piece;
}

}  // namespace chakra
