// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace chakra::io {

/// Most records in a block: one thread's piece of work.
inline constexpr std::size_t block_records = std::size_t{1} << 14;

/// Consecutive records of an ET.
struct FrameBlock {
  std::size_t begin;           ///< offset of the first record's length
  std::size_t size;            ///< bytes of all records with their lengths
  std::size_t count;           ///< number of records
  std::uint64_t first_record;  ///< number of the first record in the file
};

/// Each hop from record to record would wait for the length where it lands: the processor sees no pattern. Asks for the
/// bytes from `from` up to a fixed distance after `at`, for who needs all of them next; returns where to go on.
std::size_t prefetch_ahead(std::string_view bytes, std::size_t from, std::size_t at) noexcept;

/// Hops from record to record.
class RecordFrames {
 public:
  /// Record number `first_record` begins at `offset`.
  RecordFrames(std::string_view bytes, std::size_t offset, std::uint64_t first_record) noexcept
      : bytes_(bytes), end_(offset), record_(first_record) {}

  /// The next records, as many as a block may have or what there is; none at the end of the bytes or before what is no
  /// record. Their bytes are in the cache then, or on their way.
  FrameBlock next();

  std::size_t end() const noexcept { return end_; }                 ///< offset after the last record found
  std::uint64_t record() const noexcept { return record_; }         ///< number of the record that would come next
  const std::string& problem() const noexcept { return problem_; }  ///< what is wrong at end(), or empty

 private:
  std::string_view bytes_;
  std::size_t end_;
  std::uint64_t record_;
  std::string problem_;
  std::size_t prefetched_ = 0;
};

}  // namespace chakra::io
