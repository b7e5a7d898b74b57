// SPDX-License-Identifier: MIT
#include <filesystem>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "chakra_core/errors.hpp"
#include "chakra_core/et_file.hpp"
#include "io/codec.hpp"
#include "io/compress.hpp"
#include "message.hpp"
#include "scratch_directory.hpp"
#include "traces.hpp"

namespace chakra {
namespace {

using namespace chakra::test;
using Names = std::set<std::string>;

/// A file with all that a writer must not touch: unknown fields, unusual encodings, an empty record.
std::string unusual_file() {
  const std::string group = key(20, 3) + number_field(1, 1) + key(20, 4);
  return record(bytes_field(1, "0.0.4") + number_field(99, 1)) +
         record(number_field(3, 8) + number_field(1, 5) + bytes_field(11, "abc") + group) + record("") +
         record(key(1, 0) + std::string("\x87\x80\x00", 3) + number_field(5, 5) + number_field(5, 0)) +
         record(number_field(1, 9) + attribute("comm_size", "") + bytes_field(8, number_field(9, 9)));
}

TEST(EtWriter, UnchangedNodesAreByteIdentical) {
  const ScratchDirectory scratch;
  write_file(scratch / "a.et", unusual_file());
  const TracePtr trace = load(scratch / "a.et");
  EXPECT_EQ(trace->size(), 4U);
  save(*trace, scratch / "b.et");
  EXPECT_EQ(read_file(scratch / "b.et"), unusual_file());
}

TEST(EtWriter, AFileMayBeWrittenOverItself) {
  const ScratchDirectory scratch;
  write_file(scratch / "a.et", unusual_file());
  const TracePtr trace = load(scratch / "a.et");
  save(*trace, scratch / "a.et");
  EXPECT_EQ(read_file(scratch / "a.et"), unusual_file());
  EXPECT_EQ(trace->record(1), "");
}

/// Large enough that pieces of it are copied by the system, with a length here and there in more bytes than it needs.
std::string large_file() {
  std::string bytes = record(bytes_field(1, "0.0.4"));
  for (std::uint64_t id = 0; id < 4000; ++id) {
    const std::string message = number_field(1, id) + bytes_field(2, std::string(id % 97, 'n'));
    if (id % 1024 == 1000) {
      bytes += static_cast<char>(message.size() | 0x80);
      bytes += '\0';
      bytes += message;
    } else {
      bytes += record(message);
    }
  }
  return bytes;
}

/// The same with every length as short as it can be.
std::string in_fewest_bytes() {
  std::string bytes = record(bytes_field(1, "0.0.4"));
  for (std::uint64_t id = 0; id < 4000; ++id) {
    bytes += record(number_field(1, id) + bytes_field(2, std::string(id % 97, 'n')));
  }
  return bytes;
}

TEST(EtWriter, LargePiecesAreCopiedAsTheyAre) {
  const ScratchDirectory scratch;
  write_file(scratch / "a.et", large_file());
  const TracePtr trace = load(scratch / "a.et");
  save(*trace, scratch / "b.et");
  EXPECT_TRUE(read_file(scratch / "b.et") == in_fewest_bytes());
  save(*trace, scratch / "a.et");
  EXPECT_TRUE(read_file(scratch / "a.et") == in_fewest_bytes());
}

TEST(EtWriter, WhatWasReadIsWrittenAlsoWhenTheFileIsGoneOrAnother) {
  const ScratchDirectory scratch;
  write_file(scratch / "a.et", large_file());
  const TracePtr trace = load(scratch / "a.et");
  std::filesystem::rename(scratch / "a.et", scratch / "moved.et");
  save(*trace, scratch / "b.et");
  EXPECT_TRUE(read_file(scratch / "b.et") == in_fewest_bytes());
  write_file(scratch / "a.et", std::string(large_file().size(), 'x'));
  save(*trace, scratch / "c.et");
  EXPECT_TRUE(read_file(scratch / "c.et") == in_fewest_bytes());
}

TEST(EtWriter, NameOrOptionChoosesTheCompression) {
  const ScratchDirectory scratch;
  const TracePtr trace = make_trace({{1}, {2, {1}}});
  save(*trace, scratch / "plain");
  save(*trace, scratch / "named.et.gz");
  save(*trace, scratch / "asked", {.compression = Compression::gzip, .level = 9});
  save(*trace, scratch / "not.gz", {.compression = Compression::none});
  const std::string plain = read_file(scratch / "plain");
  EXPECT_EQ(read_file(scratch / "not.gz"), plain);
  for (const char* name : {"named.et.gz", "asked"}) {
    const std::string bytes = read_file(scratch / name);
    EXPECT_TRUE(io::detect_compression(bytes) == Compression::gzip) << name;
    EXPECT_EQ(inflate(bytes).bytes, plain) << name;
  }
}

TEST(EtWriter, OptionsThatMakeNoSenseAreRefused) {
  const ScratchDirectory scratch;
  const TracePtr trace = make_trace({{1}});
  EXPECT_THROW(save(*trace, scratch / "a.gz", {.level = 0}), ChakraError);
  EXPECT_THROW(save(*trace, scratch / "a.gz", {.level = 10}), ChakraError);
  EXPECT_THROW(save(*trace, scratch / "a.zst", {.level = 0}), ChakraError);
  EXPECT_THROW(save(*trace, scratch / "a.et", {.schema_version = "0.0.3"}), ChakraError);
  EXPECT_THROW(save(*trace, scratch / "a.et", {.schema_version = "\xff"}), ChakraError);
  save(*trace, scratch / "a.et", {.level = 99});  // without meaning for a plain file
  EXPECT_EQ(scratch.names(), Names{"a.et"});
}

TEST(EtWriter, ZstdByNameAndByOption) {
  const ScratchDirectory scratch;
  const TracePtr trace = make_trace({{1}, {2, {1}}});
  if (!has_zstd()) {
    EXPECT_THROW(save(*trace, scratch / "a.et.zst"), ChakraError);
    GTEST_SKIP() << "built without zstd";
  }
  save(*trace, scratch / "plain");
  save(*trace, scratch / "named.et.zst");
  save(*trace, scratch / "asked", {.compression = Compression::zstd, .level = 19});
  for (const char* name : {"named.et.zst", "asked"}) {
    const std::string bytes = read_file(scratch / name);
    EXPECT_EQ(io::detect_compression(bytes), Compression::zstd) << name;
    EXPECT_EQ(inflate(bytes).bytes, read_file(scratch / "plain")) << name;
    EXPECT_EQ(load(scratch / name)->size(), 2U);
  }
}

TEST(EtWriter, AnotherSchemaVersionChangesNothingElse) {
  const ScratchDirectory scratch;
  write_file(scratch / "a.et", unusual_file());
  save(*load(scratch / "a.et"), scratch / "b.et", {.schema_version = "1.0.0"});
  const TracePtr trace = load(scratch / "b.et");
  EXPECT_EQ(trace->metadata().version, "1.0.0");
  EXPECT_EQ(trace->metadata_record(), bytes_field(1, "1.0.0") + number_field(99, 1));
  const std::string old = unusual_file();
  const std::string tail = old.substr(record(bytes_field(1, "0.0.4") + number_field(99, 1)).size());
  EXPECT_TRUE(read_file(scratch / "b.et").ends_with(tail));
}

TEST(EtWriter, BuiltTracesAreReadBack) {
  const ScratchDirectory scratch;
  TraceBuilder builder;
  builder.set_metadata({"0.0.4", {make_int64("ranks", 2)}});
  const std::vector<Attribute> attributes = {make_int64("comm_size", 8), make_double("x", 0.5)};
  const std::vector<NodeId> parents = {2, 1};
  const IoInfo outputs{"[1]", "[[2]]", "[T]"};
  builder.add_node(
      {.id = 1, .name = "a", .type = NodeType::comp, .data_deps = parents, .start_ns = 1, .outputs = &outputs});
  builder.add_node({.id = 2, .type = NodeType::comm_coll, .attributes = attributes});
  const TracePtr built = builder.build();
  save(*built, scratch / "a.et");
  const TracePtr read = load(scratch / "a.et");
  EXPECT_EQ(read->metadata(), built->metadata());
  for (NodeIndex row = 0; row < 2; ++row) {
    EXPECT_EQ(read->record(row), built->record(row));
    EXPECT_EQ(read->name(row), built->name(row));
    EXPECT_EQ(read->start_ns()[row], built->start_ns()[row]);
    EXPECT_EQ(read->attributes(row), built->attributes(row));
    EXPECT_EQ(read->outputs(row), built->outputs(row));
  }
  EXPECT_EQ(read->data_deps()[0][0], 1U);
  EXPECT_EQ(read->data_deps()[0][1], 0U);
}

TEST(EtWriter, ACancelledSaveLeavesNothing) {
  const ScratchDirectory scratch;
  write_file(scratch / "a.et", "before");
  TraceBuilder builder;
  const std::string name(1000, 'n');
  for (NodeId id = 0; id < 5000; ++id) {
    builder.add_node({.id = id, .name = name});
  }
  const TracePtr trace = builder.build();
  Progress progress;
  progress.cancel = true;
  EXPECT_THROW(save(*trace, scratch / "a.et", {.progress = &progress}), Cancelled);
  EXPECT_EQ(read_file(scratch / "a.et"), "before");
  EXPECT_EQ(scratch.names(), Names{"a.et"});
  progress.cancel = false;
  save(*trace, scratch / "a.et", {.progress = &progress});
  EXPECT_EQ(progress.done, 5000U);
  EXPECT_EQ(progress.total, 5000U);
}

TEST(EtWriter, AFullDeviceIsAnError) {
  if (!std::filesystem::exists("/dev/full")) {
    GTEST_SKIP() << "no /dev/full here";
  }
  try {
    save(*make_trace({{1}}), "/dev/full");
    FAIL() << "no error";
  } catch (const IoError& error) {
    EXPECT_EQ(error.error_number(), ENOSPC);
  }
}

}  // namespace
}  // namespace chakra
