// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chakra_core/trace_builder.hpp"
#include "pytorch/linked_model.hpp"

namespace chakra::pytorch {

/// The `tid` of each lane: the host trace's number where it has the thread, else Kineto's.
std::vector<std::uint64_t> lane_tids(const LinkedModel& model);

/// A copy between host and device: MEM_LOAD to the device, MEM_STORE to the host. Absent for anything else.
std::optional<NodeType> memory_node_type(const LinkedModel& model, const DeviceWork& work);

/// Makes the nodes of a converted trace: attributes and tensors, in the order and with the names that today's tools
/// know. Used by both layouts. Not thread-safe: buffers are used again from node to node.
class NodeWriter {
 public:
  explicit NodeWriter(const LinkedModel& model);

  /// Starts a node; the name must live until finish().
  void begin(NodeId id, std::string_view name, NodeType type, std::int64_t start_ns, std::int64_t duration_ns);
  void add_data_dep(NodeId id) { data_deps_.push_back(id); }
  void add_ctrl_dep(NodeId id) { ctrl_deps_.push_back(id); }
  void add(Attribute attribute) { attributes_.push_back(std::move(attribute)); }

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
  /// The process groups, if any are known, as a METADATA node. Returns false if there are none.
  bool write_groups(NodeId id);
  void finish();

  std::uint64_t lane_tid(std::uint32_t lane) const { return lane_tids_[lane]; }

  TracePtr build(std::string_view layout);

 private:
  void set_metadata(std::string_view layout);
  static std::string_view view_or_empty(const StringPool& strings, std::uint32_t id);
  /// Into strings that are there: they keep their memory from node to node.
  static void set_io(IoInfo& io, const StringPool& strings, std::uint32_t values, std::uint32_t shapes,
                     std::uint32_t types);

  const LinkedModel& model_;
  TraceBuilder builder_;
  NodeSpec spec_;
  std::vector<NodeId> data_deps_;
  std::vector<NodeId> ctrl_deps_;
  std::vector<Attribute> attributes_;
  IoInfo inputs_;
  IoInfo outputs_;
  bool has_tensors_ = false;
  std::vector<std::uint64_t> lane_tids_;
};

/// Nodes whose name has it describe process groups and are METADATA.
bool is_group_init(std::string_view name) noexcept;

/// Time of each op frame that none of the ops in it has; 0 for calls.
std::vector<std::int64_t> exclusive_times(const CallTree& tree);

TracePtr convert_exact(const LinkedModel& model, const ConvertOptions& options);
TracePtr convert_ops(const LinkedModel& model, const ConvertOptions& options);

}  // namespace chakra::pytorch
