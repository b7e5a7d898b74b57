// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

#include "chakra_core/trace_builder.hpp"
#include "generate/testcase_maker.hpp"

namespace chakra::generate {

namespace {

// What the generator of Chakra makes under the same names has the same attributes, in the same order and arms; that its
// readers and ours agree on these is what the cases are for.

constexpr std::uint64_t most_bytes = (std::uint64_t{1} << 63) - 1;

TracePtr one_trace(std::span<const NodeSpec> nodes) {
  TraceBuilder builder;
  builder.set_metadata({"1.0.0", {}});
  for (const NodeSpec& node : nodes) {
    builder.add_node(node);
  }
  return builder.build();
}

Attribute described(Attribute attribute) {
  attribute.doc_string = attribute.name;
  return attribute;
}

std::vector<Attribute> all_kinds() {
  using Kind = AttributeKind;
  std::vector<bool> alternating;
  std::vector<std::string> texts;
  for (int i = 0; i < 10; ++i) {
    alternating.push_back(i % 2 == 0);
    texts.push_back(std::to_string(12345 + i));
  }
  using Signed = std::vector<std::int64_t>;
  using Unsigned = std::vector<std::uint64_t>;
  using Real = std::vector<double>;
  // A float arm holds what a float can: the nearest values.
  const double single = 1.2345F;
  const double other_single = 2.3456F;
  return {described({"double", Kind::double_value, 1.2345, {}}),
          {"double_list", Kind::double_list, Real{1.2345, 2.3456}, {}},
          described({"float", Kind::float_value, single, {}}),
          {"float_list", Kind::float_list, Real{single, other_single}, {}},
          described({"int32", Kind::int32_value, std::int64_t{12345}, {}}),
          {"int32_list", Kind::int32_list, Signed{12345, 23456}, {}},
          described({"int64", Kind::int64_value, std::int64_t{9876543210}, {}}),
          {"int64_list", Kind::int64_list, Signed{9876543210, 1234567890}, {}},
          described({"uint32", Kind::uint32_value, std::uint64_t{12345}, {}}),
          {"uint32_list", Kind::uint32_list, Unsigned{12345, 23456}, {}},
          described({"uint64", Kind::uint64_value, std::uint64_t{9876543210}, {}}),
          {"uint64_list", Kind::uint64_list, Unsigned{9876543210, 1234567890}, {}},
          described({"sint32", Kind::sint32_value, std::int64_t{-12345}, {}}),
          {"sint32_list", Kind::sint32_list, Signed{12345, -23456}, {}},
          described({"sint64", Kind::sint64_value, std::int64_t{-9876543210}, {}}),
          {"sint64_list", Kind::sint64_list, Signed{9876543210, -1234567890}, {}},
          {"fixed32", Kind::fixed32_value, std::uint64_t{12345}, {}},
          {"fixed32_list", Kind::fixed32_list, Unsigned{12345, 23456}, {}},
          {"fixed64", Kind::fixed64_value, std::uint64_t{9876543210}, {}},
          {"fixed64_list", Kind::fixed64_list, Unsigned{9876543210, 1234567890}, {}},
          {"sfixed32", Kind::sfixed32_value, std::int64_t{-12345}, {}},
          {"sfixed32_list", Kind::sfixed32_list, Signed{12345, -23456}, {}},
          {"sfixed64", Kind::sfixed64_value, std::int64_t{-9876543210}, {}},
          {"sfixed64_list", Kind::sfixed64_list, Signed{9876543210, -1234567890}, {}},
          described({"bool", Kind::bool_value, true, {}}),
          {"bool_list", Kind::bool_list, alternating, {}},
          described({"string", Kind::string_value, std::string("12345"), {}}),
          {"string_list", Kind::string_list, texts, {}},
          {"bytes", Kind::bytes_value, std::string("12345"), {}},
          {"bytes_list", Kind::bytes_list, texts, {}}};
}

TestcaseMaker metadata_case() {
  return {{"one_metadata_node_all_types", "a METADATA node with an attribute of every kind of the schema", {}},
          true,
          [](const Parameters&, std::uint64_t) {
            const std::vector<Attribute> attributes = all_kinds();
            const NodeSpec node{.name = "METADATA_NODE", .type = NodeType::metadata, .attributes = attributes};
            return one_trace({&node, 1});
          }};
}

/// A node of the device with its size in `tensor_size`.
TestcaseMaker sized_case(std::string name, std::string description, NodeType type, const char* node_name) {
  return {{std::move(name), std::move(description), {{"tensor_size", 1024, 0, most_bytes, "bytes"}}},
          true,
          [type, node_name](const Parameters& parameters, std::uint64_t) {
            const std::array attributes{make_bool("is_cpu_op", false),
                                        make_uint64("tensor_size", parameters["tensor_size"])};
            const NodeSpec node{.name = node_name, .type = type, .attributes = attributes};
            return one_trace({&node, 1});
          }};
}

TestcaseMaker computation_case(std::string name, std::string description, std::size_t nodes, bool dependent) {
  return {{std::move(name), std::move(description), {duration_ns_parameter()}},
          true,
          [nodes, dependent](const Parameters& parameters, std::uint64_t) {
            const Attribute on_device = make_bool("is_cpu_op", false);
            const NodeId first = 0;
            std::vector<NodeSpec> specs;
            for (NodeId id = 0; id < nodes; ++id) {
              specs.push_back({.id = id,
                               .name = "COMP_NODE",
                               .type = NodeType::comp,
                               .duration_ns = parameters["duration_ns"],
                               .attributes = {&on_device, 1}});
              if (dependent && id > 0) {
                specs.back().data_deps = {&first, 1};
              }
            }
            return one_trace(specs);
          }};
}

struct Collective {
  const char* name;
  CollectiveType type;
};

constexpr std::array collectives{Collective{"ALL_REDUCE", CollectiveType::all_reduce},
                                 Collective{"REDUCE", CollectiveType::reduce},
                                 Collective{"ALL_GATHER", CollectiveType::all_gather},
                                 Collective{"GATHER", CollectiveType::gather},
                                 Collective{"SCATTER", CollectiveType::scatter},
                                 Collective{"BROADCAST", CollectiveType::broadcast},
                                 Collective{"ALL_TO_ALL", CollectiveType::all_to_all},
                                 Collective{"REDUCE_SCATTER", CollectiveType::reduce_scatter},
                                 Collective{"REDUCE_SCATTER_BLOCK", CollectiveType::reduce_scatter_block},
                                 Collective{"BARRIER", CollectiveType::barrier}};

/// "ALL_REDUCE" as in one_comm_coll_node_allreduce.
std::string joined(std::string_view name) {
  std::string text;
  for (const char letter : name) {
    if (letter != '_') {
      text.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(letter))));
    }
  }
  return text;
}

