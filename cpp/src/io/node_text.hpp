// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chakra_core/trace.hpp"

namespace chakra::io {

/// One column of a dump: a part of every node, or an attribute.
struct DumpColumn {
  enum class Part : std::uint8_t {
    id,
    name,
    type,
    start_ns,
    duration_ns,
    data_deps,
    ctrl_deps,
    inputs,
    outputs,
    attrs,
    integer_attribute,  ///< one that is a column of the trace
    is_cpu_op,
    pg_name,
    attribute,  ///< any other
  };

  Part part;
  std::string name;
  std::string key;  ///< the name as the key of a JSON object, with the colon
  IntegerAttribute integer = {};
  bool is_optional = false;  ///< inputs or outputs that are left out of a JSON object if empty
};

DumpColumn dump_column(const std::string& name);

/// Appends the node as a JSON object.
void append_json_node(std::string& out, const Trace& trace, NodeIndex row, const std::vector<DumpColumn>& columns);

/// Appends the node as a line of CSV, with its end.
void append_csv_node(std::string& out, const Trace& trace, NodeIndex row, const std::vector<DumpColumn>& columns);

/// Appends a cell of CSV, in quotes if it needs them.
void append_csv_cell(std::string& out, std::string_view text);

}  // namespace chakra::io
