// SPDX-License-Identifier: MIT
#include "io/json_records.hpp"

#include <algorithm>
#include <utility>

namespace chakra::io {

JsonRecords::JsonRecords(ByteStream& stream, JsonScanner& scanner, RecordFormat format, Note note, Progress* progress)
    : stream_(stream), scanner_(scanner), format_(std::move(format)), note_(std::move(note)), progress_(progress) {}

void JsonRecords::read(const ReadRecord& read_record, const ReadMember& read_member) {
  if (progress_ != nullptr) {
    progress_->total += stream_.source_size();
  }
  try {
    read_document(read_record, read_member);
  } catch (const WrongTraceKind&) {
    throw;
  } catch (const FormatError& error) {
    if (!scanner_.recovering()) {
      throw;
    }
    recover_document(error, read_record, read_member);
  }
  report_faults();
  if (progress_ != nullptr) {
    count_up_to(stream_.source_size());
  }
}

void JsonRecords::read_document(const ReadRecord& read_record, const ReadMember& read_member) {
  if (scanner_.at_end()) {
    scanner_.fail("the file is empty");
  }
  if (scanner_.peek() == JsonKind::array) {
    if (!format_.bare_list) {
      throw WrongTraceKind({.path = scanner_.name(), .record = {}, .offset = scanner_.offset()},
                           "the file is a bare list, as some device traces (Kineto) are; an object with \"" +
                               format_.list + "\" belongs here");
    }
    scanner_.enter_array();
    read_list(read_record);
  } else {
    scanner_.enter_object();
    read_members(read_record, read_member);
  }
  if (!list_seen_) {
    scanner_.fail("the file has no \"" + format_.list + "\"; it is no trace of this kind");
  }
  if (!cut_off_) {
    scanner_.finish();
  }
}

void JsonRecords::recover_document(const FormatError& error, const ReadRecord& read_record,
                                   const ReadMember& read_member) {
  if (!list_seen_) {
    if (!scanner_.find_records({format_.first_key, format_.after_keys, format_.first_key == format_.ambiguous_key})) {
      throw error;
    }
    note_("damage before the first " + format_.record, error.location().offset, 1);
    try {
      read_list(read_record);
      read_members(read_record, read_member);
      return;
    } catch (const FormatError& later) {
      note_("damage after the last " + format_.record, later.location().offset, 1);
      return;
    }
  }
  note_("damage after the last " + format_.record, error.location().offset, 1);
}

void JsonRecords::read_members(const ReadRecord& read_record, const ReadMember& read_member) {
  std::string_view key;
  while (!cut_off_ && scanner_.next_key(key)) {
    if (key == format_.list) {
      scanner_.enter_array();
      read_list(read_record);
    } else {
      check_foreign_key(key);
      read_member(scanner_, key);
    }
  }
}

void JsonRecords::check_foreign_key(std::string_view key) const {
  const auto& foreign = format_.foreign_keys;
  if (!list_seen_ && std::find(foreign.begin(), foreign.end(), key) != foreign.end()) {
    throw WrongTraceKind({.path = scanner_.name(), .record = {}, .offset = scanner_.offset()},
                         format_.foreign_problem + " (found \"" + std::string(key) + "\")");
  }
}

/// Reads the elements of the list that was entered, and its end.
void JsonRecords::read_list(const ReadRecord& read_record) {
  list_seen_ = true;
  set_shape(format_.first_key);
  for (;;) {
    try {
      read_elements(read_record);
      return;
    } catch (const FormatError& error) {
      if (!scanner_.recovering()) {
        throw;
      }
      const bool lost = std::exchange(in_record_, false);
      note_(lost ? "lost " + format_.record : "damage between two " + format_.record + "s", error.location().offset, 1);
      if (!scanner_.resync()) {
        note_("the file ends early", scanner_.offset(), 1);
        cut_off_ = true;
        return;
      }
    }
  }
}

void JsonRecords::read_elements(const ReadRecord& read_record) {
  while (scanner_.next_element()) {
    in_record_ = true;
    if (records_++ == 0) {
      if (std::string first_key = scanner_.peek_first_key(); !first_key.empty()) {
        set_shape(std::move(first_key));
      }
    }
    read_record(scanner_);
    in_record_ = false;
    if (records_ % 256 == 0) {
      look_at_progress();
    }
  }
}

void JsonRecords::set_shape(std::string first_key) {
  const bool nested = first_key == format_.ambiguous_key;
  scanner_.set_record_shape({std::move(first_key), format_.after_keys, nested});
}

void JsonRecords::look_at_progress() {
  if (progress_ == nullptr) {
    return;
  }
  count_up_to(stream_.source_position());
  if (progress_->cancel) {
    throw Cancelled();
  }
}

void JsonRecords::count_up_to(std::uint64_t position) {
  progress_->done += position - counted_;
  counted_ = position;
}

void JsonRecords::report_faults() {
  for (std::size_t i = 0; i < json_fault_count; ++i) {
    const auto fault = static_cast<JsonFault>(i);
    if (const JsonFaults::Entry& entry = scanner_.faults()[fault]; entry.count > 0) {
      note_(to_string(fault), entry.offset, entry.count);
    }
  }
}

}  // namespace chakra::io
