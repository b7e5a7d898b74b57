// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <limits>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "chakra_core/errors.hpp"
#include "chakra_core/et_file.hpp"
#include "io/compress.hpp"
#include "message.hpp"
#include "scratch_directory.hpp"
#include "trace/trace_storage.hpp"

namespace chakra {
namespace {

using namespace chakra::test;

constexpr auto strict = OnError::strict;
constexpr auto recover = OnError::recover;

TracePtr read(const std::string& bytes, OnError on_error = strict) {
  return load_bytes(std::as_bytes(std::span(bytes)), "<test>", {.on_error = on_error});
}

/// Where a strict load fails.
FormatLocation failure(const std::string& bytes) {
  try {
    (void)read(bytes);
  } catch (const FormatError& error) {
    EXPECT_EQ(error.location().path, "<test>");
    return error.location();
  }
  ADD_FAILURE() << "no error";
  return {};
}

std::string node(NodeId id, const std::string& rest = {}) { return record(number_field(1, id) + rest); }

const std::string metadata = record(bytes_field(1, "0.0.4"));

TEST(EtReader, MetadataAloneIsAnEmptyTrace) {
  const TracePtr trace = read(metadata);
  EXPECT_EQ(trace->size(), 0U);
  EXPECT_EQ(trace->metadata().version, "0.0.4");
  EXPECT_EQ(trace->source(), "<test>");
  EXPECT_EQ(read(record(""))->metadata(), Metadata{});
}

TEST(EtReader, RowsAreInFileOrderWithTheirOffsets) {
  const TracePtr trace = read(metadata + node(7) + record("") + node(3));
  EXPECT_EQ(std::vector<NodeId>(trace->ids().begin(), trace->ids().end()), (std::vector<NodeId>{7, 0, 3}));
  EXPECT_EQ(trace->record_offset(0), metadata.size() + 1);
  EXPECT_EQ(trace->record_offset(1), metadata.size() + 4);
  EXPECT_EQ(trace->record_offset(2), metadata.size() + 5);
}

/// Small nodes first and large ones later, or the other way round: the reader's guess how many there will be is wrong.
TEST(EtReader, TheNumberOfThreadsDoesNotShow) {
  for (const bool small_first : {true, false}) {
    std::string file = metadata;
    constexpr NodeId nodes = 60'000;
    for (NodeId id = 0; id < nodes; ++id) {
      const bool is_small = (id < nodes / 2) == small_first;
      const std::string name = "op " + std::to_string(id % 3000 + (id > nodes / 2 ? 1000 : 0));
      file += node(id, bytes_field(2, is_small ? name : name + std::string(200, 'x')) +
                           (id > 0 ? number_field(5, id * 7 % id) : ""));
    }
    const auto load_on = [&](unsigned threads) {
      return load_bytes(std::as_bytes(std::span(file)), "<test>", {.threads = threads});
    };
    const TracePtr expected = load_on(1);
    ASSERT_EQ(expected->size(), nodes);
    for (const unsigned threads : {2U, 5U}) {
      const TracePtr trace = load_on(threads);
      ASSERT_EQ(trace->size(), nodes);
      ASSERT_EQ(trace->string_count(), expected->string_count());
      for (std::uint32_t id = 0; id < trace->string_count(); ++id) {
        ASSERT_EQ(trace->string(id), expected->string(id)) << "in the order of first appearance";
      }
      for (NodeIndex row = 0; row < nodes; ++row) {
        ASSERT_EQ(trace->ids()[row], expected->ids()[row]);
        ASSERT_EQ(trace->name_ids()[row], expected->name_ids()[row]);
        ASSERT_EQ(trace->record(row), expected->record(row));
      }
      EXPECT_TRUE(std::ranges::equal(trace->data_deps().indices, expected->data_deps().indices));
    }
  }
}

TEST(EtReader, EmptyInputIsNoTrace) {
  EXPECT_EQ(failure("").offset, 0U);
  EXPECT_EQ(failure(compress("")).offset, 0U);
  EXPECT_EQ(read("", recover)->load_report().count(ProblemKind::truncated_file), 1U);
}

TEST(EtReader, CutAnywhereIsAnErrorOrEndsBetweenRecords) {
  const std::string file = metadata + node(1, bytes_field(2, "first")) + node(300, number_field(5, 1)) + node(2);
  std::vector<std::size_t> ends = {metadata.size()};
  ends.push_back(ends.back() + node(1, bytes_field(2, "first")).size());
  ends.push_back(ends.back() + node(300, number_field(5, 1)).size());
  for (std::size_t size = 1; size < file.size(); ++size) {
    const auto whole = static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), size) - ends.begin());
    if (whole > 0 && ends[whole - 1] == size) {
      EXPECT_EQ(read(file.substr(0, size))->size(), whole - 1);
      continue;
    }
    const FormatLocation where = failure(file.substr(0, size));
    EXPECT_EQ(where.record, whole) << size;
    EXPECT_EQ(where.offset, whole == 0 ? 0 : ends[whole - 1]) << size;
    const TracePtr kept = read(file.substr(0, size), recover);
    EXPECT_EQ(kept->size(), whole == 0 ? 0 : whole - 1) << size;
    EXPECT_EQ(kept->load_report().count(ProblemKind::truncated_file), 1U) << size;
  }
}

