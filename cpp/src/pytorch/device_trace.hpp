// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "pytorch/host_trace.hpp"
#include "pytorch/read_report.hpp"
#include "trace/string_pool.hpp"

namespace chakra::pytorch {

/// Kinds of complete ("ph":"X") events that are kept, by `cat`; every other event is skipped (gpu_user_annotation,
/// Trace, python_function, overhead, ...).
enum class DeviceEventKind : std::uint8_t {
  cpu_op,           ///< "cpu_op", old "Operator"
  user_annotation,  ///< "user_annotation"
  runtime_call,     ///< "cuda_runtime", "cuda_driver", any "*_runtime" or "*_driver", old "Runtime"
  kernel,  ///< "kernel", old "Kernel", MTIA and other devices' work: "mtia_ccp_events", "xpu_kernel"-like *_kernel
  memcpy,  ///< "gpu_memcpy", old "Memcpy"
  memset,  ///< "gpu_memset", old "Memset"
  sync,    ///< "cuda_sync"
};

inline constexpr std::int64_t no_stream = std::numeric_limits<std::int64_t>::min();
inline constexpr std::uint32_t no_row = 0xFFFF'FFFFU;

/// One event. Argument keys are matched without regard to case ("External id", "external id"); ids and numbers may be
/// written as JSON strings.
struct DeviceEvent {
  std::int64_t start_ns = 0;             ///< ts * 1000, exact from the decimal text, rounded to the nearest ns
  std::int64_t duration_ns = 0;          ///< dur * 1000, likewise; 0 where absent, never negative
  std::uint64_t external_id = 0;         ///< "External id"; 0 where absent
  std::uint64_t record_function_id = 0;  ///< "Record function id"; 0 where absent
  std::uint64_t correlation = 0;         ///< "correlation"; 0 where absent
  std::int64_t stream = no_stream;  ///< "stream" where it is an integer (4294967295 becomes -1); no_stream where absent
                                    ///< or a pointer string
  std::int32_t device = -1;         ///< "device"; -1 where absent
  std::uint32_t name = no_string;   ///< never absent
  std::uint32_t thread = 0;         ///< row of DeviceTrace::threads: the event's own pid and tid
  std::uint32_t op = no_row;        ///< row of DeviceTrace::ops (cpu_op and user_annotation with any of its fields)
  std::uint32_t comm = no_row;      ///< row of DeviceTrace::communications (any kind with any of its fields)
  std::uint32_t sync = no_row;      ///< row of DeviceTrace::syncs (kind sync only)
  std::uint32_t copy = no_row;      ///< row of DeviceTrace::copy_bytes (memcpy with "bytes")
  DeviceEventKind kind = DeviceEventKind::cpu_op;

  std::int64_t end_ns() const noexcept { return start_ns + duration_ns; }
};

/// A thread of the trace: pid and tid as text (they may be strings such as "Spans"; numbers are their decimal text).
/// Numbered in order of first appearance among the kept events; equal (pid, tid) is one thread.
struct DeviceThread {
  std::uint32_t pid = no_string;
  std::uint32_t tid = no_string;
};

/// Arguments of a CPU op. Lists are written as Python's repr, as in HostIo; no_string where absent.
struct OpArguments {
  std::uint32_t input_dims = no_string;       ///< "Input Dims"
  std::uint32_t input_types = no_string;      ///< "Input type"
  std::uint32_t concrete_inputs = no_string;  ///< "Concrete Inputs"
  std::int64_t sequence_number = -1;          ///< "Sequence number"
  std::int64_t forward_thread = -1;           ///< "Fwd thread id"
};

/// Arguments of communication, on record_param_comms ops and on kernels. Strings absent: no_string; counts and
/// ranks absent: -1.
struct CommArguments {
  std::uint32_t collective_name = no_string;  ///< "Collective name" ("allreduce", "wait", "" ...)
  std::uint32_t dtype = no_string;            ///< "dtype" ("Float", ...)
  std::int64_t in_elements = -1;              ///< "In msg nelems"
  std::int64_t out_elements = -1;             ///< "Out msg nelems"
  std::uint32_t in_split =
      no_string;  ///< "In split size", text of the list ("[]", "[1, 2]"), whether written as string or list
  std::uint32_t out_split = no_string;          ///< "Out split size", likewise
  std::int64_t group_size = -1;                 ///< "Group size"
  std::uint32_t group_name = no_string;         ///< "Process Group Name", else "Process Group ID" as text
  std::uint32_t group_description = no_string;  ///< "Process Group Description"
  std::uint32_t group_ranks =
      no_string;                         ///< "Process Group Ranks", text of the list, whether written as string or list
  std::int64_t global_rank_start = -1;   ///< "Global rank start"
  std::int64_t global_rank_stride = -1;  ///< "Global rank stride"
  std::int64_t sequence = -1;            ///< "Seq"
  std::int64_t rank = -1;                ///< "Rank"
  std::int64_t source_rank = -1;         ///< "Src Rank"
  std::int64_t destination_rank = -1;    ///< "Dst Rank"
};

/// Arguments of a cuda_sync event. 4294967295 is -1 everywhere.
struct SyncArguments {
  std::uint32_t kind =
      no_string;  ///< "cuda_sync_kind": "Stream Sync", "Context Sync", "Event Sync", "Stream Wait Event"
  std::int64_t wait_on_stream = no_stream;  ///< "wait_on_stream"
  std::uint64_t wait_on_record = 0;         ///< "wait_on_cuda_event_record_corr_id"; 0 where absent
  std::int64_t wait_on_event = -1;          ///< "wait_on_cuda_event_id"
};

/// One end of a forward-backward arrow ("cat":"fwdbwd", "ph":"s" or "f"); other flows are skipped.
struct FlowPoint {
  std::int64_t time_ns = 0;
  std::uint64_t id = 0;
  std::uint32_t thread = 0;  ///< row of DeviceTrace::threads
  bool finish = false;       ///< "f"
};

/// An entry of distributedInfo.pg_config, or of a process_group:init annotation.
struct ProcessGroup {
  std::string name;                 ///< "pg_name" (a number becomes its text)
  std::string description;          ///< "pg_desc"
  std::string backend;              ///< "backend_config", else "backend"
  std::int64_t size = -1;           ///< "pg_size", else "group_size"; -1 where absent
  std::vector<std::int64_t> ranks;  ///< "ranks"; empty where absent or []
};

/// distributedInfo of the device trace.
struct DistributedInfo {
  std::string backend;           ///< empty where absent
  std::int64_t rank = -1;        ///< -1 where absent
  std::int64_t world_size = -1;  ///< -1 where absent
  std::vector<ProcessGroup> groups;
};

/// A whole device trace (Kineto) of one rank. Times are as in the file, not relative to anything.
struct DeviceTrace {
  std::string path;                ///< as given to the reader, for messages
  std::string trace_name;          ///< "traceName"; empty where absent
  std::int64_t base_time_ns = -1;  ///< "baseTimeNanoseconds"; -1 where absent. Not added to the events' times
  DistributedInfo distributed;
  StringPool strings;
  std::vector<DeviceThread> threads;
  std::vector<DeviceEvent> events;  ///< in file order
  std::vector<OpArguments> ops;
  std::vector<CommArguments> communications;
  std::vector<SyncArguments> syncs;
  std::vector<std::int64_t> copy_bytes;  ///< "bytes" of copies
  std::vector<FlowPoint> flows;          ///< in file order
  ReadReport report;
};

}  // namespace chakra::pytorch
