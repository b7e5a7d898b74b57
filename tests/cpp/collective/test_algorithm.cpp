// SPDX-License-Identifier: MIT
#include <string>

#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "chakra_core/system_config.hpp"

namespace chakra {
namespace {

TEST(Algorithm, NamesRoundTrip) {
  for (const std::string name : {"ring", "direct", "direct1", "direct17", "halvingDoubling", "doubleBinaryTree",
                                 "oneRing", "oneDirect", "oneDirect3", "oneHalvingDoubling"}) {
    EXPECT_EQ(to_string(parse_algorithm(name)), name);
  }
}

TEST(Algorithm, WindowIsTheNumberBehindDirect) {
  EXPECT_EQ(parse_algorithm("direct"), (Algorithm{AlgorithmKind::direct, 0, false}));
  EXPECT_EQ(parse_algorithm("oneDirect12"), (Algorithm{AlgorithmKind::direct, 12, true}));
}

TEST(Algorithm, UnknownNamesAreRejectedWithTheKnownOnes) {
  for (const std::string name : {"", "tree", "Ring", "ring2", "direct0", "direct-1", "direct99999999999", "one",
                                 "onering", "oneDoubleBinaryTree", "direct 2"}) {
    try {
      parse_algorithm(name);
      ADD_FAILURE() << name;
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find("halvingDoubling"), std::string::npos);
    }
  }
}

TEST(SystemConfig, ValuesOutOfRangeAreRejectedByKey) {
  const auto key = [](auto change) {
    SystemConfig system;
    change(system);
    try {
      system.validate();
    } catch (const ConfigError& error) {
      return std::string(error.what()).substr(0, std::string(error.what()).find(' '));
    }
    return std::string();
  };
  EXPECT_EQ(key([](SystemConfig&) {}), "");
  EXPECT_EQ(key([](SystemConfig& s) { s.endpoint_delay_ns = -1; }), "endpoint-delay");
  EXPECT_EQ(key([](SystemConfig& s) { s.endpoint_delay_ns = 1e300; }), "endpoint-delay");
  EXPECT_EQ(key([](SystemConfig& s) { s.active_chunks_per_dimension = 0; }), "active-chunks-per-dimension");
  EXPECT_EQ(key([](SystemConfig& s) { s.preferred_dataset_splits = 0; }), "preferred-dataset-splits");
  EXPECT_EQ(key([](SystemConfig& s) { s.preferred_dataset_splits = ~0U; }), "preferred-dataset-splits");
  EXPECT_EQ(key([](SystemConfig& s) { s.all_to_all.clear(); }), "all-to-all-implementation");
  EXPECT_EQ(key([](SystemConfig& s) { s.local_mem_bw = -3; }), "local-mem-bw");
  EXPECT_EQ(key([](SystemConfig& s) { s.roofline_enabled = true; }), "roofline-enabled");
}

TEST(MemoryConfig, NodesMustHoldAllNpus) {
  MemoryConfig memory{MemoryType::per_node, 0, 1, 2, 4};
  EXPECT_NO_THROW(memory.validate(8));
  EXPECT_THROW(memory.validate(9), ConfigError);
  memory.num_npus_per_node = 0;
  EXPECT_THROW(memory.validate(1), ConfigError);
  EXPECT_THROW(parse_memory_type("DISK"), ConfigError);
  EXPECT_THROW(parse_collective_optimization("fast"), ConfigError);
}

}  // namespace
}  // namespace chakra
