// SPDX-License-Identifier: MIT
#include <memory>
#include <string>
#include <utility>

#include "chakra_core/errors.hpp"
#include "chakra_core/et_file.hpp"
#include "io/gzip.hpp"
#include "io/record_source.hpp"
#include "trace/record_arena.hpp"
#include "trace/trace_assembly.hpp"
#include "wire/decode.hpp"

namespace chakra {

namespace {

using detail::RecordForm;
using detail::RecordSource;

/// How many records between two looks at a Progress.
constexpr std::uint64_t progress_step = 4096;
constexpr std::string_view zstd_magic = "\x28\xb5\x2f\xfd";

std::string hint_for(std::string_view bytes) {
  const auto first = bytes.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && (bytes[first] == '{' || bytes[first] == '[')) {
    return " (this looks like JSON, not like an ET file)";
  }
  if (bytes.starts_with(zstd_magic)) {
    return " (this looks like zstd; decompress it first)";
  }
  return {};
}

/// Reads the records of one ET into a TraceAssembly.
class EtReader {
 public:
  EtReader(std::string name, const LoadOptions& options) : name_(std::move(name)), options_(options) {}

  TracePtr read(std::shared_ptr<const RecordSource> source) {
    if (io::is_gzip(source->bytes())) {
      source = inflate(*source);
    }
    bytes_ = source->bytes();
    detail::TraceStorage& storage = assembly_.storage();
    storage.source = name_;
    storage.sources.push_back(std::move(source));
    if (options_.progress != nullptr) {
      options_.progress->total = bytes_.size();
    }
    read_records();
    storage.load_report.merge(report_);
    return assembly_.finish(options_.on_error);
  }

 private:
  bool strict() const noexcept { return options_.on_error == OnError::strict; }

  /// Strict reading ends here; recovery takes note and goes on.
  void problem(ProblemKind kind, std::optional<std::uint64_t> offset, const std::string& text,
               std::vector<NodeId> nodes = {}) {
    if (strict()) {
      throw FormatError({name_, offset ? std::optional(record_) : std::nullopt, offset}, text);
    }
    report_.add({kind, text, std::move(nodes), offset ? std::optional(record_) : std::nullopt, offset});
  }

  std::shared_ptr<const RecordSource> inflate(const RecordSource& compressed) {
    io::Inflated inflated = io::inflate_all(compressed.bytes());
    if (!inflated.problem.empty()) {
      problem(ProblemKind::truncated_file, std::nullopt, inflated.problem);
    }
    return io::make_record_source(std::move(inflated.bytes));
  }

  void read_records() {
    if (bytes_.empty()) {
      problem(ProblemKind::truncated_file, 0, "the file is empty; an ET begins with a GlobalMetadata record");
      return;
    }
    std::size_t offset = 0;
    for (record_ = 0; offset < bytes_.size(); ++record_) {
      wire::Frame frame{};
      try {
        frame = wire::read_frame(bytes_, offset);
      } catch (const wire::Malformed& error) {
        const std::string lost = std::to_string(bytes_.size() - offset) + " bytes are left";
        problem(ProblemKind::truncated_file, offset, std::string(error.what()) + "; " + lost + hint_for(bytes_));
        return;
      }
      const std::string_view message = bytes_.substr(frame.begin, frame.size);
      if (record_ == 0) {
        read_metadata(message, frame.begin);
      } else {
        read_node(message, frame.begin);
      }
      offset = frame.begin + frame.size;
      if (record_ % progress_step == 0) {
        report_progress(offset);
      }
    }
    report_progress(offset);
  }

  void report_progress(std::size_t offset) const {
    if (options_.progress != nullptr) {
      options_.progress->done = offset;
      if (options_.progress->cancel) {
        throw Cancelled();
      }
    }
  }

  void read_metadata(std::string_view message, std::size_t begin) {
    try {
      assembly_.storage().metadata = wire::decode_metadata(message);
      assembly_.storage().metadata_record = message;
    } catch (const wire::Malformed& error) {
      problem(ProblemKind::malformed_record, begin + error.offset(),
              "the metadata record holds " + std::string(error.what()) + hint_for(bytes_));
    }
  }

  void read_node(std::string_view message, std::size_t begin) {
    try {
      wire::decode_node(message, node_);
    } catch (const wire::Malformed& error) {
      problem(ProblemKind::malformed_record, begin + error.offset(),
              "no Node message: " + std::string(error.what()) + (strict() ? "" : "; the record was dropped"));
      assembly_.skip_record();
      return;
    }
    if (node_.problems.empty() && node_.name_is_utf8) {
      assembly_.append(node_, message, RecordForm::whole);
      return;
    }
    report_problems(begin);
    append_mended(message);
  }

  void report_problems(std::size_t begin) {
    const std::string node = "node " + std::to_string(node_.id) + ": ";
    for (const wire::AttributeProblem& found : node_.problems) {
      const bool is_time = found.offset == 0;
      problem(ProblemKind::attribute_type, begin + found.offset,
              node + (is_time ? "" : "attribute ") + std::string(found.name) + " " + found.what +
                  (strict() ? "" : "; it was dropped"),
              {node_.id});
    }
    if (!node_.name_is_utf8) {
      problem(ProblemKind::malformed_record, begin,
              node + "the name is not UTF-8" + (strict() ? "" : "; bad bytes read as U+FFFD"), {node_.id});
    }
  }

  /// Keeps a node without what was wrong with it, so that it can be written and read again.
  void append_mended(std::string_view message) {
    std::string mended;
    wire::append_mended(mended, message, node_.problems);
    if (!mended_) {
      mended_ = std::make_shared<detail::RecordArena>();
      assembly_.storage().sources.push_back(mended_);
    }
    const std::string_view stored = mended_->store(mended);
    wire::decode_node(stored, node_);
    assembly_.append(node_, stored, RecordForm::whole);
  }

  std::string name_;
  const LoadOptions& options_;
  std::string_view bytes_;
  detail::TraceAssembly assembly_;
  Report report_;
  std::uint64_t record_ = 0;
  wire::DecodedNode node_{};
  std::shared_ptr<detail::RecordArena> mended_;  ///< records that recovery had to change
};

}  // namespace

TracePtr load(const std::filesystem::path& path, const LoadOptions& options) {
  return EtReader(path.string(), options).read(io::open_record_source(path));
}

TracePtr load_bytes(std::span<const std::byte> bytes, const std::string& name, const LoadOptions& options) {
  std::string copy(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return EtReader(name, options).read(io::make_record_source(std::move(copy)));
}

}  // namespace chakra
