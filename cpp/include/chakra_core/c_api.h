/* SPDX-License-Identifier: MIT */
/**
 * The C face of chakra_core: load a trace, look at its nodes, feed them in dependency order. C99, and C++ from C++98
 * on.
 *
 * - Handles are opaque. Each has one function that frees it; freeing NULL is allowed.
 * - No exception and no abort crosses this boundary, and there is no global or thread-local state. A function that can
 *   fail takes a `chakra_error**` as its last argument: NULL if the text is not wanted, else the address of a pointer
 *   that is set on failure (to be freed with chakra_error_free()) and left alone otherwise.
 * - Nodes are named by row: 0 .. size - 1, in file order. chakra_trace_ids()[row] is the id in the file,
 *   chakra_trace_find() the way back. A row outside of the trace is undefined behaviour only in functions that cannot
 *   fail; all others report CHAKRA_ERROR_ARGUMENT.
 * - A file larger than memory is fed by chakra_feeder_stream() without a trace; chakra_feeder_node() shows its nodes.
 * - Times are nanoseconds, sizes bytes.
 * - A trace is immutable and may be read from any number of threads. A feeder or a record belongs to one thread at a
 *   time. Both keep their trace alive: it may be freed before them.
 *
 * The program must be linked by a C++ linker, because the library behind this is C++; docs/embedding.md shows how.
 */
#ifndef CHAKRA_CORE_C_API_H
#define CHAKRA_CORE_C_API_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** No such row. */
#define CHAKRA_NO_ROW UINT32_MAX
/** No such attribute. */
#define CHAKRA_NO_ATTRIBUTE SIZE_MAX

typedef struct chakra_trace chakra_trace;
typedef struct chakra_record chakra_record;
typedef struct chakra_feeder chakra_feeder;
typedef struct chakra_error chakra_error;

/** What came of a call. Everything from CHAKRA_ERROR_IO on is a failure. */
typedef enum chakra_status {
  CHAKRA_OK = 0,
  CHAKRA_ABSENT = 1,            /**< not a failure: the attribute is not there, or no node is ready now */
  CHAKRA_ERROR_IO = 10,         /**< a file that cannot be opened or read */
  CHAKRA_ERROR_FORMAT = 11,     /**< bytes that are not what the format allows */
  CHAKRA_ERROR_DEPENDENCY = 12, /**< absent parents, or nodes that wait for each other */
  CHAKRA_ERROR_TYPE = 13,       /**< an attribute that is of another type, or too large for the one asked for */
  CHAKRA_ERROR_STATE = 14,      /**< a node that is not in the state that the call needs */
  CHAKRA_ERROR_ARGUMENT = 15,   /**< an argument that makes no sense */
  CHAKRA_ERROR_MEMORY = 16,     /**< no memory left */
  CHAKRA_ERROR_INTERNAL = 17    /**< anything else; a fault of this library */
} chakra_status;

/** Text, not NUL-terminated. Print with `printf("%.*s", (int)text.size, text.data)`. */
typedef struct chakra_string {
  const char* data;
  size_t size;
} chakra_string;

/** Some rows of a trace. */
typedef struct chakra_rows {
  const uint32_t* rows;
  size_t count;
} chakra_rows;

/* ---- errors ---- */

/** What was found, where, and what to do; NUL-terminated, valid until the error is freed. "" for NULL. */
const char* chakra_error_message(const chakra_error* error);
/** CHAKRA_OK for NULL. */
chakra_status chakra_error_status(const chakra_error* error);
void chakra_error_free(chakra_error* error);

/* ---- traces ---- */

/** What reading does with input that is not right. */
typedef enum chakra_on_error {
  CHAKRA_STRICT = 0,     /**< fail at the first problem */
  CHAKRA_RECOVER = 1,    /**< keep every whole record, drop what cannot be used; chakra_trace_problems() counts */
  CHAKRA_STRICT_DATA = 2 /**< strict, but drop and count control dependencies on absent nodes: for feeders that follow
                              data dependencies only */
} chakra_on_error;

/** Which dependencies of a node count. */
typedef enum chakra_dependencies { CHAKRA_DATA = 0, CHAKRA_CONTROL = 1, CHAKRA_BOTH = 2 } chakra_dependencies;

