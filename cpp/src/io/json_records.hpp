// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chakra_core/errors.hpp"
#include "chakra_core/progress.hpp"
#include "io/byte_stream.hpp"
#include "io/json_scanner.hpp"

namespace chakra::io {

/// The file is another kind of trace than the one asked for. Nothing can be recovered from it.
class WrongTraceKind : public FormatError {
 public:
  using FormatError::FormatError;
};

/// What a JSON trace is made of: one object whose member `list` holds the records, or that list alone.
struct RecordFormat {
  std::string list;                       ///< "traceEvents", "nodes"
  std::string record;                     ///< for messages: "event", "node"
  std::string first_key;                  ///< name that records usually start with
  std::string ambiguous_key;              ///< a first name that objects inside a record start with, too
  std::vector<std::string> after_keys;    ///< names that may follow the list
  bool bare_list = false;                 ///< the list may stand alone
  std::vector<std::string> foreign_keys;  ///< names that only the other kind of trace has
  std::string foreign_problem;            ///< what to say then
};

/// Reads a JSON trace record by record. While recovering, a record that is broken is dropped and counted, and reading
/// goes on with the next one.
class JsonRecords {
 public:
  /// Reads one record, an object that comes next. May throw FormatError; must then leave nothing of the record behind.
  using ReadRecord = std::function<void(JsonScanner&)>;
  /// Reads or skips the value of a member of the outermost object other than the list.
  using ReadMember = std::function<void(JsonScanner&, std::string_view key)>;

  /// Takes note of what was mended or lost, where first, and how often.
  using Note = std::function<void(std::string_view what, std::optional<std::uint64_t> offset, std::uint64_t count)>;

  JsonRecords(ByteStream& stream, JsonScanner& scanner, RecordFormat format, Note note, Progress* progress);

  /// Reads all. Throws FormatError: strict, at the first fault; else only if the input holds no such list at all.
  void read(const ReadRecord& read_record, const ReadMember& read_member);

  /// Objects inside a record of this file do not start with the ambiguous name.
  void clear_ambiguous_key() { format_.ambiguous_key.clear(); }

 private:
  void read_document(const ReadRecord& read_record, const ReadMember& read_member);
  void recover_document(const FormatError& error, const ReadRecord& read_record, const ReadMember& read_member);
  void read_members(const ReadRecord& read_record, const ReadMember& read_member);
  void check_foreign_key(std::string_view key) const;
  void read_list(const ReadRecord& read_record);
  void read_elements(const ReadRecord& read_record);
  void set_shape(std::string first_key);
  void look_at_progress();
  void count_up_to(std::uint64_t position);
  void report_faults();

  ByteStream& stream_;
  JsonScanner& scanner_;
  RecordFormat format_;
  Note note_;
  Progress* progress_;  // may be of several readers: each adds what is its own
  std::uint64_t counted_ = 0;
  bool list_seen_ = false;
  bool in_record_ = false;
  bool cut_off_ = false;  // the input ended inside the list
  std::uint64_t records_ = 0;
};

}  // namespace chakra::io
