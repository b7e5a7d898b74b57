/* SPDX-License-Identifier: MIT */
/* critical_path TRACE.et [WINDOW]: how long a rank's trace takes by its recorded durations if nothing but dependencies
 * holds it up. With a window the file is streamed, for traces larger than memory; nodes then start no earlier than they
 * are among the WINDOW nodes that are read ahead. A discrete-event loop in C99 over chakra_core/c_api.h. */
#include <chakra_core/c_api.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  uint64_t time;
  uint32_t row;
} event;

/* A binary heap of events, earliest first; equal times in the order of rows. */
typedef struct {
  event* events;
  size_t count;
  size_t capacity;
} event_queue;

static int before(event a, event b) { return a.time != b.time ? a.time < b.time : a.row < b.row; }

/* Makes place for one more event; 0 if there is no memory. */
static int reserve(event_queue* queue) {
  if (queue->count == queue->capacity) {
    const size_t capacity = 2 * queue->capacity + 64;
    event* events = realloc(queue->events, capacity * sizeof *events);
    if (events == NULL) {
      return 0;
    }
    queue->events = events;
    queue->capacity = capacity;
  }
  return 1;
}

static void push(event_queue* queue, event added) {
  size_t at = queue->count++;
  while (at > 0 && before(added, queue->events[(at - 1) / 2])) {
    queue->events[at] = queue->events[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  queue->events[at] = added;
}

static event pop(event_queue* queue) {
  const event first = queue->events[0];
  const event last = queue->events[--queue->count];
  size_t at = 0;
  for (;;) {
    size_t child = 2 * at + 1;
    if (child + 1 < queue->count && before(queue->events[child + 1], queue->events[child])) {
      ++child;
    }
    if (child >= queue->count || !before(queue->events[child], last)) {
      break;
    }
    queue->events[at] = queue->events[child];
    at = child;
  }
  queue->events[at] = last;
  return first;
}

/* Prints an error, frees it, and says that the program failed. */
static int fail(chakra_error* error) {
  fprintf(stderr, "critical_path: %s\n", chakra_error_message(error));
  chakra_error_free(error);
  return EXIT_FAILURE;
}

/* Starts all nodes that are ready at `now`. */
static chakra_status start_ready_nodes(chakra_feeder* feeder, uint64_t now, event_queue* queue, chakra_error** error) {
  event started;
  chakra_status status = CHAKRA_OK;
  while ((status = chakra_feeder_pop(feeder, &started.row, error)) == CHAKRA_OK) {
    uint32_t row_in_trace = 0;
    const chakra_trace* trace = chakra_feeder_node(feeder, started.row, &row_in_trace, error);
    if (trace == NULL) {
      return CHAKRA_ERROR_INTERNAL;
    }
    if (!reserve(queue)) {
      return CHAKRA_ERROR_MEMORY;
    }
    started.time = now + chakra_trace_duration_ns(trace)[row_in_trace];
    push(queue, started);
  }
  return status == CHAKRA_ABSENT ? CHAKRA_OK : status;
}

static chakra_status run(chakra_feeder* feeder, event_queue* queue, uint64_t* nodes, uint64_t* now,
                         chakra_error** error) {
  chakra_status status = start_ready_nodes(feeder, *now, queue, error);
  while (status == CHAKRA_OK && queue->count > 0) {
    const event done = pop(queue);
    *now = done.time;
    ++*nodes;
    status = chakra_feeder_complete(feeder, done.row, error);
    if (status == CHAKRA_OK) {
      status = start_ready_nodes(feeder, *now, queue, error);
    }
  }
  return status;
}

/* A feeder over the whole trace, or over a stream if there is a window. NULL on failure. */
static chakra_feeder* open_feeder(const char* path, size_t window, chakra_error** error) {
  chakra_feeder* feeder = NULL;
  if (window != 0) {
    chakra_stream_options reading = chakra_stream_default_options();
    reading.window = window;
    feeder = chakra_feeder_stream(path, NULL, &reading, error);
  } else {
    chakra_trace* trace = chakra_trace_load(path, CHAKRA_STRICT, error);
    if (trace != NULL) {
      feeder = chakra_feeder_create(trace, NULL, error);
      chakra_trace_free(trace); /* the feeder keeps what it needs */
    }
  }
  return feeder;
}

int main(int argc, char** argv) {
  chakra_error* error = NULL;
  chakra_feeder* feeder = NULL;
  event_queue queue = {NULL, 0, 0};
  uint64_t nodes = 0;
  uint64_t now = 0;
  const size_t window = argc == 3 ? (size_t)strtoul(argv[2], NULL, 10) : 0;
  int result = EXIT_SUCCESS;

  if (argc < 2 || argc > 3 || (argc == 3 && window == 0)) {
    fputs("usage: critical_path TRACE.et [WINDOW]\n", stderr);
    return 2;
  }
  feeder = open_feeder(argv[1], window, &error);
  if (feeder == NULL || run(feeder, &queue, &nodes, &now, &error) != CHAKRA_OK) {
    result = fail(error);
  } else if (window == 0) {
    printf("nodes %" PRIu64 ", critical path %" PRIu64 " ns\n", nodes, now);
  } else {
    printf("nodes %" PRIu64 ", end %" PRIu64 " ns, %" PRIu64 " held at most\n", nodes, now,
           chakra_feeder_statistics(feeder).most_held);
  }
  free(queue.events);
  chakra_feeder_free(feeder);
  return result;
}