TEST(EtReader, StrictNamesRecordAndOffsetOfAMalformedNode) {
  const std::string before = metadata + node(1);
  const FormatLocation where = failure(before + record(number_field(1, 2) + "\x08") + node(3));
  EXPECT_EQ(where.record, 2U);
  EXPECT_EQ(where.offset, before.size() + 1 + 2 + 1);
}

TEST(EtReader, MalformedMetadataIsAnErrorOrReported) {
  const std::string bad = record(bytes_field(1, "\xff"));
  EXPECT_EQ(failure(bad + node(1)).record, 0U);
  const TracePtr kept = read(bad + node(1), recover);
  EXPECT_EQ(kept->size(), 1U);
  EXPECT_EQ(kept->load_report().count(ProblemKind::malformed_record), 1U);
}

TEST(EtReader, RecoveryGoesOnBehindAMalformedRecord) {
  const TracePtr trace = read(metadata + node(1) + record("\x08") + node(2, number_field(5, 1)), recover);
  EXPECT_EQ(trace->size(), 2U);
  EXPECT_EQ(trace->load_report().errors(), 1U);
  EXPECT_EQ(trace->data_deps()[1][0], 0U);
}

TEST(EtReader, HugeLengthsAllocateNothing) {
  for (const std::uint64_t size :
       {std::uint64_t{1} << 31, std::uint64_t{1} << 62, std::numeric_limits<std::uint64_t>::max()}) {
    EXPECT_EQ(failure(metadata + varint(size) + "abc").record, 1U);
    EXPECT_EQ(failure(metadata + record(key(2, 2) + varint(size))).record, 1U);
    EXPECT_EQ(failure(metadata + record(key(5, 2) + varint(size))).record, 1U);
  }
}

TEST(EtReader, DuplicateIdNamesBothRecordsAndRecoveryKeepsTheFirst) {
  const std::string file = metadata + node(3, bytes_field(2, "first")) + node(4, number_field(5, 3)) +
                           node(3, bytes_field(2, "second") + attribute("tid", number_field(9, 1))) +
                           node(5, number_field(5, 3) + attribute("tid", number_field(9, 2)));
  EXPECT_EQ(failure(file).record, 3U);
  const TracePtr trace = read(file, recover);
  EXPECT_EQ(trace->size(), 3U);
  EXPECT_EQ(trace->name(0), "first");
  EXPECT_EQ(trace->data_deps()[2][0], 0U);
  EXPECT_EQ(trace->column(IntegerAttribute::tid).get(0), std::nullopt);
  EXPECT_EQ(trace->column(IntegerAttribute::tid).get(2), 2);
  EXPECT_EQ(trace->find(5), 2U);
  EXPECT_EQ(trace->record_offset(2),
            file.size() - node(5, number_field(5, 3) + attribute("tid", number_field(9, 2))).size() + 1);
}