/** Node types of the schema. A node may have another value. */
enum {
  CHAKRA_INVALID_NODE = 0,
  CHAKRA_METADATA_NODE = 1,
  CHAKRA_MEM_LOAD_NODE = 2,
  CHAKRA_MEM_STORE_NODE = 3,
  CHAKRA_COMP_NODE = 4,
  CHAKRA_COMM_SEND_NODE = 5,
  CHAKRA_COMM_RECV_NODE = 6,
  CHAKRA_COMM_COLL_NODE = 7
};

/**
 * Reads an ET file: records or JSON, plain, gzip or zstd, all told by the first bytes. The file is opened for reading
 * only. NULL on failure: CHAKRA_ERROR_IO, _FORMAT (malformed, truncated, duplicate id, wrong attribute type),
 * _DEPENDENCY (absent parent), _ARGUMENT (no path).
 */
chakra_trace* chakra_trace_load(const char* path, chakra_on_error on_error, chakra_error** error);
/** The same from memory; the bytes are copied. `name` stands in messages for the path and may be NULL. */
chakra_trace* chakra_trace_load_bytes(const void* bytes, size_t size, const char* name, chakra_on_error on_error,
                                      chakra_error** error);
void chakra_trace_free(chakra_trace* trace);

/** Number of nodes. */
size_t chakra_trace_size(const chakra_trace* trace);
/** Problems that loading with CHAKRA_RECOVER dropped or mended. */
uint64_t chakra_trace_problems(const chakra_trace* trace);
/** Version of the schema as the file has it; often empty. */
chakra_string chakra_trace_schema_version(const chakra_trace* trace);

/* Columns of chakra_trace_size() entries, valid as long as the trace or one of its feeders or records. */
const uint64_t* chakra_trace_ids(const chakra_trace* trace);
const int32_t* chakra_trace_types(const chakra_trace* trace);        /**< CHAKRA_COMP_NODE and so on */
const uint64_t* chakra_trace_start_ns(const chakra_trace* trace);    /**< 0 where the file has none */
const uint64_t* chakra_trace_duration_ns(const chakra_trace* trace); /**< 0 where the file has none */
chakra_string chakra_trace_name(const chakra_trace* trace, uint32_t row);
/** Parents of a row, in the order of the file, as often as the file names them. Also after the node ran. */
chakra_rows chakra_trace_data_deps(const chakra_trace* trace, uint32_t row);
chakra_rows chakra_trace_ctrl_deps(const chakra_trace* trace, uint32_t row);
/** Nodes that name a row as a parent, ascending, each once. The first call for a kind is linear in the trace. */
chakra_status chakra_trace_children(const chakra_trace* trace, uint32_t row, chakra_dependencies kind,
                                    chakra_rows* children, chakra_error** error);
/** The row of an id, or CHAKRA_NO_ROW. Constant time. */
uint32_t chakra_trace_find(const chakra_trace* trace, uint64_t id);

/* ---- attributes by name ----
 *
 * The first attribute of that name counts. Any integer arm of the wire, and bool, converts to any number; a floating
 * one converts to double only. CHAKRA_ABSENT if there is none (the value is left alone), CHAKRA_ERROR_TYPE if it does
 * not convert. Constant time for is_cpu_op num_ops tensor_size comm_type comm_size comm_priority comm_src comm_dst
 * comm_tag stream tid pg_name; others are decoded from the node's record.
 */

chakra_status chakra_trace_get_int64(const chakra_trace* trace, uint32_t row, const char* name, int64_t* value,
                                     chakra_error** error);
chakra_status chakra_trace_get_uint64(const chakra_trace* trace, uint32_t row, const char* name, uint64_t* value,
                                      chakra_error** error);
chakra_status chakra_trace_get_double(const chakra_trace* trace, uint32_t row, const char* name, double* value,
                                      chakra_error** error);
/** As snprintf does: writes at most `capacity` bytes with the final NUL, and in any case the whole size without it. */
chakra_status chakra_trace_get_string(const chakra_trace* trace, uint32_t row, const char* name, char* buffer,
                                      size_t capacity, size_t* size, chakra_error** error);

/* ---- records: everything that a node's record holds ---- */

