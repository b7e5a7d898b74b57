/* SPDX-License-Identifier: MIT */
/* Reads a trace and feeds it, in C99: touches each handle of the C face. */
#include <chakra_core/c_api.h>
#include <inttypes.h>
#include <stdio.h>

static int64_t feed(chakra_feeder* feeder, const chakra_trace* trace) {
  int64_t sum = 0;
  uint32_t row = 0;
  while (chakra_feeder_pop(feeder, &row, NULL) == CHAKRA_OK) {
    int64_t operations = 0;
    if (chakra_trace_get_int64(trace, row, "num_ops", &operations, NULL) == CHAKRA_OK) {
      sum += operations;
    }
    if (chakra_feeder_complete(feeder, row, NULL) != CHAKRA_OK) {
      return -1;
    }
  }
  return sum;
}

int main(int argc, char** argv) {
  chakra_error* error = NULL;
  chakra_trace* trace = NULL;
  chakra_feeder* feeder = NULL;
  chakra_record* record = NULL;
  int64_t sum = 0;
  if (argc != 2) {
    return 2;
  }
  trace = chakra_trace_load("/nowhere/absent.et", CHAKRA_STRICT, &error);
  if (trace != NULL || chakra_error_status(error) != CHAKRA_ERROR_IO || chakra_error_message(error)[0] == '\0') {
    return 1;
  }
  chakra_error_free(error);
  error = NULL;
  trace = chakra_trace_load(argv[1], CHAKRA_STRICT, &error);
  if (trace == NULL) {
    fprintf(stderr, "%s\n", chakra_error_message(error));
    return 1;
  }
  feeder = chakra_feeder_create(trace, NULL, NULL);
  record = chakra_record_read(trace, 1, NULL);
  sum = feed(feeder, trace);
  printf("nodes %zu, sum %" PRId64 ", attributes of row 1: %zu\n", chakra_trace_size(trace), sum,
         chakra_record_size(record));
  chakra_record_free(record);
  chakra_feeder_free(feeder);
  chakra_trace_free(trace);
  return 0;
}
