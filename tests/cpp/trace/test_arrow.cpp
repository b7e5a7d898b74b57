// SPDX-License-Identifier: MIT
#include <string_view>

#include <gtest/gtest.h>

#include "chakra_core/arrow.hpp"
#include "chakra_core/trace_builder.hpp"

namespace chakra {
namespace {

TracePtr two_nodes() {
  TraceBuilder builder;
  const std::vector<Attribute> attributes = {make_int64("comm_size", 64), make_bool("is_cpu_op", true),
                                             make_string("pg_name", "tp")};
  const std::vector<NodeId> parents = {5};
  builder.add_node({.id = 5, .name = "a", .type = NodeType::comp});
  builder.add_node({.id = 6, .name = "b", .type = NodeType::comm_coll, .data_deps = parents, .attributes = attributes});
  return builder.build();
}

template <class Value>
const Value* buffer(const ArrowArray& array, std::size_t which) {
  return static_cast<const Value*>(array.buffers[which]);
}

/// Position of a column of that name.
std::int64_t column(const ArrowSchema& schema, std::string_view name) {
  for (std::int64_t i = 0; i < schema.n_children; ++i) {
    if (schema.children[i]->name == name) {
      return i;
    }
  }
  return -1;
}

TEST(Arrow, SharesTheColumnsAndKeepsTheTrace) {
  TracePtr trace = two_nodes();
  ArrowSchema schema{};
  ArrowArray array{};
  export_schema(&schema);
  export_array(trace, &array);
  const ArrowArray& ids = *array.children[column(schema, "id")];
  EXPECT_EQ(static_cast<const void*>(trace->ids().data()), ids.buffers[1]);
  const std::weak_ptr<const Trace> watched = trace;
  trace.reset();
  EXPECT_FALSE(watched.expired());
  EXPECT_EQ(buffer<NodeId>(ids, 1)[1], 6U);
  const ArrowArray& sizes = *array.children[column(schema, "comm_size")];
  EXPECT_EQ(sizes.null_count, 1);
  EXPECT_EQ(*buffer<std::uint8_t>(sizes, 0), 2);
  EXPECT_EQ(buffer<std::int64_t>(sizes, 1)[1], 64);
  const ArrowArray& flags = *array.children[column(schema, "is_cpu_op")];
  EXPECT_EQ(*buffer<std::uint8_t>(flags, 1), 2);
  const ArrowArray& deps = *array.children[column(schema, "data_deps")];
  EXPECT_EQ(deps.children[0]->length, 1);
  EXPECT_EQ(*buffer<NodeId>(*deps.children[0], 1), 5U);
  const ArrowArray& names = *array.children[column(schema, "name")];
  const auto* const offsets = buffer<std::int64_t>(*names.dictionary, 1);
  const std::int32_t second = buffer<std::int32_t>(names, 1)[1];
  EXPECT_EQ(std::string_view(buffer<char>(*names.dictionary, 2) + offsets[second], 1), "b");
  array.release(&array);
  schema.release(&schema);
  EXPECT_EQ(array.release, nullptr);
  EXPECT_TRUE(watched.expired());
}

TEST(Arrow, AChildMayBeMovedAway) {
  TracePtr trace = two_nodes();
  const std::weak_ptr<const Trace> watched = trace;
  ArrowArray array{};
  export_array(trace, &array);
  trace.reset();
  ArrowArray ids = *array.children[0];
  array.children[0]->release = nullptr;
  array.release(&array);
  EXPECT_FALSE(watched.expired());
  EXPECT_EQ(buffer<NodeId>(ids, 1)[0], 5U);
  ids.release(&ids);
  EXPECT_TRUE(watched.expired());
}

TEST(Arrow, AStreamGivesOneBatchAndThenItsEnd) {
  ArrowArrayStream stream{};
  export_stream(two_nodes(), &stream);
  ArrowSchema schema{};
  ArrowArray array{};
  ASSERT_EQ(stream.get_schema(&stream, &schema), 0);
  EXPECT_EQ(std::string_view(schema.format), "+s");
  ASSERT_EQ(stream.get_next(&stream, &array), 0);
  EXPECT_EQ(array.length, 2);
  EXPECT_EQ(array.n_children, schema.n_children);
  array.release(&array);
  ASSERT_EQ(stream.get_next(&stream, &array), 0);
  EXPECT_EQ(array.release, nullptr);
  EXPECT_EQ(stream.get_last_error(&stream), nullptr);
  schema.release(&schema);
  stream.release(&stream);
}

TEST(Arrow, AnEmptyTraceHasBuffersToo) {
  ArrowArray array{};
  export_array(TraceBuilder().build(), &array);
  EXPECT_EQ(array.length, 0);
  EXPECT_NE(array.children[0]->buffers[1], nullptr);
  array.release(&array);
}

}  // namespace
}  // namespace chakra