/** Arm of the wire's oneof, by its field number in schema/et_def.proto. Even numbers are the list of the one before. */
typedef enum chakra_attribute_kind {
  CHAKRA_KIND_NONE = 0,
  CHAKRA_KIND_DOUBLE = 3,
  CHAKRA_KIND_DOUBLE_LIST = 4,
  CHAKRA_KIND_FLOAT = 5,
  CHAKRA_KIND_FLOAT_LIST = 6,
  CHAKRA_KIND_INT32 = 7,
  CHAKRA_KIND_INT32_LIST = 8,
  CHAKRA_KIND_INT64 = 9,
  CHAKRA_KIND_INT64_LIST = 10,
  CHAKRA_KIND_UINT32 = 11,
  CHAKRA_KIND_UINT32_LIST = 12,
  CHAKRA_KIND_UINT64 = 13,
  CHAKRA_KIND_UINT64_LIST = 14,
  CHAKRA_KIND_SINT32 = 15,
  CHAKRA_KIND_SINT32_LIST = 16,
  CHAKRA_KIND_SINT64 = 17,
  CHAKRA_KIND_SINT64_LIST = 18,
  CHAKRA_KIND_FIXED32 = 19,
  CHAKRA_KIND_FIXED32_LIST = 20,
  CHAKRA_KIND_FIXED64 = 21,
  CHAKRA_KIND_FIXED64_LIST = 22,
  CHAKRA_KIND_SFIXED32 = 23,
  CHAKRA_KIND_SFIXED32_LIST = 24,
  CHAKRA_KIND_SFIXED64 = 25,
  CHAKRA_KIND_SFIXED64_LIST = 26,
  CHAKRA_KIND_BOOL = 27,
  CHAKRA_KIND_BOOL_LIST = 28,
  CHAKRA_KIND_STRING = 29,
  CHAKRA_KIND_STRING_LIST = 30,
  CHAKRA_KIND_BYTES = 31,
  CHAKRA_KIND_BYTES_LIST = 32
} chakra_attribute_kind;

/** One attribute of a record. */
typedef struct chakra_attribute {
  chakra_string name;
  chakra_string doc_string;
  chakra_attribute_kind kind;
  size_t count; /**< values: 1 for a single one, as many as there are for a list, 0 for CHAKRA_KIND_NONE */
} chakra_attribute;

/** Values, shapes and types of a node's inputs or outputs, as the strings that the file has. */
typedef struct chakra_io_info {
  chakra_string values;
  chakra_string shapes;
  chakra_string types;
} chakra_io_info;

/** Decodes a node's record. NULL on failure. Texts of a record are valid until it is freed. */
chakra_record* chakra_record_read(const chakra_trace* trace, uint32_t row, chakra_error** error);
/** The record of the trace as a whole (GlobalMetadata): attributes only. */
chakra_record* chakra_record_read_metadata(const chakra_trace* trace, chakra_error** error);
void chakra_record_free(chakra_record* record);

/** Attributes in the order of the file. */
size_t chakra_record_size(const chakra_record* record);
/** `index` below chakra_record_size(). */
chakra_attribute chakra_record_attribute(const chakra_record* record, size_t index);
/** The first attribute of a name, or CHAKRA_NO_ATTRIBUTE. */
size_t chakra_record_find(const chakra_record* record, const char* name);
chakra_io_info chakra_record_inputs(const chakra_record* record);
chakra_io_info chakra_record_outputs(const chakra_record* record);
/** The whole as a protobuf message (Node or GlobalMetadata), without the length in front. */
chakra_string chakra_record_bytes(const chakra_record* record);

/* The value number `element` of attribute `index`. Conversions and failures as for the attributes by name. */
chakra_status chakra_record_int64(const chakra_record* record, size_t index, size_t element, int64_t* value,
                                  chakra_error** error);
chakra_status chakra_record_uint64(const chakra_record* record, size_t index, size_t element, uint64_t* value,
                                   chakra_error** error);
chakra_status chakra_record_double(const chakra_record* record, size_t index, size_t element, double* value,
                                   chakra_error** error);
chakra_status chakra_record_string(const chakra_record* record, size_t index, size_t element, chakra_string* value,
                                   chakra_error** error);

/* ---- feeders ---- */

/** Which of the ready nodes comes first. Equal ones come in the order of their ids. */
typedef enum chakra_order {
  CHAKRA_ORDER_ID = 0,         /**< smallest id first */
  CHAKRA_ORDER_START_TIME = 1, /**< earliest start first */
  CHAKRA_ORDER_FILE = 2,       /**< as the nodes stand in the file */
  CHAKRA_ORDER_ATTRIBUTE = 3,  /**< by an integer attribute; nodes without it come last */
  CHAKRA_ORDER_COMPARATOR = 4  /**< as the function `before` says */
} chakra_order;

