// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pytorch/linked_model.hpp"
#include "trace/record_arena.hpp"
#include "trace/row_block.hpp"
#include "wire/decode.hpp"

namespace chakra::pytorch {

/// The `tid` of each lane: the host trace's number where it has the thread, else Kineto's.
std::vector<std::uint64_t> lane_tids(const LinkedModel& model);

/// A copy between host and device: MEM_LOAD to the device, MEM_STORE to the host. Absent for anything else.
std::optional<NodeType> memory_node_type(const LinkedModel& model, const DeviceWork& work);

/// Makes nodes of a converted trace: attributes and tensors, in the order and with the names that today's tools know.
/// Used by both layouts, through write_nodes(). For one thread: buffers are used again from node to node.
class NodeWriter {
 public:
  /// `lane_tids` is what the function of that name gives.
  NodeWriter(const LinkedModel& model, const std::vector<std::uint64_t>& lane_tids);

  /// Where the next nodes go.
  void use(detail::RowBlock& rows) { rows_ = &rows; }

  // Of one node: begin(), dependencies and tensors, attributes, finish().

  /// Starts a node; the name must live until finish().
  void begin(NodeId id, std::string_view name, NodeType type, std::int64_t start_ns, std::int64_t duration_ns);
  void add_data_dep(NodeId id) { node_.data_deps.push_back(id); }
  void add_ctrl_dep(NodeId id) { node_.ctrl_deps.push_back(id); }
  void add_int64(std::string_view name, std::int64_t value);
  void add_uint64(std::string_view name, std::uint64_t value);
  /// The text must be UTF-8, or ChakraError is thrown.
  void add_string(std::string_view name, std::string_view text);

  /// rf_id, fw_parent, seq_id, scope, tid, fw_tid, op_schema of a host node.
  void add_host_attributes(const HostNode& node);
  /// What the device trace alone knows of an op.
  void add_event_attributes(std::uint32_t event);
  void add_is_cpu_op(bool value);
  /// Bytes of a copy, as `tensor_size`, where they are known.
  void add_copied_bytes(std::uint32_t event);
  /// comm_type, comm_size, comm_src, comm_dst, comm_tag, pg_name, comm_seq.
  void add_communication(const Communication& comm);
  /// Inputs and outputs of the op: the host node's, else what the device trace knows of the inputs.
  void add_tensors(std::uint32_t node, std::uint32_t event);
  /// The process groups as a METADATA node, whole.
  void write_groups(NodeId id);
  /// Throws ChakraError for text that is not UTF-8, or a number too large for its column.
  void finish();

  std::uint64_t lane_tid(std::uint32_t lane) const { return lane_tids_[lane]; }
  /// Bytes of the nodes that were written.
  std::shared_ptr<const detail::RecordArena> records() const { return records_; }

 private:
  struct Texts {
    const StringPool& strings;
    std::uint32_t values;
    std::uint32_t shapes;
    std::uint32_t types;
  };
  wire::IoView view(const Texts& texts, const char* what) const;
  void check_text(std::string_view text, std::string_view what) const;
  [[noreturn]] void refuse(std::string_view problem) const;

  const LinkedModel& model_;
  const std::vector<std::uint64_t>& lane_tids_;
  detail::RowBlock* rows_ = nullptr;
  std::shared_ptr<detail::RecordArena> records_ = std::make_shared<detail::RecordArena>();
  wire::DecodedNode node_{};     ///< what columns hold, but for attributes
  wire::DecodedNode decoded_{};  ///< the attributes that have columns
  std::string tensors_;
  std::string attributes_;
};

/// Makes a trace of `count` nodes. `write(writer, n)` makes node n; it is called by up to `threads` threads (0: as many
/// as the machine has cores), each with a writer of its own. The result does not depend on their number.
TracePtr write_nodes(const LinkedModel& model, std::uint32_t count, std::string_view layout, unsigned threads,
                     const std::function<void(NodeWriter& writer, std::uint32_t n)>& write);

/// Nodes whose name has it describe process groups and are METADATA.
bool is_group_init(std::string_view name) noexcept;

/// Time of each op frame that none of the ops in it has; 0 for calls.
std::vector<std::int64_t> exclusive_times(const CallTree& tree);

TracePtr convert_exact(const LinkedModel& model, const ConvertOptions& options);
TracePtr convert_ops(const LinkedModel& model, const ConvertOptions& options);

}  // namespace chakra::pytorch
