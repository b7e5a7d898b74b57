// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "chakra_core/trace.hpp"
#include "io/streamed_records.hpp"
#include "trace/trace_storage.hpp"

namespace chakra::io {

/// The Node messages of an ET of records, plain, gzip or zstd, one after another and in little memory. Strict.
class NodeMessages {
 public:
  struct Message {
    std::string_view bytes;
    std::uint64_t record;  ///< number in the file
    std::uint64_t begin;   ///< offset in the uncompressed file
  };

  /// Reads the metadata. Throws FormatError, also for JSON and for older schemas.
  NodeMessages(std::shared_ptr<const detail::RecordSource> source, std::string name);

  /// The next one; nothing at the end. Throws FormatError.
  std::optional<Message> next();
  /// Whether bytes of a message stay where they are as long as the source; otherwise they are gone after let_go().
  bool stay() const noexcept { return !streamed_; }
  /// Lets go of all messages so far.
  void let_go();

  const std::shared_ptr<const detail::RecordSource>& source() const noexcept { return source_; }
  const std::string& name() const noexcept { return name_; }
  const Metadata& metadata() const noexcept { return metadata_; }

 private:
  std::optional<Message> next_record();
  void read_metadata();
  void check_schema(const Message& message) const;

  std::shared_ptr<const detail::RecordSource> source_;
  std::string name_;
  std::optional<StreamedRecords> streamed_;  ///< absent for a plain file
  std::size_t offset_ = 0;                   ///< in a plain file
  std::size_t prefetched_ = 0;
  std::uint64_t record_ = 0;  ///< number of the next one
  Metadata metadata_;
};

}  // namespace chakra::io
