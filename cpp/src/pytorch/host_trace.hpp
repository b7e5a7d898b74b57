// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pytorch/read_report.hpp"
#include "trace/string_pool.hpp"

namespace chakra::pytorch {

/// Marks an absent string (an id of a StringPool is never this). The empty string is not absence.
inline constexpr std::uint32_t no_string = 0xFFFF'FFFFU;

/// Marks an absent node id or row.
inline constexpr std::uint64_t no_host_id = ~std::uint64_t{0};

/// `inputs` or `outputs` of a host node. Each is the JSON list written as Python's repr of what json.load
/// gives (single quotes, True / False / None, nan / inf, `[1, 2]` with a blank after the comma):
/// the strings that today's converter writes into IOInfo. Absent key: no_string. `strides` are not kept.
struct HostIo {
  std::uint32_t values = no_string;
  std::uint32_t shapes = no_string;
  std::uint32_t types = no_string;
};

/// An entry of a node's `attrs` that has no field of its own in HostNode (kernel_backend, kernel_file, tensor_range,
/// collective_name, dtype, in_msg_nelems, out_msg_nelems, in_split_size, out_split_size, global_rank_start,
/// global_rank_stride, pg_name, pg_desc, pg_size, and whatever comes next), in the order of the file.
struct HostAttribute {
  std::uint32_t name = no_string;
  std::uint32_t type = no_string;  ///< "uint64", "string", ... as written; no_string where absent
  std::uint32_t value =
      no_string;  ///< strings unescaped and without quotes; anything else its JSON text ("12", "true", "[1, 2]")
};

/// One node of a host trace. Schema 1.0.1 has the attributes as keys of the node itself and the caller as `parent`;
/// `attrs` and `ctrl_deps` since. Both end up here alike.
struct HostNode {
  std::uint64_t id = 0;
  std::uint64_t parent =
      no_host_id;  ///< ctrl_deps or `parent`: the caller. May name a node that is not there, or itself (the root)
  std::uint64_t rf_id = 0;         ///< record function id; 0 where absent
  std::uint64_t fw_parent = 0;     ///< 0 where absent
  std::int64_t seq_id = -1;        ///< -1 where absent
  std::uint64_t scope = 0;         ///< 0 where absent (7 is a user annotation)
  std::uint64_t tid = 0;           ///< the observer's own numbering of threads from 1; 0 where absent
  std::uint64_t fw_tid = 0;        ///< 0 where absent
  std::uint32_t name = no_string;  ///< never absent; empty where the file has none
  std::uint32_t op_schema = no_string;
  HostIo inputs;
  HostIo outputs;
  std::uint32_t first_attribute = 0;  ///< HostTrace::attributes[first_attribute .. + attribute_count)
  std::uint32_t attribute_count = 0;
};

/// A whole host trace (ExecutionTraceObserver) of one rank.
struct HostTrace {
  std::string path;    ///< as given to the reader, for messages
  std::string schema;  ///< e.g. "1.1.1-chakra.0.0.4"; empty where absent
  std::string time;    ///< wall-clock text; empty where absent
  std::int64_t pid = -1;
  std::int64_t start_ts = -1;   ///< as written (its unit changed between schemas); -1 where absent
  std::int64_t finish_ts = -1;  ///< -1 where absent (an interrupted collection)
  StringPool strings;
  std::vector<HostNode> nodes;  ///< in file order: parents mostly come after their children
  std::vector<HostAttribute> attributes;
  ReadReport report;
};

}  // namespace chakra::pytorch
