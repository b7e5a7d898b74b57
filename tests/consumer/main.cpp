// SPDX-License-Identifier: MIT
// Builds a trace, writes it, reads it, feeds it: touches enough of the library to miss any symbol that is not there.
#include <cstdio>
#include <filesystem>
#include <vector>

#include <chakra_core/errors.hpp>
#include <chakra_core/et_file.hpp>
#include <chakra_core/feeder.hpp>
#include <chakra_core/trace_builder.hpp>

namespace {

chakra::TracePtr make_chain() {
  chakra::TraceBuilder builder;
  for (chakra::NodeId id = 0; id < 10; ++id) {
    const std::vector<chakra::NodeId> parents(id == 0 ? 0 : 1, id - 1);
    const std::vector<chakra::Attribute> attributes = {chakra::make_int64("num_ops", static_cast<std::int64_t>(id))};
    builder.add_node(
        {.id = id, .name = "op", .type = chakra::NodeType::comp, .data_deps = parents, .attributes = attributes});
  }
  return builder.build();
}

std::int64_t feed(chakra::TracePtr trace) {
  std::int64_t sum = 0;
  chakra::Feeder feeder(trace);
  while (const auto row = feeder.pop()) {
    sum += trace->column(chakra::IntegerAttribute::num_ops).value_or(*row, 0);
    feeder.complete(*row);
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: consumer <file to write>\n", stderr);
    return 2;
  }
  const std::filesystem::path path = argv[1];
  chakra::save(*make_chain(), path);
  const auto trace = chakra::load(path);
  bool refused = false;
  try {
    (void)chakra::load(path.string() + ".absent");
  } catch (const chakra::IoError&) {
    refused = true;
  }
  std::printf("nodes %zu, sum %lld, problems %llu\n", trace->size(), static_cast<long long>(feed(trace)),
              static_cast<unsigned long long>(chakra::validate(*trace).errors()));
  return refused ? 0 : 1;
}
