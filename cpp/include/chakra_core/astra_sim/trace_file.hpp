// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "chakra_core/astra_sim/messages.hpp"
#include "chakra_core/astra_sim/record_message.hpp"
#include "chakra_core/c_api.h"

namespace Chakra {
namespace detail {

struct Free {
  void operator()(chakra_trace* trace) const { chakra_trace_free(trace); }
  void operator()(chakra_record* record) const { chakra_record_free(record); }
  void operator()(chakra_feeder* feeder) const { chakra_feeder_free(feeder); }
};

/// A trace as the node classes of both faces see it. Shared by a feeder and the nodes that it hands out.
class TraceFile {
 public:
  /// Throws std::runtime_error if the file cannot be read, is malformed, or names absent parents (of data dependencies
  /// only, with CHAKRA_STRICT_DATA).
  TraceFile(const std::string& path, chakra_on_error on_error) : path_(path), trace_(open(path, on_error)) {}

  const std::string& path() const { return path_; }
  const chakra_trace* handle() const { return trace_.get(); }
  std::size_t size() const { return chakra_trace_size(trace_.get()); }

  /// The row of an id, or CHAKRA_NO_ROW.
  std::uint32_t find(std::uint64_t id) const { return chakra_trace_find(trace_.get(), id); }
  std::uint64_t id(std::uint32_t row) const { return chakra_trace_ids(trace_.get())[row]; }
  std::string name(std::uint32_t row) const { return text(chakra_trace_name(trace_.get(), row)); }
  ChakraProtoMsg::NodeType type(std::uint32_t row) const {
    return static_cast<ChakraProtoMsg::NodeType>(chakra_trace_types(trace_.get())[row]);
  }
  std::uint64_t start_micros(std::uint32_t row) const { return micros(chakra_trace_start_ns(trace_.get())[row]); }
  std::uint64_t duration_micros(std::uint32_t row) const { return micros(chakra_trace_duration_ns(trace_.get())[row]); }
  chakra_rows children(std::uint32_t row, chakra_dependencies kind) const {
    chakra_rows rows = {};
    chakra_error* error = nullptr;
    check(chakra_trace_children(trace_.get(), row, kind, &rows, &error), error);
    return rows;
  }

  /// Reads an integer attribute without decoding the record. CHAKRA_OK; CHAKRA_ABSENT if there is none of this name;
  /// else it is none that fits 64 bits with a sign, and the message has to be asked.
  template <class Integer>
  chakra_status integer(std::uint32_t row, const std::string& name, Integer& value) const {
    std::int64_t found = 0;
    const chakra_status status = chakra_trace_get_int64(trace_.get(), row, name.c_str(), &found, nullptr);
    if (status == CHAKRA_OK) {
      value = static_cast<Integer>(found);
    }
    return status;
  }

  /// The whole node.
  ChakraProtoMsg::Node message(std::uint32_t row) const {
    const auto record = read_record(row);
#ifdef CHAKRA_CORE_ASTRA_SIM_PROTOBUF
    return parse_record<ChakraProtoMsg::Node>(record.get());
#else
    ChakraProtoMsg::Node::Parts parts;
    parts.id = id(row);
    parts.name = name(row);
    parts.type = type(row);
    parts.ctrl_deps = ids_of(chakra_trace_ctrl_deps(trace_.get(), row));
    parts.data_deps = ids_of(chakra_trace_data_deps(trace_.get(), row));
    parts.start_time_micros = start_micros(row);
    parts.duration_micros = duration_micros(row);
    parts.inputs = io_info(chakra_record_inputs(record.get()));
    parts.outputs = io_info(chakra_record_outputs(record.get()));
    parts.attributes = record_attributes(record.get());
    return ChakraProtoMsg::Node(std::move(parts));
#endif
  }

  ChakraProtoMsg::GlobalMetadata metadata() const {
    chakra_error* error = nullptr;
    const std::unique_ptr<chakra_record, Free> record(
        checked(chakra_record_read_metadata(trace_.get(), &error), error));
#ifdef CHAKRA_CORE_ASTRA_SIM_PROTOBUF
    return parse_record<ChakraProtoMsg::GlobalMetadata>(record.get());
#else
    return ChakraProtoMsg::GlobalMetadata(text(chakra_trace_schema_version(trace_.get())),
                                          record_attributes(record.get()));
#endif
  }

