// SPDX-License-Identifier: MIT
#include <filesystem>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "chakra_core/errors.hpp"
#include "io/codec.hpp"
#include "io/compress.hpp"
#include "io/output_file.hpp"
#include "scratch_directory.hpp"

namespace chakra::io {
namespace {

namespace fs = std::filesystem;
using namespace chakra::test;
using Names = std::set<std::string>;

int error_of(const fs::path& path) {
  try {
    OutputFile file(path);
    file.write("x");
    file.commit();
  } catch (const IoError& error) {
    EXPECT_EQ(error.path(), path.string());
    return error.error_number();
  }
  return 0;
}

TEST(OutputFile, AppearsOnlyWhenCommitted) {
  const ScratchDirectory scratch;
  {
    OutputFile file(scratch / "a");
    file.write("one ");
    file.write("two");
    EXPECT_FALSE(fs::exists(scratch / "a"));
    file.commit();
    EXPECT_EQ(read_file(scratch / "a"), "one two");
  }
  EXPECT_EQ(scratch.names(), Names{"a"});
}

TEST(OutputFile, WithoutCommitTheTargetIsUntouchedAndNothingIsLeft) {
  const ScratchDirectory scratch;
  write_file(scratch / "a", "before");
  { OutputFile(scratch / "a", {Compression::gzip, 6}).write("after"); }
  EXPECT_EQ(read_file(scratch / "a"), "before");
  EXPECT_EQ(scratch.names(), Names{"a"});
}

TEST(OutputFile, TwoWritersOfOneNameDoNotMix) {
  const ScratchDirectory scratch;
  OutputFile first(scratch / "a");
  OutputFile second(scratch / "a");
  first.write("first");
  second.write("second");
  second.commit();
  first.commit();
  EXPECT_EQ(read_file(scratch / "a"), "first");
  EXPECT_EQ(scratch.names(), Names{"a"});
}

TEST(OutputFile, ErrorsCarryTheirNumber) {
  const ScratchDirectory scratch;
  fs::create_directory(scratch / "directory");
  write_file(scratch / "file", "");
  EXPECT_EQ(error_of(scratch / "directory"), EISDIR);
  EXPECT_EQ(error_of(scratch / "absent/a"), ENOENT);
  EXPECT_EQ(error_of(scratch / "file/a"), ENOTDIR);
  EXPECT_EQ(scratch.names(), (Names{"directory", "file"}));
}

TEST(OutputFile, ADeviceIsWrittenNotReplaced) {
  EXPECT_EQ(error_of("/dev/null"), 0);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  if (fs::exists("/dev/full")) {
    EXPECT_EQ(error_of("/dev/full"), ENOSPC);
  }
}

TEST(OutputFile, ALinkStaysALink) {
  const ScratchDirectory scratch;
  write_file(scratch / "file", "before");
  fs::create_symlink("file", scratch / "link");
  OutputFile file(scratch / "link");
  file.write("after");
  file.commit();
  EXPECT_TRUE(fs::is_symlink(scratch / "link"));
  EXPECT_EQ(read_file(scratch / "file"), "after");
}

TEST(OutputFile, PermissionsAreThoseOfANewFile) {
  const ScratchDirectory scratch;
  const mode_t before = ::umask(027);
  EXPECT_EQ(error_of(scratch / "a"), 0);
  ::umask(before);
  EXPECT_EQ(static_cast<int>(fs::status(scratch / "a").permissions()), 0640);
}

TEST(OutputFile, CompressedBytesAreReproducibleAndWhole) {
  const ScratchDirectory scratch;
  std::string text;
  for (int i = 0; i < 100'000; ++i) {
    text += std::to_string(i * 7919);
  }
  for (const char* name : {"a.gz", "b.gz"}) {
    OutputFile file(scratch / name, {Compression::gzip, 1});
    file.write("");
    file.write(text);
    file.write("end");
    file.commit();
  }
  const std::string written = read_file(scratch / "a.gz");
  EXPECT_EQ(written, read_file(scratch / "b.gz"));
  const test::Inflated result = test::inflate(written);
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.bytes, text + "end");
}

}  // namespace
}  // namespace chakra::io