TestcaseMaker collective_case(const Collective& collective) {
  std::vector<TestcaseParameter> parameters;
  const bool has_size = collective.type != CollectiveType::barrier;
  if (has_size) {
    parameters.push_back({"comm_size", 65536, 0, most_bytes, "bytes that each rank contributes"});
  }
  return {{"one_comm_coll_node_" + joined(collective.name), "one " + std::string(collective.name) + " of all ranks",
           std::move(parameters)},
          true,
          [collective, has_size](const Parameters& given, std::uint64_t) {
            const auto size = static_cast<std::int64_t>(has_size ? given["comm_size"] : 0);
            const std::array attributes{make_bool("is_cpu_op", false),
                                        make_int64("comm_type", static_cast<std::int64_t>(collective.type)),
                                        make_int64("comm_size", size)};
            const NodeSpec node{.name = collective.name, .type = NodeType::comm_coll, .attributes = attributes};
            return one_trace({&node, 1});
          }};
}

/// Every rank sends to the next and receives from the one before, in a circle.
TestcaseMaker ring_of_messages_case() {
  return {{"send_receive",
           "every rank sends messages to the next one and receives as many from the one before it",
           {{"comm_size", 65536, 0, most_bytes, "bytes of a message"},
            {"messages", 1, 1, 1 << 24, "messages of each rank"}}},
          false,
          [](const Parameters& parameters, std::uint64_t rank) {
            const std::uint64_t ranks = parameters["ranks"];
            const std::uint64_t messages = parameters["messages"];
            const Attribute on_device = make_bool("is_cpu_op", false);
            const Attribute size = make_int64("comm_size", static_cast<std::int64_t>(parameters["comm_size"]));
            const Attribute tag = make_int64("comm_tag", 0);
            const auto peer = [](const char* name, std::uint64_t number) {
              return make_int64(name, static_cast<std::int64_t>(number));
            };
            const std::array sent{on_device, size, tag, peer("comm_src", rank), peer("comm_dst", (rank + 1) % ranks)};
            const std::array received{on_device, size, tag, peer("comm_src", (rank + ranks - 1) % ranks),
                                      peer("comm_dst", rank)};
            TraceBuilder builder;
            const std::size_t send = builder.add_pattern({.type = NodeType::comm_send, .attributes = sent});
            const std::size_t receive = builder.add_pattern({.type = NodeType::comm_recv, .attributes = received});
            for (std::uint64_t message = 0; message < messages; ++message) {
              builder.add_node_like(send, 2 * message, "COMM_SEND_NODE");
              builder.add_node_like(receive, 2 * message + 1, "COMM_RECV_NODE");
            }
            return builder.build();
          }};
}

}  // namespace

std::vector<TestcaseMaker> single_node_cases() {
  std::vector<TestcaseMaker> cases;
  cases.push_back(metadata_case());
  cases.push_back(
      sized_case("one_remote_mem_load_node", "a load from remote memory", NodeType::mem_load, "MEM_LOAD_NODE"));
  cases.push_back(
      sized_case("one_remote_mem_store_node", "a store to remote memory", NodeType::mem_store, "MEM_STORE_NODE"));
  cases.push_back(computation_case("one_comp_node", "one computation", 1, false));
  cases.push_back(computation_case("two_comp_nodes_independent", "two computations, no dependency", 2, false));
  cases.push_back(computation_case("two_comp_nodes_dependent", "two computations, one after the other", 2, true));
  std::ranges::transform(collectives, std::back_inserter(cases), &collective_case);
  cases.push_back(sized_case("one_comm_send_node", "a send that names no peer, as Chakra's generator makes it",
                             NodeType::comm_send, "COMM_SEND_NODE"));
  cases.push_back(sized_case("one_comm_recv_node", "a receive that names no peer, as Chakra's generator makes it",
                             NodeType::comm_recv, "COMM_RECV_NODE"));
  cases.push_back(ring_of_messages_case());
  return cases;
}

}  // namespace chakra::generate