 private:
  /// Rounded as the file's fields for times are.
  static std::uint64_t micros(std::uint64_t ns) { return ns / 1000 + (ns % 1000 >= 500 ? 1 : 0); }

  static chakra_trace* open(const std::string& path, chakra_on_error on_error) {
    chakra_error* error = nullptr;
    return checked(chakra_trace_load(path.c_str(), on_error, &error), error);
  }

  std::unique_ptr<chakra_record, Free> read_record(std::uint32_t row) const {
    chakra_error* error = nullptr;
    return std::unique_ptr<chakra_record, Free>(checked(chakra_record_read(trace_.get(), row, &error), error));
  }

  std::vector<std::uint64_t> ids_of(chakra_rows rows) const {
    std::vector<std::uint64_t> ids;
    ids.reserve(rows.count);
    for (std::size_t i = 0; i < rows.count; ++i) {
      ids.push_back(id(rows.rows[i]));
    }
    return ids;
  }

  std::string path_;
  std::unique_ptr<chakra_trace, Free> trace_;
};

/// A feeder over a TraceFile. What fails throws std::runtime_error.
class TraceFeeder {
 public:
  /// Throws if nodes wait for each other, wherever in the trace: a cycle beside free nodes would be lost silently.
  TraceFeeder(const TraceFile& file, chakra_dependencies dependencies) {
    chakra_feeder_options options = chakra_feeder_default_options();
    options.dependencies = dependencies;
    chakra_error* error = nullptr;
    feeder_.reset(checked(chakra_feeder_create(file.handle(), &options, &error), error));
    throw_on_deadlock(file.path());
  }

  std::size_t ready() const { return chakra_feeder_ready(feeder_.get()); }
  /// The ready node with the smallest id, or CHAKRA_NO_ROW.
  std::uint32_t peek() const { return chakra_feeder_peek(feeder_.get()); }
  std::vector<std::uint32_t> ready_rows() const {
    std::vector<std::uint32_t> rows(ready());
    chakra_error* error = nullptr;
    check(chakra_feeder_ready_rows(feeder_.get(), rows.data(), rows.size(), nullptr, &error), error);
    return rows;
  }

  void take(std::uint32_t row) { call(chakra_feeder_take, row); }
  void push_back(std::uint32_t row) { call(chakra_feeder_push_back, row); }
  void complete(std::uint32_t row) { call(chakra_feeder_complete, row); }
  /// Completes a node that has at most `children` children, and returns those that became ready.
  std::vector<std::uint32_t> complete(std::uint32_t row, std::size_t children) {
    std::vector<std::uint32_t> rows(children);
    std::size_t count = 0;
    chakra_error* error = nullptr;
    check(chakra_feeder_complete_into(feeder_.get(), row, rows.data(), rows.size(), &count, &error), error);
    rows.resize(count);
    return rows;
  }
  /// The same, false instead of an exception if the node is in another state.
  bool try_take(std::uint32_t row) { return chakra_feeder_take(feeder_.get(), row, nullptr) == CHAKRA_OK; }
  bool try_push_back(std::uint32_t row) { return chakra_feeder_push_back(feeder_.get(), row, nullptr) == CHAKRA_OK; }
  bool try_complete(std::uint32_t row) { return chakra_feeder_complete(feeder_.get(), row, nullptr) == CHAKRA_OK; }

 private:
  using Call = chakra_status (*)(chakra_feeder*, std::uint32_t, chakra_error**);
  void call(Call function, std::uint32_t row) {
    chakra_error* error = nullptr;
    check(function(feeder_.get(), row, &error), error);
  }

  void throw_on_deadlock(const std::string& path) const {
    std::string why(4000, '\0');
    std::size_t size = 0;
    int deadlock = 0;
    chakra_error* error = nullptr;
    check(chakra_feeder_blocked(feeder_.get(), 10, &why[0], why.size(), &size, &deadlock, &error), error);
    if (deadlock != 0) {
      why.resize(std::min(size, why.size() - 1));
      throw std::runtime_error(path + ": " + why);
    }
  }

  std::unique_ptr<chakra_feeder, Free> feeder_;
};

}  // namespace detail
}  // namespace Chakra