TEST(EtReader, AMillionDuplicatesAreDroppedInOnePass) {
  std::string file = metadata;
  for (int i = 0; i < 1'000'000; ++i) {
    file += node(1);
  }
  const TracePtr trace = read(file, recover);
  EXPECT_EQ(trace->size(), 1U);
  EXPECT_EQ(trace->load_report().count(ProblemKind::duplicate_id), 999'999U);
}

TEST(EtReader, MissingParentsAreDroppedFromColumnsAndRecord) {
  const std::string file =
      metadata + node(1) + node(2, number_field(5, 99) + number_field(5, 1) + bytes_field(2, "n") + number_field(4, 0));
  EXPECT_THROW((void)read(file), DependencyError);
  const TracePtr trace = read(file, recover);
  EXPECT_EQ(trace->data_deps()[1].size(), 1U);
  EXPECT_EQ(trace->ctrl_deps()[1].size(), 0U);
  EXPECT_EQ(trace->load_report().count(ProblemKind::missing_parent), 2U);
  EXPECT_EQ(trace->record(1), number_field(1, 2) + bytes_field(2, "n") + bytes_field(5, varint(1)));
}

TEST(EtReader, WhatRecoveryKeepsIsReadStrictlyAgain) {
  const std::string file = metadata +
                           node(1, bytes_field(2,
                                               "a\xff"
                                               "b") +
                                       attribute("comm_size", bytes_field(29, "8"))) +
                           node(2, number_field(6, std::numeric_limits<std::uint64_t>::max()) + number_field(5, 99)) +
                           record("\x08") + node(1) + node(3, attribute("tid", number_field(9, 4))) + "\x7f";
  const TracePtr kept = read(file, recover);
  EXPECT_EQ(kept->size(), 3U);
  EXPECT_EQ(kept->name(0),
            "a\xef\xbf\xbd"
            "b");
  std::string again = record(kept->metadata_record());
  for (NodeIndex row = 0; row < kept->size(); ++row) {
    again += record(kept->record(row));
  }
  const TracePtr second = read(again);
  ASSERT_EQ(second->size(), 3U);
  for (NodeIndex row = 0; row < 3; ++row) {
    EXPECT_EQ(second->record(row), kept->record(row));
    EXPECT_EQ(second->ids()[row], kept->ids()[row]);
    EXPECT_EQ(second->name(row), kept->name(row));
    EXPECT_EQ(second->column(IntegerAttribute::tid).get(row), kept->column(IntegerAttribute::tid).get(row));
    EXPECT_EQ(second->column(IntegerAttribute::comm_size).get(row), std::nullopt);
  }
}

TEST(EtReader, TextThatIsNoTraceSaysWhatItIs) {
  const auto message = [](const std::string& bytes) {
    try {
      (void)read(bytes);
    } catch (const FormatError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message("{\"schema\": \"1.1.1\", \"nodes\": []}").find("host traces"), std::string::npos);
  EXPECT_NE(message("{\"traceEvents\": []}").find("device traces"), std::string::npos);
  EXPECT_NE(message("{" + std::string(500, ' ') + "}").find("workload_graph"), std::string::npos);
  EXPECT_NE(message("\x28\xb5\x2f\xfd\x04\x00").find("zstd"), std::string::npos);
}

TEST(EtReader, OldSchemasAreRecognised) {
  const std::string attribute_003 =
      bytes_field(11, bytes_field(1, "is_cpu_op") + number_field(2, 0) + number_field(4, 1));
  const std::string node_001 = number_field(1, 7) + bytes_field(2, "n") + number_field(3, 3) + number_field(12, 5);
  const std::string node_003 = number_field(1, 7) + bytes_field(2, "n") + number_field(3, 4) + attribute_003;
  const std::string metadata_003 = bytes_field(1, bytes_field(1, "schema") + number_field(2, 4) + bytes_field(8, "x"));
  const std::pair<std::string, const char*> cases[] = {
      {record(node_001), "schema 0.0.1"},
      {record(node_003), "0.0.2 or 0.0.3"},
      {record(metadata_003) + record(node_003), "0.0.2 or 0.0.3"},
      {record("") + record(node_003), "0.0.2 or 0.0.3"},
      {record(number_field(1, 7)), "GlobalMetadata belongs"},
  };
  for (const auto& [file, what] : cases) {
    for (const std::string& form : {file, compress(file)}) {
      try {
        (void)read(form);
        FAIL() << what;
      } catch (const FormatError& error) {
        EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
      }
      const TracePtr nothing = read(form, recover);
      EXPECT_EQ(nothing->size(), 0U);
      EXPECT_FALSE(nothing->load_report().ok());
    }
  }
}

TEST(EtReader, BytesWithAnOwnerAreUsedInPlace) {
  const auto owner = std::make_shared<std::string>(metadata + node(1) + node(2, number_field(5, 1)));
  const std::weak_ptr<std::string> watched = owner;
  const auto bytes = std::as_bytes(std::span<const char>(*owner));
  TracePtr trace = load_bytes(bytes, "<owned>", {}, owner);
  EXPECT_EQ(trace->storage().record_begin[0], owner->data() + metadata.size() + 1);
  EXPECT_EQ(watched.use_count(), 2);
  trace.reset();
  EXPECT_EQ(watched.use_count(), 1);
}

TEST(EtReader, CompressedFilesAreToldByTheirBytes) {
  const ScratchDirectory scratch;
  const std::string file = metadata + node(1) + node(2, number_field(5, 1));
  write_file(scratch / "plain.gz", file);
  write_file(scratch / "compressed.et", compress(file.substr(0, 5)) + compress(file.substr(5)));
  EXPECT_EQ(load(scratch / "plain.gz")->size(), 2U);
  const TracePtr trace = load(scratch / "compressed.et");
  EXPECT_EQ(trace->size(), 2U);
  EXPECT_EQ(trace->record_offset(0), metadata.size() + 1);
}

TEST(EtReader, CutCompressedFileKeepsItsWholeRecords) {
  std::string file = metadata;
  for (NodeId id = 0; id < 2000; ++id) {
    file += node(id * 2'654'435'761);
  }
  const std::string whole = compress(file);
  const std::string cut = whole.substr(0, whole.size() / 2);
  EXPECT_EQ(failure(cut).record, std::nullopt);
  const TracePtr kept = read(cut, recover);
  EXPECT_GT(kept->size(), 0U);
  EXPECT_LT(kept->size(), 2000U);
  EXPECT_GE(kept->load_report().count(ProblemKind::truncated_file), 1U);
  EXPECT_EQ(read(whole + "junk", recover)->size(), 2000U);
  EXPECT_THROW((void)read(whole + "junk"), FormatError);
}

int open_error(const std::filesystem::path& path) {
  try {
    (void)load(path);
  } catch (const IoError& error) {
    EXPECT_EQ(error.path(), path.string());
    return error.error_number();
  }
  return 0;
}

TEST(EtReader, FilesThatCannotBeReadAreIoErrors) {
  const ScratchDirectory scratch;
  write_file(scratch / "file", "");
  EXPECT_EQ(open_error(scratch / "absent"), ENOENT);
  EXPECT_EQ(open_error(scratch / ""), EISDIR);
  EXPECT_EQ(open_error(scratch / "file/a"), ENOTDIR);
  EXPECT_THROW((void)load(scratch / "file"), FormatError);
}

TEST(EtReader, APipeIsReadWhole) {
  const ScratchDirectory scratch;
  const auto path = scratch / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::string file = metadata;
  for (NodeId id = 0; id < 50'000; ++id) {
    file += node(id);
  }
  std::thread writer([&] { write_file(path, file); });
  const TracePtr trace = load(path);
  writer.join();
  EXPECT_EQ(trace->size(), 50'000U);
}

TEST(EtReader, ProgressEndsAtTheTotalAndCancels) {
  std::string file = metadata;
  for (NodeId id = 0; id < 10'000; ++id) {
    file += node(id);
  }
  Progress progress;
  (void)load_bytes(std::as_bytes(std::span(file)), "", {.progress = &progress});
  EXPECT_EQ(progress.done, file.size());
  EXPECT_EQ(progress.total, file.size());
  progress.cancel = true;
  EXPECT_THROW((void)load_bytes(std::as_bytes(std::span(file)), "", {.progress = &progress}), Cancelled);
}

}  // namespace
}  // namespace chakra
