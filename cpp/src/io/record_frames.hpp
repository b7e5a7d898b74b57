// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace chakra::io {

/// Records in a block: one thread's piece of work. A multiple of 64, so that presence bits of blocks join word by word.
inline constexpr std::size_t block_records = std::size_t{1} << 14;

/// Consecutive records of an ET.
struct FrameBlock {
  std::size_t begin;           ///< offset of the first record's length
  std::size_t size;            ///< bytes of all records with their lengths
  std::size_t count;           ///< number of records
  std::uint64_t first_record;  ///< number of the first record in the file
};

struct RecordFrames {
  std::vector<FrameBlock> blocks;
  std::size_t count = 0;  ///< whole records found
  std::size_t end = 0;    ///< offset after the last whole record
  std::string problem;    ///< what is wrong at `end`; empty if the bytes end there
};

/// Who hops from record to record waits each time for the length that the hop has just reached. Asking for the lines
/// ahead hides that: they are needed anyway where all bytes between are decoded next. Asks for those from `from` up to
/// a fixed distance after `at`; returns where the next call goes on.
std::size_t prefetch_ahead(std::string_view bytes, std::size_t from, std::size_t at);

/// Hops from record to record from `offset` on, where record number `first_record` begins.
RecordFrames find_records(std::string_view bytes, std::size_t offset, std::uint64_t first_record);

}  // namespace chakra::io
