// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "pytorch/trace_maker.hpp"

namespace chakra::pytorch {
namespace {

using test::ctrl_parents;
using test::data_parents;
using test::row_named;
using test::TraceMaker;
using Names = std::vector<std::string>;

TracePtr convert_to_ops(const LinkedTrace& linked) {
  ConvertOptions options;
  options.layout = TraceLayout::ops;
  return convert(linked, options);
}

void add_roots(TraceMaker& make) {
  make.node(1, "[pytorch|profiler|execution_trace|process]", 1, 0, 0);
  make.node(2, "[pytorch|profiler|execution_trace|thread]", 1, 0);
}

// T25
TEST(ConvertOps, StreamOrderAndWaits) {
  TraceMaker make;
  make.op("aten::mm", 0, 9, "1", 3);
  make.call("cudaLaunchKernel", 2, 5, 1);
  make.kernel("sgemm", 10, 20, 1);
  make.op("aten::add", 12, 8, "1", 4);
  make.call("cudaLaunchKernel", 14, 5, 2);
  make.kernel("add_kernel", 30, 5, 2);
  make.op("aten::item", 22, 10, "1", 5);
  make.call("cudaEventSynchronize", 23, 8, 9);
  make.sync("Event Sync", 23, 8, 9, -1, 7, 8);
  make.call("cudaEventRecord", 8, 1, 8);
  add_roots(make);
  make.node(5, "aten::item", 2, 5);  // parents and children in any order
  make.node(3, "aten::mm", 2, 3);
  make.node(4, "aten::add", 2, 4);
  const TracePtr trace = convert_to_ops(make.link_both());
  EXPECT_EQ(data_parents(*trace, row_named(*trace, "add_kernel")), (Names{"aten::add", "sgemm"}));
  EXPECT_EQ(data_parents(*trace, row_named(*trace, "aten::item")), (Names{"aten::add", "sgemm"}));
  EXPECT_EQ(data_parents(*trace, row_named(*trace, "sgemm")), Names{"aten::mm"});
  Names order;
  for (NodeIndex row = 0; row < trace->size(); ++row) order.emplace_back(trace->name(row));
  EXPECT_EQ(order, (Names{"[pytorch|profiler|execution_trace|process]", "[pytorch|profiler|execution_trace|thread]",
                          "aten::mm", "sgemm", "aten::add", "add_kernel", "aten::item"}));
  for (NodeIndex row = 0; row < trace->size(); ++row) EXPECT_EQ(trace->ids()[row], row);
  EXPECT_EQ(trace->duration_ns()[row_named(*trace, "aten::item")], 3'000U) << "waits 23 .. 30 of 22 .. 32";
}

TEST(ConvertOps, AnOpThatWaitsForItsOwnLaunchDelaysTheNextOne) {
  TraceMaker make;
  make.op("aten::copy_", 0, 50);
  make.call("cudaMemcpyAsync", 5, 40, 1);
  make.kernel("Memcpy DtoH (Device -> Pageable)", 20, 20, 1, 7, DeviceEventKind::memcpy);
  make.op("next", 60, 10);
  const TracePtr trace = convert_to_ops(make.link_device());
  EXPECT_EQ(data_parents(*trace, row_named(*trace, "next")),
            (Names{"aten::copy_", "Memcpy DtoH (Device -> Pageable)"}));
  EXPECT_TRUE(find_cycles(*trace).empty());
}

TEST(ConvertOps, DurationsAreExclusive) {
  TraceMaker make;
  make.op("outer", 0, 100);
  make.op("inner", 20, 30);
  const TracePtr trace = convert_to_ops(make.link_device());
  EXPECT_EQ(trace->duration_ns()[row_named(*trace, "outer")], 70'000U);
  EXPECT_EQ(trace->duration_ns()[row_named(*trace, "inner")], 30'000U);
}

TEST(ConvertOps, AnAnnotationThatWaitsForAnotherThreadHasNoTimeOfItsOwnMeanwhile) {
  TraceMaker make;
  make.op("forward", 0, 100);
  make.annotation("## backward ##", 100, 120);
  make.op("after", 225, 10);
  make.op("backward", 105, 100, "2");
  const TracePtr trace = convert_to_ops(make.link_device());
  EXPECT_EQ(trace->duration_ns()[row_named(*trace, "## backward ##")], 15'000U) << "idle until 205 of 100 .. 220";
  EXPECT_EQ(data_parents(*trace, row_named(*trace, "after")), (Names{"## backward ##", "backward"}));
  EXPECT_EQ(data_parents(*trace, row_named(*trace, "backward")), Names{"forward"});
}

TEST(ConvertOps, StreamOrderHoldsBetweenAnOpAndItsCaller) {
  TraceMaker make;
  make.op("outer", 0, 50);
  make.op("inner", 5, 10);
  make.call("cudaLaunchKernel", 6, 2, 1);
  make.kernel("of inner", 10, 30, 1);
  make.call("cudaLaunchKernel", 30, 2, 2);
  make.kernel("of outer", 40, 30, 2);
  const TracePtr trace = convert_to_ops(make.link_device());
  EXPECT_EQ(data_parents(*trace, row_named(*trace, "of outer")), (Names{"outer", "of inner"}));
}

TEST(ConvertOps, DeviceNodesTakeTheirParentsAttributesAndTensors) {
  TraceMaker make;
  make.op("aten::mm", 0, 10, "1", 3);
  make.call("cudaLaunchKernel", 2, 5, 1);
  make.kernel("sgemm", 10, 20, 1);
  add_roots(make);
  HostNode& node = make.node(3, "aten::mm", 2, 3);
  node.inputs = {make.text("[[4, 5, 0, 6, 4, 'cuda:0']]"), make.text("[[2, 3]]"), make.text("['Tensor(float)']")};
  node.op_schema = make.text("aten::mm(Tensor self) -> Tensor");
  const TracePtr trace = convert_to_ops(make.link_both());
  const NodeIndex kernel = row_named(*trace, "sgemm");
  EXPECT_EQ(trace->inputs(kernel).values, "[[4, 5, 0, 6, 4, 'cuda:0']]");
  Names attributes;
  for (const Attribute& attribute : trace->attributes(kernel)) attributes.push_back(attribute.name);
  EXPECT_EQ(attributes,
            (Names{"rf_id", "fw_parent", "seq_id", "scope", "tid", "fw_tid", "op_schema", "is_cpu_op", "stream"}));
}

// T26
TEST(ConvertOps, AnAbsentCallerDeletesNothing) {
  TraceMaker make;
  make.op("record_param_comms", 0, 50, "1", 8);
  make.call("cudaLaunchKernelExC", 5, 10, 1);
  make.kernel("ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 20, 20, 1, 20);
  add_roots(make);
  HostNode& node = make.node(8, "record_param_comms", 999, 8);
  node.inputs.values = make.text("[[4, 5, 0, 1024, 4, 'cuda:0'], 0]");
  make.device.distributed.groups = {{"0", "default_pg", "cuda:nccl", 2, {0, 1}}};
  const LinkedTrace linked = make.link_both();
  for (const TracePtr& trace : {convert_to_ops(linked), convert(linked)}) {
    row_named(*trace, "record_param_comms");
    const NodeIndex kernel = row_named(*trace, "ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
    EXPECT_EQ(trace->types()[kernel], NodeType::comm_coll);
    EXPECT_EQ(trace->column(IntegerAttribute::comm_type).get(kernel), 5);
    EXPECT_EQ(trace->column(IntegerAttribute::comm_size).get(kernel), 4096);
    EXPECT_EQ(trace->string(*trace->pg_name().get(kernel)), "0");
  }
}

TEST(ConvertOps, TheHostsBackendNodeIsTheCommunicationAndOnNoThread) {
  TraceMaker make;
  const auto op = make.op("c10d::allreduce_", 0, 50, "1", 4);
  make.arguments(op, "[[[8]], []]", "['TensorList', '']");
  const auto gloo = make.annotation("gloo:all_reduce", 10, 100, "worker");
  make.event(gloo).record_function_id = 5;
  make.arguments(gloo, "[[8]]", "['float']");
  make.op("after", 60, 10, "1", 6);
  add_roots(make);
  make.node(4, "c10d::allreduce_", 2, 4);
  make.node(5, "gloo:all_reduce", 4, 5);
  make.node(6, "after", 5, 6);  // the observer's race: under the annotation that was still open
  const TracePtr trace = convert_to_ops(make.link_both());
  const NodeIndex comm = row_named(*trace, "gloo:all_reduce");
  EXPECT_EQ(trace->types()[comm], NodeType::comm_coll);
  EXPECT_EQ(trace->duration_ns()[comm], 100'000U);
  EXPECT_EQ(data_parents(*trace, comm), Names{"c10d::allreduce_"});
  EXPECT_EQ(data_parents(*trace, row_named(*trace, "after")), Names{"c10d::allreduce_"});
}

TEST(ConvertOps, AHostTraceAloneGivesItsTree) {
  TraceMaker make;
  add_roots(make);
  make.node(5, "inner", 4, 2);
  make.node(4, "outer", 2, 1);
  const LinkedTrace linked = link_traces(std::move(make.host), std::nullopt);
  const TracePtr trace = convert(linked);
  EXPECT_EQ(trace->size(), 4U);
  EXPECT_EQ(ctrl_parents(*trace, row_named(*trace, "inner")), Names{"outer"});
  EXPECT_EQ(data_parents(*trace, row_named(*trace, "inner")), Names{"outer"});
  EXPECT_EQ(trace->duration_ns()[row_named(*trace, "inner")], 0U);
  EXPECT_FALSE(linked.report().advice().empty());
}

}  // namespace
}  // namespace chakra::pytorch
