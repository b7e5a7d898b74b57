// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "chakra_core/errors.hpp"
#include "chakra_core/et_file.hpp"
#include "io/codec.hpp"
#include "io/json_et.hpp"
#include "io/mapped_origin.hpp"
#include "io/output_file.hpp"
#include "trace/record_encoder.hpp"
#include "trace/trace_storage.hpp"
#include "wire/encode.hpp"
#include "wire/utf8.hpp"

namespace chakra {

namespace {

constexpr std::size_t write_size = 1 << 20;
constexpr std::size_t copy_size = 1 << 24;
constexpr std::size_t worth_copying = 1 << 16;
constexpr NodeIndex progress_rows = 1024;

/// Versions whose nodes have other fields than those written here.
constexpr std::array<std::string_view, 3> old_versions = {"0.0.1", "0.0.2", "0.0.3"};

void check_version(const std::string& version) {
  if (std::find(old_versions.begin(), old_versions.end(), version) != old_versions.end()) {
    throw ChakraError("schema " + version + " cannot be written: its nodes have other fields; the oldest is 0.0.4");
  }
  if (!wire::is_utf8(version)) {
    throw ChakraError("the schema version is not UTF-8, which protobuf demands of a string");
  }
}

EtForm form_of(const std::filesystem::path& path, const SaveOptions& options) {
  const bool json_name = io::without_compression_suffix(path).extension() == ".json";
  return options.form.value_or(json_name ? EtForm::json : EtForm::records);
}

/// Writes records with their lengths. What stands in one piece in the file that was read goes in one piece from there,
/// copied by the system where it can; the rest goes through a buffer.
class RecordStream {
 public:
  RecordStream(const detail::TraceStorage& storage, io::OutputFile& file)
      : storage_(storage), encoder_(storage), file_(file), origin_(io::MappedOrigin::reopen(storage)) {}

  void write(NodeIndex row) {
    const std::string_view record = encoder_.record(row);
    char frame[wire::longest_frame];
    const std::string_view length(frame, wire::write_frame(frame, record.size()));
    const bool was_read = storage_.record_form[row] == detail::RecordForm::whole;
    if (!was_read || !continues_piece(length, record)) {
      append(length, record);
    }
    after_ = was_read ? record.data() + record.size() : nullptr;
    if (buffer_.size() >= write_size || piece_.size() >= (origin_ ? copy_size : write_size)) {
      flush();
    }
  }

  void append(std::string_view length, std::string_view record) {
    flush_piece();
    buffer_.append(length).append(record);
  }

  void flush() {
    flush_buffer();
    flush_piece();
  }

 private:
  /// The piece goes on, or begins, if the length that was read in front of the record is the one to be written.
  bool continues_piece(std::string_view length, std::string_view record) {
    // Only between two records of one source is it known that there are bytes of the file in front.
    const bool is_behind = after_ != nullptr && record.data() == after_ + length.size();
    if (!is_behind || !stands_before(length, record)) {
      return false;
    }
    if (piece_.empty()) {
      flush_buffer();
      piece_ = {record.data() - length.size(), 0};
    }
    piece_ = {piece_.data(), piece_.size() + length.size() + record.size()};
    return true;
  }

  /// Whether `length` is what is in front of the record. There is but one way to write a number in the fewest bytes
  /// that hold it, so that in a mapped file, where the gap between two records is a length, its size says enough; the
  /// bytes would have to come from memory.
  bool stands_before(std::string_view length, std::string_view record) const {
    return (origin_ && origin_->place_of({after_ - 1, length.size() + record.size() + 1})) ||
           std::memcmp(after_, length.data(), length.size()) == 0;
  }

  void flush_buffer() {
    file_.write(buffer_);
    buffer_.clear();
  }
  void flush_piece() {
    if (const auto place = piece_.size() >= worth_copying && origin_ ? origin_->place_of(piece_) : std::nullopt) {
      piece_.remove_prefix(file_.copy_from(place->descriptor, place->offset, piece_.size()));
    }
    file_.write(piece_);
    piece_ = {};
  }

  const detail::TraceStorage& storage_;
  detail::RecordEncoder encoder_;
  io::OutputFile& file_;
  std::optional<io::MappedOrigin> origin_;
  std::string buffer_;
  std::string_view piece_;       ///< records with their lengths where they were read; comes after the buffer
  const char* after_ = nullptr;  ///< end of the record written last, if it is where it was read
};

void write_records(const Trace& trace, io::OutputFile& file, const SaveOptions& options) {
  RecordStream records(trace.storage(), file);
  const std::string metadata = options.schema_version
                                   ? wire::with_version(trace.metadata_record(), *options.schema_version)
                                   : std::string(trace.metadata_record());
  char frame[wire::longest_frame];
  records.append({frame, wire::write_frame(frame, metadata.size())}, metadata);
  for (NodeIndex row = 0; row < trace.size(); ++row) {
    records.write(row);
    if (options.progress != nullptr && row % progress_rows == 0) {
      options.progress->done = row;
      if (options.progress->cancel) {
        throw Cancelled();
      }
    }
  }
  records.flush();
}

}  // namespace

void save(const Trace& trace, const std::filesystem::path& path, const SaveOptions& options) {
  if (options.schema_version) {
    check_version(*options.schema_version);
  }
  io::OutputFile file(path, io::choose_encoding(path, options.compression, options.level));
  if (options.progress != nullptr) {
    options.progress->total = trace.size();
  }
  if (form_of(path, options) == EtForm::json) {
    io::write_json_et(trace, options.schema_version.value_or(trace.metadata().version), options.progress,
                      [&](std::string_view text) { file.write(text); });
  } else {
    write_records(trace, file, options);
  }
  file.commit();
  if (options.progress != nullptr) {
    options.progress->done = trace.size();
  }
}

}  // namespace chakra
