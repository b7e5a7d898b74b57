/* SPDX-License-Identifier: MIT */
/* critical_path TRACE.et: how long a rank's trace takes by its recorded durations if nothing but dependencies holds it
 * up. A discrete-event loop in C99 over chakra_core/c_api.h. */
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
} event_queue;

static int before(event a, event b) { return a.time != b.time ? a.time < b.time : a.row < b.row; }

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
static chakra_status start_ready_nodes(chakra_feeder* feeder, const uint64_t* durations, uint64_t now,
                                       event_queue* queue, chakra_error** error) {
  uint32_t row = 0;
  chakra_status status = CHAKRA_OK;
  while ((status = chakra_feeder_pop(feeder, &row, error)) == CHAKRA_OK) {
    event started;
    started.time = now + durations[row];
    started.row = row;
    push(queue, started);
  }
  return status == CHAKRA_ABSENT ? CHAKRA_OK : status;
}

static chakra_status run(chakra_feeder* feeder, const uint64_t* durations, event_queue* queue, uint64_t* now,
                         chakra_error** error) {
  chakra_status status = start_ready_nodes(feeder, durations, *now, queue, error);
  while (status == CHAKRA_OK && queue->count > 0) {
    const event done = pop(queue);
    *now = done.time;
    status = chakra_feeder_complete(feeder, done.row, error);
    if (status == CHAKRA_OK) {
      status = start_ready_nodes(feeder, durations, *now, queue, error);
    }
  }
  return status;
}

int main(int argc, char** argv) {
  chakra_error* error = NULL;
  chakra_trace* trace = NULL;
  chakra_feeder* feeder = NULL;
  event_queue queue = {NULL, 0};
  uint64_t now = 0;
  int result = EXIT_FAILURE;

  if (argc != 2) {
    fputs("usage: critical_path TRACE.et\n", stderr);
    return 2;
  }
  trace = chakra_trace_load(argv[1], CHAKRA_STRICT, &error);
  if (trace == NULL) {
    return fail(error);
  }
  feeder = chakra_feeder_create(trace, NULL, &error);
  queue.events = malloc((chakra_trace_size(trace) + 1) * sizeof *queue.events);
  if (feeder == NULL || queue.events == NULL) {
    result = fail(error);
  } else if (run(feeder, chakra_trace_duration_ns(trace), &queue, &now, &error) != CHAKRA_OK) {
    result = fail(error);
  } else {
    printf("nodes %zu, critical path %" PRIu64 " ns\n", chakra_trace_size(trace), now);
    result = EXIT_SUCCESS;
  }
  free(queue.events);
  chakra_feeder_free(feeder);
  chakra_trace_free(trace);
  return result;
}
