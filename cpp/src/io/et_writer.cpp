// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <string>

#include "chakra_core/errors.hpp"
#include "chakra_core/et_file.hpp"
#include "io/codec.hpp"
#include "io/json_et.hpp"
#include "io/output_file.hpp"
#include "trace/trace_storage.hpp"
#include "wire/encode.hpp"
#include "wire/utf8.hpp"

namespace chakra {

namespace {

constexpr std::size_t write_size = 1 << 20;

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

void append_record(std::string& buffer, const Trace& trace, NodeIndex row) {
  const detail::TraceStorage& storage = trace.storage();
  if (storage.record_form[row] == detail::RecordForm::whole) {
    const std::string_view kept = storage.record_bytes(row);
    wire::append_frame(buffer, kept.size());
    buffer.append(kept);
    return;
  }
  const std::string message = trace.record(row);
  wire::append_frame(buffer, message.size());
  buffer.append(message);
}

void write_records(const Trace& trace, io::OutputFile& file, const SaveOptions& options) {
  std::string buffer;
  const std::string metadata = options.schema_version
                                   ? wire::with_version(trace.metadata_record(), *options.schema_version)
                                   : std::string(trace.metadata_record());
  wire::append_frame(buffer, metadata.size());
  buffer.append(metadata);
  for (NodeIndex row = 0; row < trace.size(); ++row) {
    append_record(buffer, trace, row);
    if (buffer.size() >= write_size) {
      file.write(buffer);
      buffer.clear();
      if (options.progress != nullptr) {
        options.progress->done = row;
        if (options.progress->cancel) {
          throw Cancelled();
        }
      }
    }
  }
  file.write(buffer);
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