/** How a feeder works. Start from chakra_feeder_default_options(), so that fields of later versions have a value. */
typedef struct chakra_feeder_options {
  chakra_dependencies dependencies;
  chakra_order order;
  const char* attribute; /**< for CHAKRA_ORDER_ATTRIBUTE: the name, e.g. "comm_priority" */
  int smallest_first;    /**< for CHAKRA_ORDER_ATTRIBUTE: nonzero for smallest first, else largest first */
  /** For CHAKRA_ORDER_COMPARATOR: nonzero if row `a` goes before row `b`; a strict weak order. Asked only while the
   *  feeder is made. */
  int (*before)(void* context, uint32_t a, uint32_t b);
  void* context; /**< handed to `before` */
} chakra_feeder_options;

/** Both kinds of dependencies, smallest id first. */
chakra_feeder_options chakra_feeder_default_options(void);

/** Hands out the nodes of a trace in dependency order. `options` may be NULL. NULL on failure: CHAKRA_ERROR_ARGUMENT.
 */
chakra_feeder* chakra_feeder_create(const chakra_trace* trace, const chakra_feeder_options* options,
                                    chakra_error** error);
void chakra_feeder_free(chakra_feeder* feeder);

/** How a stream is read. Start from chakra_stream_default_options(). */
typedef struct chakra_stream_options {
  /** Nodes that are read ahead: ready ones, and such that wait for nodes that were read. Those in flight, and those
   * that wait for nodes further on in the file, come on top. 0 counts as 1. */
  size_t window;
  /** Nonzero: the nodes stand in the file in the issue order. Saves the pass over the file that finds out; a node that
   *  breaks the promise is CHAKRA_ERROR_FORMAT when it is reached. */
  int in_issue_order;
  unsigned threads; /**< that decode; 0: as many as fit the machine. The order does not depend on it */
} chakra_stream_options;

/** A window of 100,000 nodes. */
chakra_stream_options chakra_stream_default_options(void);

/**
 * Feeds a file of records, plain, gzip or zstd, while it is read: memory is bounded by the window and what is open, and
 * the order is that of a feeder over the whole trace (docs/feeder.md has the rules). Both options may be NULL; the
 * order must not be CHAKRA_ORDER_COMPARATOR. All functions for feeders work; faults further on in the file come from
 * chakra_feeder_pop() when they are reached. NULL on failure, as chakra_trace_load() when strict, and
 * CHAKRA_ERROR_FORMAT for JSON.
 */
chakra_feeder* chakra_feeder_stream(const char* path, const chakra_feeder_options* options,
                                    const chakra_stream_options* reading, chakra_error** error);

/**
 * The trace that has a node, and its row there: the whole trace, or of a stream the block of the file that the node was
 * read in. The handle belongs to the feeder, must not be freed, and is valid until this function is called again for
 * the feeder; a record that is read from it keeps what it needs. A block has columns, attributes and records, but knows
 * parents by id only: chakra_feeder_parents() gives them, chakra_trace_data_deps() and _ctrl_deps() are empty. NULL on
 * failure: CHAKRA_ERROR_ARGUMENT for a row that is not in the trace; CHAKRA_ERROR_STATE for one of a stream that is not
 * read yet, or complete.
 */
const chakra_trace* chakra_feeder_node(chakra_feeder* feeder, uint32_t row, uint32_t* row_in_trace,
                                       chakra_error** error);
/** The id of a node. Failures as chakra_feeder_node(). */
chakra_status chakra_feeder_id(const chakra_feeder* feeder, uint32_t row, uint64_t* id, chakra_error** error);
/** The row of an id, or CHAKRA_NO_ROW; of a stream only of nodes that are read and not complete. Constant time. */
uint32_t chakra_feeder_find(const chakra_feeder* feeder, uint64_t id);
/**
 * Writes the ids of a node's parents, `capacity` at most, in the order of the file and as often as the file names them,
 * for CHAKRA_BOTH data before control. `count` is set to how many there are. Failures as chakra_feeder_node().
 */
chakra_status chakra_feeder_parents(const chakra_feeder* feeder, uint32_t row, chakra_dependencies kind, uint64_t* ids,
                                    size_t capacity, size_t* count, chakra_error** error);

