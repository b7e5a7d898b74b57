// SPDX-License-Identifier: MIT
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "chakra_core/c_api.h"
#include "chakra_core/et_file.hpp"
#include "chakra_core/trace_builder.hpp"
#include "message.hpp"
#include "scratch_directory.hpp"

using namespace chakra;
using namespace chakra::test;

namespace {

struct Free {
  void operator()(chakra_trace* handle) const { chakra_trace_free(handle); }
  void operator()(chakra_record* handle) const { chakra_record_free(handle); }
  void operator()(chakra_feeder* handle) const { chakra_feeder_free(handle); }
};
using TraceHandle = std::unique_ptr<chakra_trace, Free>;
using RecordHandle = std::unique_ptr<chakra_record, Free>;
using FeederHandle = std::unique_ptr<chakra_feeder, Free>;

std::string text(chakra_string view) { return {view.data, view.size}; }
std::vector<std::uint32_t> rows(chakra_rows view) { return {view.rows, view.rows + view.count}; }

/// Takes an error apart and frees it.
struct Problem {
  explicit Problem(chakra_error* error) : status(chakra_error_status(error)), message(chakra_error_message(error)) {
    chakra_error_free(error);
  }
  chakra_status status;
  std::string message;
};

std::string node(std::uint64_t id, const std::string& fields) { return record(number_field(1, id) + fields); }

/// Rows 0 to 3 have the ids 30, 10, 20, 40. 20 waits for 30 (data, twice) and 10 (control), 40 for 20.
std::string sample() {
  return record(bytes_field(1, "0.0.4") + bytes_field(2, bytes_field(1, "host") + bytes_field(29, "here"))) +
         node(30, bytes_field(2, "first") + number_field(3, 4) + number_field(6, 100) + number_field(7, 5) +
                      attribute("num_ops", number_field(9, 7)) + attribute("num_ops", number_field(9, 8)) +
                      attribute("is_cpu_op", number_field(27, 1))) +
         node(10, number_field(3, 7) + attribute("comm_size", number_field(13, 64)) +
                      attribute("pg_name", bytes_field(29, "group")) + attribute("low", number_field(9, ~0ULL)) +
                      attribute("real", fixed64_field(3, 0x3ff8000000000000)) +
                      attribute("dims", bytes_field(28, number_field(1, 1) + number_field(1, 0))) +
                      attribute("one", bytes_field(10, number_field(1, 5))) + attribute("none", "") +
                      bytes_field(8, bytes_field(1, "[1]") + bytes_field(2, "[[]]"))) +
         node(20, number_field(5, 30) + number_field(5, 30) + number_field(4, 10)) + node(40, number_field(5, 20));
}

TraceHandle load_sample() {
  const std::string bytes = sample();
  chakra_error* error = nullptr;
  TraceHandle trace(chakra_trace_load_bytes(bytes.data(), bytes.size(), nullptr, CHAKRA_STRICT, &error));
  EXPECT_TRUE(trace) << Problem(error).message;
  return trace;
}

TEST(CTrace, ShowsItsColumns) {
  const TraceHandle trace = load_sample();
  ASSERT_EQ(chakra_trace_size(trace.get()), 4u);
  EXPECT_EQ(chakra_trace_ids(trace.get())[2], 20u);
  EXPECT_EQ(chakra_trace_types(trace.get())[0], CHAKRA_COMP_NODE);
  EXPECT_EQ(chakra_trace_types(trace.get())[1], CHAKRA_COMM_COLL_NODE);
  EXPECT_EQ(chakra_trace_start_ns(trace.get())[0], 100'000u);
  EXPECT_EQ(chakra_trace_duration_ns(trace.get())[0], 5'000u);
  EXPECT_EQ(text(chakra_trace_name(trace.get(), 0)), "first");
  EXPECT_EQ(text(chakra_trace_schema_version(trace.get())), "0.0.4");
  EXPECT_EQ(chakra_trace_problems(trace.get()), 0u);
  EXPECT_EQ(rows(chakra_trace_data_deps(trace.get(), 2)), (std::vector<std::uint32_t>{0, 0}));
  EXPECT_EQ(rows(chakra_trace_ctrl_deps(trace.get(), 2)), std::vector<std::uint32_t>{1});
  EXPECT_EQ(chakra_trace_find(trace.get(), 40), 3u);
  EXPECT_EQ(chakra_trace_find(trace.get(), 41), CHAKRA_NO_ROW);
  chakra_rows children = {};
  ASSERT_EQ(chakra_trace_children(trace.get(), 1, CHAKRA_BOTH, &children, nullptr), CHAKRA_OK);
  EXPECT_EQ(rows(children), std::vector<std::uint32_t>{2});
  ASSERT_EQ(chakra_trace_children(trace.get(), 1, CHAKRA_DATA, &children, nullptr), CHAKRA_OK);
  EXPECT_EQ(children.count, 0u);
  EXPECT_EQ(chakra_trace_children(trace.get(), 4, CHAKRA_DATA, &children, nullptr), CHAKRA_ERROR_ARGUMENT);
}

TEST(CTrace, SaysWhyItCannotBeLoaded) {
  const auto refused = [](const std::string& bytes) {
    chakra_error* error = nullptr;
    const TraceHandle trace(chakra_trace_load_bytes(bytes.data(), bytes.size(), "the name", CHAKRA_STRICT, &error));
    EXPECT_FALSE(trace);
    return Problem(error);
  };
  const Problem malformed = refused(sample().substr(0, 40));
  EXPECT_EQ(malformed.status, CHAKRA_ERROR_FORMAT);
  EXPECT_NE(malformed.message.find("the name"), std::string::npos);
  const Problem orphan = refused(record("") + node(1, number_field(5, 99)));
  EXPECT_EQ(orphan.status, CHAKRA_ERROR_DEPENDENCY);
  EXPECT_NE(orphan.message.find("99"), std::string::npos);

  chakra_error* error = nullptr;
  EXPECT_EQ(chakra_trace_load("/nowhere/absent.et", CHAKRA_STRICT, &error), nullptr);
  const Problem absent(error);
  EXPECT_EQ(absent.status, CHAKRA_ERROR_IO);
  EXPECT_NE(absent.message.find("/nowhere/absent.et"), std::string::npos);
  error = nullptr;
  EXPECT_EQ(chakra_trace_load(nullptr, CHAKRA_STRICT, &error), nullptr);
  EXPECT_EQ(Problem(error).status, CHAKRA_ERROR_ARGUMENT);
  EXPECT_EQ(chakra_trace_load("/nowhere/absent.et", CHAKRA_STRICT, nullptr), nullptr) << "without a wish for the text";
}

TEST(CTrace, NeedsTheParentsOfDataDependenciesOnlyIfToldSo) {
  const auto loads_bytes = [](const std::string& bytes, chakra_on_error on_error) {
    const TraceHandle trace(chakra_trace_load_bytes(bytes.data(), bytes.size(), nullptr, on_error, nullptr));
    return trace ? chakra_trace_ctrl_deps(trace.get(), 0).count + 10 * chakra_trace_problems(trace.get()) : 99;
  };
  const auto loads = [&](const std::string& fields, chakra_on_error on_error) {
    return loads_bytes(record("") + node(1, fields), on_error);
  };
  const std::string data = number_field(5, 7);
  const std::string control = number_field(4, 7);
  EXPECT_EQ(loads(control, CHAKRA_STRICT), 99u);
  EXPECT_EQ(loads(control, CHAKRA_STRICT_DATA), 10u) << "dropped and counted";
  EXPECT_EQ(loads(data, CHAKRA_STRICT_DATA), 99u);
  EXPECT_EQ(loads(control + data, CHAKRA_STRICT_DATA), 99u);
  EXPECT_EQ(loads(data + control, CHAKRA_RECOVER), 20u);
  const std::string json = R"({"workload_graph": [{"Id": 1, "NodeType": 4, "ctrl_deps": [7]}]})";
  EXPECT_EQ(loads_bytes(json, CHAKRA_STRICT), 99u);
  EXPECT_EQ(loads_bytes(json, CHAKRA_STRICT_DATA), 10u);
  EXPECT_EQ(loads("", static_cast<chakra_on_error>(3)), 99u);
}

TEST(CTrace, RecoversWhatIsWhole) {
  const ScratchDirectory directory;
  const std::string path = (directory / "cut.et").string();
  const std::string bytes = sample();
  write_file(path, bytes.substr(0, bytes.size() - 2));
  const TraceHandle trace(chakra_trace_load(path.c_str(), CHAKRA_RECOVER, nullptr));
  ASSERT_TRUE(trace);
  EXPECT_EQ(chakra_trace_size(trace.get()), 3u);
  EXPECT_EQ(chakra_trace_problems(trace.get()), 1u);
}

TEST(CAttributes, ConvertByName) {
  const TraceHandle trace = load_sample();
  std::int64_t integer = 0;
  std::uint64_t natural = 0;
  double real = 0;
  EXPECT_EQ(chakra_trace_get_int64(trace.get(), 0, "num_ops", &integer, nullptr), CHAKRA_OK);
  EXPECT_EQ(integer, 7) << "the first of that name";
  EXPECT_EQ(chakra_trace_get_uint64(trace.get(), 0, "is_cpu_op", &natural, nullptr), CHAKRA_OK);
  EXPECT_EQ(natural, 1u);
  EXPECT_EQ(chakra_trace_get_double(trace.get(), 1, "comm_size", &real, nullptr), CHAKRA_OK);
  EXPECT_EQ(real, 64.0);
  EXPECT_EQ(chakra_trace_get_double(trace.get(), 1, "real", &real, nullptr), CHAKRA_OK);
  EXPECT_EQ(real, 1.5);
  EXPECT_EQ(chakra_trace_get_int64(trace.get(), 1, "low", &integer, nullptr), CHAKRA_OK);
  EXPECT_EQ(integer, -1);
}

TEST(CAttributes, AbsentIsNoFailure) {
  const TraceHandle trace = load_sample();
  std::int64_t integer = 42;
  chakra_error* error = nullptr;
  for (const char* name : {"num_ops", "pg_name", "is_cpu_op", "whatever"}) {
    EXPECT_EQ(chakra_trace_get_int64(trace.get(), 2, name, &integer, &error), CHAKRA_ABSENT) << name;
  }
  EXPECT_EQ(integer, 42);
  EXPECT_EQ(error, nullptr);
}

TEST(CAttributes, DoNotConvertToWhatTheyAreNot) {
  const TraceHandle trace = load_sample();
  std::int64_t integer = 0;
  std::uint64_t natural = 0;
  double real = 0;
  char buffer[8];
  EXPECT_EQ(chakra_trace_get_uint64(trace.get(), 1, "low", &natural, nullptr), CHAKRA_ERROR_TYPE);
  EXPECT_EQ(chakra_trace_get_int64(trace.get(), 1, "real", &integer, nullptr), CHAKRA_ERROR_TYPE);
  EXPECT_EQ(chakra_trace_get_int64(trace.get(), 1, "pg_name", &integer, nullptr), CHAKRA_ERROR_TYPE);
  EXPECT_EQ(chakra_trace_get_double(trace.get(), 1, "pg_name", &real, nullptr), CHAKRA_ERROR_TYPE);
  EXPECT_EQ(chakra_trace_get_int64(trace.get(), 1, "dims", &integer, nullptr), CHAKRA_ERROR_TYPE);
  EXPECT_EQ(chakra_trace_get_int64(trace.get(), 1, "one", &integer, nullptr), CHAKRA_ERROR_TYPE) << "a list of one";
  EXPECT_EQ(chakra_trace_get_int64(trace.get(), 1, "none", &integer, nullptr), CHAKRA_ERROR_TYPE);
  EXPECT_EQ(chakra_trace_get_string(trace.get(), 1, "comm_size", buffer, sizeof buffer, nullptr, nullptr),
            CHAKRA_ERROR_TYPE);
  chakra_error* error = nullptr;
  EXPECT_EQ(chakra_trace_get_int64(trace.get(), 4, "real", &integer, &error), CHAKRA_ERROR_ARGUMENT);
  EXPECT_NE(Problem(error).message.find("row 4"), std::string::npos);
}

TEST(CAttributes, StringsAreCutToTheBuffer) {
  const TraceHandle trace = load_sample();
  char buffer[4] = "xyz";
  std::size_t size = 0;
  EXPECT_EQ(chakra_trace_get_string(trace.get(), 1, "pg_name", buffer, sizeof buffer, &size, nullptr), CHAKRA_OK);
  EXPECT_STREQ(buffer, "gro");
  EXPECT_EQ(size, 5u);
  EXPECT_EQ(chakra_trace_get_string(trace.get(), 1, "pg_name", nullptr, 0, &size, nullptr), CHAKRA_OK);
  EXPECT_EQ(size, 5u);
}

TEST(CRecord, HoldsEverything) {
  TraceHandle trace = load_sample();
  const RecordHandle it(chakra_record_read(trace.get(), 1, nullptr));
  ASSERT_TRUE(it);
  trace.reset();
  EXPECT_EQ(chakra_record_size(it.get()), 7u);
  EXPECT_EQ(text(chakra_record_inputs(it.get()).values), "[1]");
  EXPECT_EQ(text(chakra_record_inputs(it.get()).shapes), "[[]]");
  EXPECT_EQ(text(chakra_record_outputs(it.get()).types), "");
  EXPECT_NE(sample().find(text(chakra_record_bytes(it.get()))), std::string::npos);
  EXPECT_EQ(chakra_record_find(it.get(), "absent"), CHAKRA_NO_ATTRIBUTE);

  const std::size_t dims = chakra_record_find(it.get(), "dims");
  ASSERT_EQ(dims, 4u);
  const chakra_attribute attribute = chakra_record_attribute(it.get(), dims);
  EXPECT_EQ(text(attribute.name), "dims");
  EXPECT_EQ(attribute.kind, CHAKRA_KIND_BOOL_LIST);
  ASSERT_EQ(attribute.count, 2u);
  std::uint64_t value = 9;
  EXPECT_EQ(chakra_record_uint64(it.get(), dims, 1, &value, nullptr), CHAKRA_OK);
  EXPECT_EQ(value, 0u);
  EXPECT_EQ(chakra_record_uint64(it.get(), dims, 2, &value, nullptr), CHAKRA_ERROR_ARGUMENT);
  EXPECT_EQ(chakra_record_uint64(it.get(), 7, 0, &value, nullptr), CHAKRA_ERROR_ARGUMENT);
  chakra_string group = {};
  EXPECT_EQ(chakra_record_string(it.get(), 1, 0, &group, nullptr), CHAKRA_OK);
  EXPECT_EQ(text(group), "group");
  EXPECT_EQ(chakra_record_attribute(it.get(), 6).kind, CHAKRA_KIND_NONE);
  EXPECT_EQ(chakra_record_attribute(it.get(), 6).count, 0u);
}

TEST(CRecord, OfTheMetadata) {
  const TraceHandle trace = load_sample();
  const RecordHandle it(chakra_record_read_metadata(trace.get(), nullptr));
  ASSERT_TRUE(it);
  ASSERT_EQ(chakra_record_size(it.get()), 1u);
  chakra_string host = {};
  EXPECT_EQ(chakra_record_string(it.get(), chakra_record_find(it.get(), "host"), 0, &host, nullptr), CHAKRA_OK);
  EXPECT_EQ(text(host), "here");
}

std::vector<std::uint32_t> drain(chakra_feeder* feeder) {
  std::vector<std::uint32_t> order;
  std::uint32_t row = 0;
  while (chakra_feeder_pop(feeder, &row, nullptr) == CHAKRA_OK) {
    order.push_back(row);
    EXPECT_EQ(chakra_feeder_complete(feeder, row, nullptr), CHAKRA_OK);
  }
  return order;
}

TEST(CFeeder, FeedsAndOutlivesTheTrace) {
  TraceHandle trace = load_sample();
  const FeederHandle feeder(chakra_feeder_create(trace.get(), nullptr, nullptr));
  ASSERT_TRUE(feeder);
  trace.reset();
  EXPECT_EQ(chakra_feeder_peek(feeder.get()), 1u);
  EXPECT_EQ(drain(feeder.get()), (std::vector<std::uint32_t>{1, 0, 2, 3}));
  EXPECT_EQ(chakra_feeder_remaining(feeder.get()), 0u);
  EXPECT_EQ(chakra_feeder_peek(feeder.get()), CHAKRA_NO_ROW);
  EXPECT_EQ(chakra_feeder_reset(feeder.get(), nullptr), CHAKRA_OK);
  EXPECT_EQ(chakra_feeder_remaining(feeder.get()), 4u);
}

TEST(CFeeder, ShowsItsNodes) {
  const TraceHandle trace = load_sample();
  const FeederHandle feeder(chakra_feeder_create(trace.get(), nullptr, nullptr));
  std::uint32_t at = 9;
  const chakra_trace* shown = chakra_feeder_node(feeder.get(), 2, &at, nullptr);
  ASSERT_TRUE(shown);
  EXPECT_EQ(chakra_trace_ids(shown)[at], 20u);
  std::uint64_t ids[4] = {};
  EXPECT_EQ(chakra_feeder_id(feeder.get(), 3, ids, nullptr), CHAKRA_OK);
  EXPECT_EQ(ids[0], 40u);
  EXPECT_EQ(chakra_feeder_find(feeder.get(), 20), 2u);
  EXPECT_EQ(chakra_feeder_find(feeder.get(), 21), CHAKRA_NO_ROW);
  std::size_t count = 0;
  EXPECT_EQ(chakra_feeder_parents(feeder.get(), 2, CHAKRA_BOTH, ids, 2, &count, nullptr), CHAKRA_OK);
  EXPECT_EQ(count, 3u);
  EXPECT_EQ(ids[1], 30u);
  EXPECT_EQ(ids[2], 0u) << "no more than there is place for";
  EXPECT_EQ(chakra_feeder_node(feeder.get(), 4, &at, nullptr), nullptr);
  EXPECT_EQ(chakra_feeder_id(feeder.get(), 4, ids, nullptr), CHAKRA_ERROR_ARGUMENT);
  EXPECT_EQ(chakra_feeder_statistics(feeder.get()).nodes_read, 0u);
}

TEST(CFeeder, ChecksTheState) {
  const TraceHandle trace = load_sample();
  const FeederHandle feeder(chakra_feeder_create(trace.get(), nullptr, nullptr));
  chakra_error* error = nullptr;
  EXPECT_EQ(chakra_feeder_complete(feeder.get(), 0, &error), CHAKRA_ERROR_STATE);
  EXPECT_NE(Problem(error).message, "");
  EXPECT_EQ(chakra_feeder_take(feeder.get(), 2, nullptr), CHAKRA_ERROR_STATE);
  EXPECT_EQ(chakra_feeder_take(feeder.get(), 9, nullptr), CHAKRA_ERROR_ARGUMENT);
  EXPECT_EQ(chakra_feeder_take(feeder.get(), 0, nullptr), CHAKRA_OK);
  EXPECT_EQ(chakra_feeder_take(feeder.get(), 0, nullptr), CHAKRA_ERROR_STATE);
  EXPECT_EQ(chakra_feeder_push_back(feeder.get(), 0, nullptr), CHAKRA_OK);
  EXPECT_EQ(chakra_feeder_push_back(feeder.get(), 0, nullptr), CHAKRA_ERROR_STATE);
  EXPECT_EQ(chakra_feeder_ready(feeder.get()), 2u);
}

TEST(CFeeder, SaysWhatBecameReady) {
  const TraceHandle trace = load_sample();
  const FeederHandle feeder(chakra_feeder_create(trace.get(), nullptr, nullptr));
  std::uint32_t ready[2] = {9, 9};
  std::size_t count = 9;
  EXPECT_EQ(chakra_feeder_complete_into(feeder.get(), 0, ready, 2, &count, nullptr), CHAKRA_ERROR_STATE);
  for (const std::uint32_t row : {0u, 1u}) {
    ASSERT_EQ(chakra_feeder_take(feeder.get(), row, nullptr), CHAKRA_OK);
    ASSERT_EQ(chakra_feeder_complete_into(feeder.get(), row, ready, 2, &count, nullptr), CHAKRA_OK);
    EXPECT_EQ(count, row) << "row 2 waits for both";
  }
  EXPECT_EQ(ready[0], 2u);
  EXPECT_EQ(ready[1], 9u);
}

TEST(CFeeder, TakesAndCompletesSeveral) {
  const TraceHandle trace = load_sample();
  const FeederHandle feeder(chakra_feeder_create(trace.get(), nullptr, nullptr));
  std::uint32_t taken[4] = {};
  std::size_t count = 0;
  EXPECT_EQ(chakra_feeder_ready_rows(feeder.get(), taken, 1, &count, nullptr), CHAKRA_OK);
  EXPECT_EQ(taken[0], 1u);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(chakra_feeder_pop_all(feeder.get(), taken, 4, &count, nullptr), CHAKRA_OK);
  ASSERT_EQ(count, 2u);
  EXPECT_EQ(chakra_feeder_in_flight(feeder.get()), 2u);
  EXPECT_EQ(chakra_feeder_pop_all(feeder.get(), taken + 2, 2, &count, nullptr), CHAKRA_ABSENT);
  const std::uint32_t wrong[2] = {0, 3};
  EXPECT_EQ(chakra_feeder_complete_many(feeder.get(), wrong, 2, nullptr), CHAKRA_ERROR_STATE);
  EXPECT_EQ(chakra_feeder_in_flight(feeder.get()), 2u) << "all or none";
  EXPECT_EQ(chakra_feeder_complete_many(feeder.get(), taken, 2, nullptr), CHAKRA_OK);
  EXPECT_EQ(chakra_feeder_peek(feeder.get()), 2u);
}

int later_rows_first(void* context, std::uint32_t a, std::uint32_t b) {
  ++*static_cast<int*>(context);
  return a > b;
}

TEST(CFeeder, FollowsItsOptions) {
  const TraceHandle trace = load_sample();
  const auto order = [&](const chakra_feeder_options& options) {
    const FeederHandle feeder(chakra_feeder_create(trace.get(), &options, nullptr));
    return drain(feeder.get());
  };
  using Rows = std::vector<std::uint32_t>;
  chakra_feeder_options options = chakra_feeder_default_options();
  options.dependencies = CHAKRA_CONTROL;
  EXPECT_EQ(order(options), (Rows{1, 2, 0, 3}));
  options = chakra_feeder_default_options();
  options.order = CHAKRA_ORDER_FILE;
  EXPECT_EQ(order(options), (Rows{0, 1, 2, 3}));
  options.order = CHAKRA_ORDER_START_TIME;
  EXPECT_EQ(order(options), (Rows{1, 0, 2, 3}));
  options.order = CHAKRA_ORDER_ATTRIBUTE;
  options.attribute = "num_ops";
  EXPECT_EQ(order(options), (Rows{0, 1, 2, 3}));
  int asked = 0;
  options.order = CHAKRA_ORDER_COMPARATOR;
  options.before = later_rows_first;
  options.context = &asked;
  options.dependencies = CHAKRA_DATA;
  EXPECT_EQ(order(options), (Rows{1, 0, 2, 3}));
  EXPECT_GT(asked, 0);
}

TEST(CFeeder, RefusesOptionsThatMakeNoSense) {
  const TraceHandle trace = load_sample();
  chakra_feeder_options options = chakra_feeder_default_options();
  const auto refused = [&] {
    chakra_error* error = nullptr;
    EXPECT_EQ(chakra_feeder_create(trace.get(), &options, &error), nullptr);
    return Problem(error).status;
  };
  options.order = CHAKRA_ORDER_ATTRIBUTE;
  EXPECT_EQ(refused(), CHAKRA_ERROR_ARGUMENT);
  options.order = CHAKRA_ORDER_COMPARATOR;
  EXPECT_EQ(refused(), CHAKRA_ERROR_ARGUMENT);
}

TEST(CFeeder, ExplainsADeadlock) {
  const std::string bytes = record("") + node(1, "") + node(2, number_field(5, 3)) + node(3, number_field(5, 2));
  const TraceHandle trace(chakra_trace_load_bytes(bytes.data(), bytes.size(), nullptr, CHAKRA_STRICT, nullptr));
  const FeederHandle feeder(chakra_feeder_create(trace.get(), nullptr, nullptr));
  int deadlock = 0;
  std::size_t size = 0;
  ASSERT_EQ(chakra_feeder_blocked(feeder.get(), 5, nullptr, 0, &size, &deadlock, nullptr), CHAKRA_OK);
  EXPECT_EQ(deadlock, 1);
  std::string why(size + 1, '\0');
  ASSERT_EQ(chakra_feeder_blocked(feeder.get(), 5, why.data(), why.size(), nullptr, nullptr, nullptr), CHAKRA_OK);
  EXPECT_NE(why.find("wait for each other"), std::string::npos) << why;

  std::uint32_t row = 0;
  ASSERT_EQ(chakra_feeder_pop(feeder.get(), &row, nullptr), CHAKRA_OK);
  ASSERT_EQ(chakra_feeder_complete(feeder.get(), row, nullptr), CHAKRA_OK);
  chakra_error* error = nullptr;
  EXPECT_EQ(chakra_feeder_pop(feeder.get(), &row, &error), CHAKRA_ERROR_DEPENDENCY);
  EXPECT_NE(Problem(error).message.find("2"), std::string::npos);
  EXPECT_EQ(chakra_feeder_pop_all(feeder.get(), &row, 1, &size, nullptr), CHAKRA_ERROR_DEPENDENCY);
}

class CStream : public testing::Test {
 protected:
  FeederHandle stream(const std::string& bytes, std::size_t window, chakra_error** error = nullptr,
                      const chakra_feeder_options* options = nullptr) {
    write_file(path_, bytes);
    chakra_stream_options reading = chakra_stream_default_options();
    EXPECT_GT(reading.window, 1u);
    reading.window = window;
    return FeederHandle(chakra_feeder_stream(path_.c_str(), options, &reading, error));
  }

  ScratchDirectory directory_;
  std::string path_ = (directory_ / "stream.et").string();
};

TEST_F(CStream, FeedsInTheOrderOfTheWholeTrace) {
  const TraceHandle trace = load_sample();
  const FeederHandle whole(chakra_feeder_create(trace.get(), nullptr, nullptr));
  const std::vector<std::uint32_t> order = drain(whole.get());
  for (const std::size_t window : {0u, 1u, 2u, 1000u}) {
    const FeederHandle feeder = stream(sample(), window);
    ASSERT_TRUE(feeder);
    EXPECT_EQ(chakra_feeder_remaining(feeder.get()), 4u);
    EXPECT_EQ(drain(feeder.get()), order) << "window " << window;
    EXPECT_EQ(chakra_feeder_remaining(feeder.get()), 0u);
    EXPECT_EQ(chakra_feeder_statistics(feeder.get()).nodes_read, 4u);
    EXPECT_EQ(chakra_feeder_reset(feeder.get(), nullptr), CHAKRA_OK);
    EXPECT_EQ(drain(feeder.get()), order) << "once more";
  }
}

TEST_F(CStream, ShowsNodesWhileTheyAreHeld) {
  const FeederHandle feeder = stream(sample(), 1000);
  std::uint32_t row = 0;
  std::uint32_t at = 9;
  ASSERT_EQ(chakra_feeder_pop(feeder.get(), &row, nullptr), CHAKRA_OK);
  EXPECT_EQ(row, 1u);
  EXPECT_EQ(chakra_feeder_find(feeder.get(), 10), 1u);
  const chakra_trace* block = chakra_feeder_node(feeder.get(), row, &at, nullptr);
  ASSERT_TRUE(block);
  EXPECT_EQ(chakra_trace_ids(block)[at], 10u);
  std::int64_t size = 0;
  EXPECT_EQ(chakra_trace_get_int64(block, at, "comm_size", &size, nullptr), CHAKRA_OK);
  EXPECT_EQ(size, 64);
  const RecordHandle record(chakra_record_read(block, at, nullptr));

  std::uint64_t ids[4] = {};
  std::size_t count = 0;
  EXPECT_EQ(chakra_feeder_parents(feeder.get(), 2, CHAKRA_BOTH, ids, 4, &count, nullptr), CHAKRA_OK);
  EXPECT_EQ(std::vector<std::uint64_t>(ids, ids + count), (std::vector<std::uint64_t>{30, 30, 10}));
  EXPECT_EQ(chakra_feeder_parents(feeder.get(), 2, CHAKRA_CONTROL, ids, 4, &count, nullptr), CHAKRA_OK);
  EXPECT_EQ(count, 1u);

  ASSERT_EQ(chakra_feeder_complete(feeder.get(), row, nullptr), CHAKRA_OK);
  chakra_error* error = nullptr;
  EXPECT_EQ(chakra_feeder_node(feeder.get(), row, &at, &error), nullptr);
  EXPECT_EQ(Problem(error).status, CHAKRA_ERROR_STATE) << "complete by now";
  EXPECT_EQ(chakra_feeder_id(feeder.get(), 99, ids, nullptr), CHAKRA_ERROR_STATE);
  EXPECT_EQ(chakra_feeder_find(feeder.get(), 10), CHAKRA_NO_ROW);
  EXPECT_EQ(chakra_feeder_take(feeder.get(), 99, nullptr), CHAKRA_ERROR_STATE);
  EXPECT_EQ(chakra_feeder_complete(feeder.get(), row, nullptr), CHAKRA_ERROR_STATE);
  ASSERT_TRUE(record);
  EXPECT_NE(chakra_record_find(record.get(), "pg_name"), CHAKRA_NO_ATTRIBUTE);
}

TEST_F(CStream, FailsWhereTheFileDoes) {
  chakra_error* error = nullptr;
  EXPECT_EQ(chakra_feeder_stream("/nowhere/absent.et", nullptr, nullptr, &error), nullptr);
  EXPECT_EQ(Problem(error).status, CHAKRA_ERROR_IO);
  EXPECT_EQ(chakra_feeder_stream(nullptr, nullptr, nullptr, nullptr), nullptr);
  error = nullptr;
  EXPECT_FALSE(stream(R"({"workload_graph": []})", 5, &error));
  EXPECT_EQ(Problem(error).status, CHAKRA_ERROR_FORMAT);
  error = nullptr;
  EXPECT_FALSE(stream(sample().substr(0, sample().size() - 2), 5, &error));
  EXPECT_EQ(Problem(error).status, CHAKRA_ERROR_FORMAT);

  int asked = 0;
  chakra_feeder_options options = chakra_feeder_default_options();
  options.order = CHAKRA_ORDER_COMPARATOR;
  options.before = later_rows_first;
  options.context = &asked;
  error = nullptr;
  EXPECT_FALSE(stream(sample(), 5, &error, &options));
  EXPECT_EQ(Problem(error).status, CHAKRA_ERROR_ARGUMENT);

  // A bad record far behind, and a parent that is nowhere, are told of when they are reached.
  std::string bytes = record("");
  for (std::uint64_t id = 1; id <= 10'000; ++id) {
    bytes += node(id, "");
  }
  options = chakra_feeder_default_options();
  options.order = CHAKRA_ORDER_FILE;
  const FeederHandle bad = stream(bytes + record("\x08"), 1, nullptr, &options);
  ASSERT_TRUE(bad);
  EXPECT_GT(drain(bad.get()).size(), 5'000u);
  EXPECT_EQ(chakra_feeder_peek(bad.get()), CHAKRA_NO_ROW);
  std::uint32_t row = 0;
  error = nullptr;
  EXPECT_EQ(chakra_feeder_pop(bad.get(), &row, &error), CHAKRA_ERROR_FORMAT);
  EXPECT_NE(Problem(error).message.find("stream.et"), std::string::npos);

  const FeederHandle orphan = stream(record("") + node(1, number_field(5, 99)), 1);
  ASSERT_TRUE(orphan);
  error = nullptr;
  EXPECT_EQ(chakra_feeder_pop(orphan.get(), &row, &error), CHAKRA_ERROR_DEPENDENCY);
  EXPECT_NE(Problem(error).message.find("99"), std::string::npos);
}

TEST(CHandles, FreeingNothingIsAllowed) {
  chakra_trace_free(nullptr);
  chakra_record_free(nullptr);
  chakra_feeder_free(nullptr);
  chakra_error_free(nullptr);
  EXPECT_STREQ(chakra_error_message(nullptr), "");
  EXPECT_EQ(chakra_error_status(nullptr), CHAKRA_OK);
  EXPECT_EQ(chakra_feeder_create(nullptr, nullptr, nullptr), nullptr);
  EXPECT_EQ(chakra_record_read(nullptr, 0, nullptr), nullptr);
}

}  // namespace
