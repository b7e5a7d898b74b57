// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chakra_core/node_type.hpp"
#include "pytorch/backend_comm.hpp"
#include "pytorch/call_tree.hpp"
#include "pytorch/device_trace.hpp"
#include "pytorch/host_match.hpp"
#include "pytorch/host_trace.hpp"
#include "pytorch/launches.hpp"

namespace chakra::pytorch {

/// What a communication does, from a kernel, an annotation or an op and its arguments.
struct Communication {
  NodeType type = NodeType::comm_coll;
  std::optional<CollectiveType> collective;  ///< for comm_coll
  std::int64_t size_bytes = -1;              ///< what one rank contributes: the bytes of its input; -1 unknown
  std::string group;                         ///< process group name; empty where unknown
  std::int64_t source = -1;                  ///< global rank; send and receive only; -1 unknown
  std::int64_t destination = -1;
  std::int64_t tag = -1;
  std::int64_t sequence = -1;  ///< the group's count of its collectives ("Seq"); -1 unknown
};

/// A name as a collective, send or receive: "ncclDevKernel_AllReduce_Sum_f32", "_allgather_base", "nccl:send 0->1",
/// "gloo:all_reduce", "c10d::recv_". Absent if the name does not say.
struct CommMeaning {
  NodeType type = NodeType::comm_coll;
  std::optional<CollectiveType> collective;
};
std::optional<CommMeaning> comm_meaning(std::string_view name);

/// The kernel is one that communicates: NCCL, RCCL, symmetric memory.
bool is_comm_kernel_name(std::string_view name) noexcept;

/// Bytes an element of a dtype has, by torch's names ("Float", "BFloat16") or C's ("float", "long int"); 0 unknown.
std::int64_t dtype_bytes(std::string_view dtype) noexcept;

/// Bytes of all tensors in a host node's input values, "[[7, 8, 0, 1024, 4, 'cuda:0'], ...]", nested lists included;
/// -1 if there are none.
std::int64_t tensor_bytes(std::string_view values);

/// Elements of all tensors in a list of sizes, "[[16, 128], []]"; an empty list is a scalar. -1 if there are none.
std::int64_t element_count(std::string_view dims);

/// Process groups by name, from every source a trace has; the last mention wins.
class GroupTable {
 public:
  GroupTable(const HostTrace* host, const DeviceTrace* device);

  const std::vector<ProcessGroup>& groups() const noexcept { return groups_; }
  const ProcessGroup* find(std::string_view name) const noexcept;
  /// The group of a communication that does not say: the default group, or the only one; null if neither is there.
  const ProcessGroup* fallback() const noexcept;
  /// Global rank of a group's rank, where the group is known and lists its ranks.
  std::int64_t global_rank(std::string_view group, std::int64_t rank) const noexcept;

 private:
  void add(ProcessGroup group);
  void add_from_arguments(const DeviceTrace& device);
  void add_from_init(const HostTrace& host);

  std::vector<ProcessGroup> groups_;
};

/// Communication of all device work and backend annotations.
struct Communications {
  std::vector<std::uint8_t> work_is_comm;  ///< a flag a work
  std::vector<std::uint32_t> of_work;      ///< index in `all`, or no_row
  std::vector<std::uint32_t> of_backend;   ///< index in `all`, or no_row (meaning unknown)
  std::vector<Communication> all;
  std::uint64_t unknown_kernels = 0;  ///< communication kernels whose meaning nothing tells: computation
  std::string first_unknown;
  std::uint64_t without_kernel = 0;  ///< collectives asked for (record_param_comms) that launched no kernel
  std::uint64_t without_size = 0;
  std::uint64_t without_group = 0;
};

struct CommunicationInputs {
  const HostTrace* host;  ///< null without
  const DeviceTrace& device;
  const CallTree& tree;
  const Launches& launches;
  const std::vector<BackendComm>& backend;
  const HostMatch& match;
  const GroupTable& groups;
};

/// Flags of communication kernels alone (needed before the streams' waits are known).
std::vector<std::uint8_t> find_comm_kernels(const DeviceTrace& device, const Launches& launches);

Communications describe_communications(const CommunicationInputs& inputs);

}  // namespace chakra::pytorch