/**
 * Takes the first ready node. CHAKRA_ABSENT if none is ready now: complete some that are in flight, or all is done.
 * CHAKRA_ERROR_DEPENDENCY, naming a minimal cycle (or of a stream the missing parents), if nothing is ready or in
 * flight and yet nodes remain. Of a stream also CHAKRA_ERROR_FORMAT and _IO, when all that was read before the fault is
 * fed.
 */
chakra_status chakra_feeder_pop(chakra_feeder* feeder, uint32_t* row, chakra_error** error);
/** Takes ready nodes in order, at most `capacity`, and says how many. Failures as chakra_feeder_pop(). */
chakra_status chakra_feeder_pop_all(chakra_feeder* feeder, uint32_t* rows, size_t capacity, size_t* count,
                                    chakra_error** error);
/** The node that chakra_feeder_pop() would take, or CHAKRA_NO_ROW, also where it would fail. */
uint32_t chakra_feeder_peek(const chakra_feeder* feeder);
/** Takes this ready node, whatever its place in the order. CHAKRA_ERROR_STATE if it is not ready. */
chakra_status chakra_feeder_take(chakra_feeder* feeder, uint32_t row, chakra_error** error);
/** Returns a taken node to the ready ones. CHAKRA_ERROR_STATE if it was not in flight. */
chakra_status chakra_feeder_push_back(chakra_feeder* feeder, uint32_t row, chakra_error** error);
/** Marks a taken node complete; its children may become ready. CHAKRA_ERROR_STATE if it was not in flight. */
chakra_status chakra_feeder_complete(chakra_feeder* feeder, uint32_t row, chakra_error** error);
/**
 * The same, and writes the nodes that became ready, in order, `capacity` at most; `count` is set to how many there
 * were. A node makes at most as many ready as it has children.
 */
chakra_status chakra_feeder_complete_into(chakra_feeder* feeder, uint32_t row, uint32_t* became_ready, size_t capacity,
                                          size_t* count, chakra_error** error);
/** Completes several: all, or none on failure. */
chakra_status chakra_feeder_complete_many(chakra_feeder* feeder, const uint32_t* rows, size_t count,
                                          chakra_error** error);

size_t chakra_feeder_ready(const chakra_feeder* feeder);     /**< nodes that could be taken now */
size_t chakra_feeder_in_flight(const chakra_feeder* feeder); /**< taken, not complete */
/** Nodes that are not complete, whatever their state. A stream that made no pass over its file (by file, or
 *  in_issue_order) counts what it has read and, until it has seen the end, one more. */
size_t chakra_feeder_remaining(const chakra_feeder* feeder);
/** Writes the first `capacity` of the ready nodes in order, and says how many there are. */
chakra_status chakra_feeder_ready_rows(const chakra_feeder* feeder, uint32_t* rows, size_t capacity, size_t* count,
                                       chakra_error** error);
/**
 * Says in words what the nodes that are not ready wait for, `most` of them named. Writes at most `capacity` bytes with
 * the final NUL, and in any case the whole size without it. `deadlock` is set to whether some would wait for ever,
 * which the text then explains by a minimal cycle. `size` and `deadlock` may be NULL. Linear in the trace.
 */
chakra_status chakra_feeder_blocked(const chakra_feeder* feeder, size_t most, char* buffer, size_t capacity,
                                    size_t* size, int* deadlock, chakra_error** error);

/** What a stream had to do. */
typedef struct chakra_stream_statistics {
  uint64_t nodes_read;
  uint64_t most_held;                /**< nodes read and not complete, at the most */
  uint64_t forward_references;       /**< dependencies on nodes further on in the file */
  uint64_t read_on_for_dependencies; /**< read beyond the window because nothing in it could become ready */
  uint64_t read_on_for_order;        /**< read beyond the window because a node further on might go first */
} chakra_stream_statistics;

/** All zero for a feeder over a whole trace. */
chakra_stream_statistics chakra_feeder_statistics(const chakra_feeder* feeder);

/** Back to the start. A stream opens its file again, and fails as chakra_feeder_stream(); it can then only be freed. */
chakra_status chakra_feeder_reset(chakra_feeder* feeder, chakra_error** error);

#ifdef __cplusplus
}
#endif

#endif
