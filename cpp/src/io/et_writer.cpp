// SPDX-License-Identifier: MIT
#include <string>

#include "chakra_core/errors.hpp"
#include "chakra_core/et_file.hpp"
#include "io/output_file.hpp"
#include "trace/trace_storage.hpp"
#include "wire/encode.hpp"

namespace chakra {

namespace {

constexpr std::size_t write_size = 1 << 20;

int gzip_level(const std::filesystem::path& path, const SaveOptions& options) {
  if (!options.compression && path.extension() == ".zst") {
    throw ChakraError(path.string() + ": zstd cannot be written; use .gz, or give the compression");
  }
  const bool gzip = options.compression ? *options.compression == Compression::gzip : io::has_gzip_name(path);
  if (!gzip) {
    return 0;
  }
  if (options.level < 1 || options.level > 9) {
    throw ChakraError("gzip level " + std::to_string(options.level) + " is not in 1 to 9");
  }
  return options.level;
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

}  // namespace

void save(const Trace& trace, const std::filesystem::path& path, const SaveOptions& options) {
  io::OutputFile file(path, gzip_level(path, options));
  if (options.progress != nullptr) {
    options.progress->total = trace.size();
  }
  std::string buffer;
  wire::append_frame(buffer, trace.metadata_record().size());
  buffer.append(trace.metadata_record());
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
  file.commit();
  if (options.progress != nullptr) {
    options.progress->done = trace.size();
  }
}

}  // namespace chakra
