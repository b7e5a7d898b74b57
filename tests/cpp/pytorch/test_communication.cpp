// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "pytorch/communication.hpp"
#include "pytorch/trace_maker.hpp"

namespace chakra::pytorch {
namespace {

using test::row_named;
using test::TraceMaker;

struct MeaningCase {
  const char* name;
  NodeType type;
  std::optional<CollectiveType> collective;
};

class Meanings : public ::testing::TestWithParam<MeaningCase> {};

TEST_P(Meanings, Rule) {
  const std::optional<CommMeaning> meaning = comm_meaning(GetParam().name);
  ASSERT_TRUE(meaning.has_value());
  EXPECT_EQ(meaning->type, GetParam().type);
  EXPECT_EQ(meaning->collective, GetParam().collective);
}

INSTANTIATE_TEST_SUITE_P(
    Table, Meanings,
    ::testing::Values(MeaningCase{"ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)",
                                  NodeType::comm_coll, CollectiveType::all_reduce},
                      MeaningCase{"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                                  NodeType::comm_coll, CollectiveType::reduce_scatter},
                      MeaningCase{"ncclDevKernel_AllGather_RING_LL", NodeType::comm_coll, CollectiveType::all_gather},
                      MeaningCase{"ncclKernel_Broadcast_RING_LL_Sum_int8_t", NodeType::comm_coll,
                                  CollectiveType::broadcast},
                      MeaningCase{"ncclDevKernel_Reduce_Sum_f32", NodeType::comm_coll, CollectiveType::reduce},
                      MeaningCase{"nccl:_all_gather_base", NodeType::comm_coll, CollectiveType::all_gather},
                      MeaningCase{"nccl:all_to_all", NodeType::comm_coll, CollectiveType::all_to_all},
                      MeaningCase{"all_to_allv", NodeType::comm_coll, CollectiveType::all_to_all},
                      MeaningCase{"c10d::_reduce_scatter_base_", NodeType::comm_coll, CollectiveType::reduce_scatter},
                      MeaningCase{"c10d::gather_", NodeType::comm_coll, CollectiveType::gather},
                      MeaningCase{"c10d::scatter_", NodeType::comm_coll, CollectiveType::scatter},
                      MeaningCase{"c10d::barrier", NodeType::comm_coll, CollectiveType::barrier},
                      MeaningCase{"gloo:all_reduce", NodeType::comm_coll, CollectiveType::all_reduce},
                      MeaningCase{"nccl:send 0->1", NodeType::comm_send, std::nullopt},
                      MeaningCase{"c10d::recv_", NodeType::comm_recv, std::nullopt},
                      MeaningCase{"one_shot_all_reduce_kernel", NodeType::comm_coll, CollectiveType::all_reduce}));

TEST(Communication, OneKernelForSendsAndReceivesSaysNothing) {
  EXPECT_FALSE(comm_meaning("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*)").has_value());
  EXPECT_FALSE(comm_meaning("ncclDevKernel_Generic(ncclDevKernelArgs)").has_value());
}

TEST(Communication, KernelNames) {
  EXPECT_TRUE(is_comm_kernel_name("ncclDevKernel_AllReduce_Sum_f32(ncclDevKernelArgsStorage<4096ul>)"));
  EXPECT_TRUE(is_comm_kernel_name("multimem_all_reduce_kernel"));
  EXPECT_FALSE(is_comm_kernel_name("void at::native::reduce_kernel<512>(nccl_like_argument)"));
}

TEST(Communication, SizesOfTensorsAndTypes) {
  EXPECT_EQ(tensor_bytes("[[7, 8, 0, 1024, 4, 'cuda:0'], [-1]]"), 4096);
  EXPECT_EQ(tensor_bytes("[[[7, 8, 0, 10, 2, 'cpu'], [9, 10, 0, 5, 8, 'cpu']], '<Object>', 1, 0]"), 60);
  EXPECT_EQ(tensor_bytes("['[not, a, list]', 1]"), -1);
  EXPECT_EQ(tensor_bytes("[[7, 8, 0, 999999999999999999999, 4, 'cpu']]"), -1);
  EXPECT_EQ(element_count("[[16, 128], []]"), 2049);
  EXPECT_EQ(element_count("[[[74016]], [], []]"), 74018);
  EXPECT_EQ(element_count("''"), -1);
  EXPECT_EQ(dtype_bytes("BFloat16"), 2);
  EXPECT_EQ(dtype_bytes("long int"), 8);
  EXPECT_EQ(dtype_bytes("Float8_e4m3fn"), 1);
  EXPECT_EQ(dtype_bytes("Opaque"), 0);
}

TEST(Communication, GroupsFromEverySource) {
  TraceMaker make;
  HostNode& init = make.node(3, "## process_group:init ##", 2, 1);
  init.inputs.values = make.text(
      "['[{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", \"ranks\": [], \"group_size\": 4}, "
      "{\"pg_name\": \"tp\", \"pg_desc\": \"\", \"ranks\": [2, 3], \"group_size\": 2}]']");
  CommArguments& arguments = make.comm(make.op("record_param_comms", 0, 1), "allreduce", 8);
  arguments.group_name = make.device.strings.intern("dp");
  arguments.global_rank_start = 1;
  arguments.global_rank_stride = 2;
  arguments.group_size = 2;
  make.device.distributed.groups = {{"tp", "tensor", "nccl", 2, {3, 2}}};
  const GroupTable table(&make.host, &make.device);
  ASSERT_EQ(table.groups().size(), 3U);
  EXPECT_EQ(table.find("0")->ranks, (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(table.find("tp")->ranks, (std::vector<std::int64_t>{3, 2})) << "the last mention wins";
  EXPECT_EQ(table.find("dp")->ranks, (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(table.find("none"), nullptr);
  EXPECT_EQ(table.fallback()->name, "0");
  EXPECT_EQ(table.global_rank("dp", 1), 3);
  EXPECT_EQ(table.global_rank("none", 1), 1);
}

// A kernel under record_param_comms, with arguments.
struct Collective {
  TraceMaker make;
  std::uint32_t record = 0;
  Collective(std::string_view kernel, std::string_view collective, std::int64_t elements) {
    record = make.op("record_param_comms", 0, 50);
    make.comm(record, collective, elements, "Half").group_name = make.device.strings.intern("7");
    make.call("cudaLaunchKernelExC", 5, 10, 1);
    make.kernel(kernel, 20, 20, 1, 20);
  }
};

TEST(Communication, ArgumentsGiveSizeAndGroup) {
  Collective collective("ncclDevKernel_ReduceScatter_Sum_f16", "_reduce_scatter_base", 1000);
  const LinkedTrace linked = collective.make.link_device();
  const Communication& comm = linked.model().communications.all.at(0);
  EXPECT_EQ(comm.collective, CollectiveType::reduce_scatter);
  EXPECT_EQ(comm.size_bytes, 2000);
  EXPECT_EQ(comm.group, "7");
}

TEST(Communication, TheCollectivesNameDecidesWhereTheKernelsDoesNot) {
  Collective collective("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "all_to_allv", 8);
  EXPECT_EQ(collective.make.link_device().model().communications.all.at(0).collective, CollectiveType::all_to_all);
}

TEST(Communication, UnknownKernelsAreRefusedOrComputation) {
  const auto build = [] {
    TraceMaker make;
    make.op("op", 0, 50);
    make.call("cudaLaunchKernelExC", 5, 10, 1);
    make.kernel("ncclDevKernel_Generic", 20, 20, 1, 20);
    return make;
  };
  EXPECT_THROW(build().link_device(), LinkError);
  const LinkedTrace linked = build().link_device(OnError::recover);
  EXPECT_EQ(linked.report().count("communication", "unknown kernels taken for computation"), 1U);
  const TracePtr trace = convert(linked);
  EXPECT_EQ(trace->types()[row_named(*trace, "ncclDevKernel_Generic")], NodeType::comp);
}

TEST(Communication, CollectivesWithoutAKernelAreCountedAndWaitsAreNone) {
  TraceMaker make;
  make.comm(make.op("record_param_comms", 0, 5), "allreduce", 100);
  make.comm(make.op("record_param_comms", 10, 5), "wait", 0, "Byte");
  make.comm(make.op("record_param_comms", 20, 5), "", 0, "Byte");
  EXPECT_EQ(make.link_device().report().count("communication", "collectives without a kernel"), 1U);
}

TEST(Communication, RecvNamesItsSourceSecond) {
  TraceMaker make;
  const auto record = make.op("record_param_comms", 0, 50);
  make.comm(record, "recv", 4).group_name = make.device.strings.intern("pp");
  make.op("nccl:recv 1<-0", 2, 40);
  make.call("cudaLaunchKernelExC", 5, 10, 1);
  make.kernel("ncclDevKernel_SendRecv", 60, 20, 1, 20);
  make.device.distributed.groups = {{"pp", "", "", 2, {4, 6}}};
  const LinkedTrace linked = make.link_device();
  const Communication& comm = linked.model().communications.all.at(0);
  EXPECT_EQ(comm.type, NodeType::comm_recv);
  EXPECT_EQ(comm.source, 4);
  EXPECT_EQ(comm.destination, 6);
}

TEST(BackendComms, PairInOrderByNameAndSizes) {
  TraceMaker make;
  const auto big = make.op("c10d::allreduce_", 0, 5);
  make.arguments(big, "[[[100]], []]", "['TensorList', '']");
  const auto small = make.op("c10d::allreduce_", 10, 5);
  make.arguments(small, "[[[1]], []]", "['TensorList', '']");
  const auto small_comm = make.annotation("gloo:all_reduce", 12, 5, "w1");
  make.arguments(small_comm, "[[1]]", "['float']");
  const auto big_comm = make.annotation("gloo:all_reduce", 20, 5, "w2");
  make.arguments(big_comm, "[[100]]", "['float']");
  const CallTree tree = build_call_tree(make.device);
  const std::vector<BackendComm> comms = find_backend_comms(make.device, tree);
  ASSERT_EQ(comms.size(), 2U);
  EXPECT_EQ(tree.frames[comms[0].op].event, small);
  EXPECT_EQ(tree.frames[comms[1].op].event, big);
}

TEST(BackendComms, AWorkerRunsOneAfterTheOtherUnlessTheyOverlap) {
  TraceMaker make;
  make.annotation("gloo:all_reduce", 0, 10, "w");
  make.annotation("gloo:all_reduce", 20, 10, "w");
  make.annotation("gloo:all_reduce", 25, 10, "w");
  make.annotation("gloo:all_reduce", 40, 10, "other");
  const std::vector<BackendComm> comms = find_backend_comms(make.device, build_call_tree(make.device));
  ASSERT_EQ(comms.size(), 4U);
  EXPECT_EQ(comms[0].previous, no_row);
  EXPECT_EQ(comms[1].previous, 0U);
  EXPECT_EQ(comms[2].previous, no_row);
  EXPECT_EQ(comms[3].previous, no_row);
}

}  // namespace
}  // namespace chakra::pytorch
