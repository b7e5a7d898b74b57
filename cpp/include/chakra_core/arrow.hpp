// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "chakra_core/trace.hpp"

// The structs of the Arrow C data and C stream interfaces, as their specifications lay them out. The guards are those
// of the specifications, so that other libraries' declarations of the same structs may stand beside these.
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

extern "C" {

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};
}

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

extern "C" {

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};
}

#endif

namespace chakra {

/// The columns of a trace as one Arrow struct array, a field a column:
///   id uint64; name dictionary(int32, large_utf8); type int32; start_ns, duration_ns uint64; data_deps, ctrl_deps
///   large_list(uint64) of node ids; is_cpu_op bool; the integer attributes int64; pg_name, involved_dim
///   dictionary(int32, large_utf8). Attributes are null where absent.
/// Ids, types, times, names' numbers and the offsets of dependencies are not copied. What is exported keeps the trace
/// alive until it is released.
void export_schema(ArrowSchema* out);
/// Throws ChakraError if the trace has more than 2^31 - 1 different strings.
void export_array(const TracePtr& trace, ArrowArray* out);
/// A stream of that one array.
void export_stream(const TracePtr& trace, ArrowArrayStream* out);

}  // namespace chakra
