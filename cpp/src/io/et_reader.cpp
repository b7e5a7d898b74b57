// SPDX-License-Identifier: MIT
#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "chakra_core/errors.hpp"
#include "chakra_core/et_file.hpp"
#include "io/gzip.hpp"
#include "io/record_frames.hpp"
#include "io/record_source.hpp"
#include "parallel/parallel_for.hpp"
#include "trace/record_arena.hpp"
#include "trace/trace_assembly.hpp"
#include "wire/decode.hpp"

namespace chakra {

namespace {

using detail::RecordForm;
using detail::RecordSource;
using detail::RowBlock;

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

/// What all parts of reading one ET share.
struct EtInput {
  std::string name;
  OnError on_error;
  std::string_view bytes;

  bool strict() const noexcept { return on_error == OnError::strict; }

  /// Strict reading ends here; recovery takes note and goes on.
  void problem(Report& report, ProblemKind kind, std::optional<std::uint64_t> record,
               std::optional<std::uint64_t> offset, const std::string& text, std::vector<NodeId> nodes = {}) const {
    if (strict()) {
      throw FormatError({name, record, offset}, text);
    }
    report.add({kind, text, std::move(nodes), record, offset});
  }
};

/// Decodes the records of one block.
class BlockReader {
 public:
  BlockReader(const EtInput& input, RowBlock& block) : input_(input), block_(block) {}

  void read(const io::FrameBlock& frames) {
    std::size_t offset = frames.begin;
    record_ = frames.first_record;
    for (std::size_t i = 0; i < frames.count; ++i, ++record_) {
      const wire::Frame frame = wire::read_frame(input_.bytes, offset);
      read_node(input_.bytes.substr(frame.begin, frame.size), frame.begin);
      offset = frame.begin + frame.size;
    }
  }

  /// Records that recovery had to change; null if there were none.
  std::shared_ptr<detail::RecordArena> mended() const { return mended_; }

 private:
  void read_node(std::string_view message, std::size_t begin) {
    try {
      wire::decode_node(message, node_);
    } catch (const wire::Malformed& error) {
      input_.problem(
          block_.report, ProblemKind::malformed_record, record_, begin + error.offset(),
          "no Node message: " + std::string(error.what()) + (input_.strict() ? "" : "; the record was dropped"));
      block_.skip_record();
      return;
    }
    if (node_.problems.empty() && node_.name_is_utf8) {
      block_.append(node_, message, RecordForm::whole);
      return;
    }
    report_problems(begin);
    append_mended(message);
  }

  void report_problems(std::size_t begin) {
    const std::string node = "node " + std::to_string(node_.id) + ": ";
    for (const wire::AttributeProblem& found : node_.problems) {
      const bool is_time = found.offset == 0;
      input_.problem(block_.report, ProblemKind::attribute_type, record_, begin + found.offset,
                     node + (is_time ? "" : "attribute ") + std::string(found.name) + " " + found.what +
                         (input_.strict() ? "" : "; it was dropped"),
                     {node_.id});
    }
    if (!node_.name_is_utf8) {
      input_.problem(block_.report, ProblemKind::malformed_record, record_, begin,
                     node + "the name is not UTF-8" + (input_.strict() ? "" : "; bad bytes read as U+FFFD"),
                     {node_.id});
    }
  }

  /// Keeps a node without what was wrong with it, so that it can be written and read again.
  void append_mended(std::string_view message) {
    std::string mended;
    wire::append_mended(mended, message, node_.problems);
    if (!mended_) {
      mended_ = std::make_shared<detail::RecordArena>();
    }
    const std::string_view stored = mended_->store(mended);
    wire::decode_node(stored, node_);
    block_.append(node_, stored, RecordForm::whole);
  }

  const EtInput& input_;
  RowBlock& block_;
  std::uint64_t record_ = 0;
  wire::DecodedNode node_{};
  std::shared_ptr<detail::RecordArena> mended_;
};

/// Reads one ET: finds the records, then decodes blocks of them at the same time.
class EtReader {
 public:
  EtReader(std::string name, const LoadOptions& options)
      : input_{std::move(name), options.on_error, {}}, options_(options) {}

  TracePtr read(std::shared_ptr<const RecordSource> source) {
    if (io::is_gzip(source->bytes())) {
      source = inflate(*source);
    }
    input_.bytes = source->bytes();
    detail::TraceStorage& storage = assembly_.storage();
    storage.source = input_.name;
    storage.sources.push_back(std::move(source));
    if (options_.progress != nullptr) {
      options_.progress->total = input_.bytes.size();
    }
    read_records();
    return assembly_.finish(options_.on_error, options_.threads);
  }

 private:
  void problem(ProblemKind kind, std::optional<std::uint64_t> record, std::optional<std::uint64_t> offset,
               const std::string& text) {
    input_.problem(assembly_.storage().load_report, kind, record, offset, text);
  }

  std::shared_ptr<const RecordSource> inflate(const RecordSource& compressed) {
    io::Inflated inflated = io::inflate_all(compressed.bytes());
    if (!inflated.problem.empty()) {
      problem(ProblemKind::truncated_file, std::nullopt, std::nullopt, inflated.problem);
    }
    return io::make_record_source(std::move(inflated.bytes));
  }

  void read_records() {
    if (input_.bytes.empty()) {
      problem(ProblemKind::truncated_file, 0, 0, "the file is empty; an ET begins with a GlobalMetadata record");
      return;
    }
    const std::size_t nodes_begin = read_metadata();
    if (nodes_begin == 0) {
      return;
    }
    const io::RecordFrames frames = io::find_records(input_.bytes, nodes_begin, 1);
    if (options_.progress != nullptr) {
      options_.progress->done = nodes_begin;
    }
    assembly_.split(frames.count, io::block_records);
    parallel_for(frames.blocks.size(), options_.threads,
                 [&](std::size_t number) { read_block(frames.blocks[number], assembly_.block(number)); });
    // Only now, so that a problem in an earlier record is told first.
    if (!frames.problem.empty()) {
      report_bad_frame(1 + frames.count, frames.end, frames.problem);
    }
  }

  void read_block(const io::FrameBlock& frames, RowBlock& block) {
    BlockReader reader(input_, block);
    reader.read(frames);
    if (auto mended = reader.mended()) {
      const std::lock_guard lock(mutex_);
      assembly_.storage().sources.push_back(std::move(mended));
    }
    if (options_.progress != nullptr) {
      options_.progress->done += frames.size;
      if (options_.progress->cancel) {
        throw Cancelled();
      }
    }
  }

  void report_bad_frame(std::uint64_t record, std::size_t offset, const std::string& what) {
    const std::string lost = std::to_string(input_.bytes.size() - offset) + " bytes are left";
    problem(ProblemKind::truncated_file, record, offset, what + "; " + lost + hint_for(input_.bytes));
  }

  /// Returns where the nodes begin; 0 if not even the first record is whole.
  std::size_t read_metadata() {
    wire::Frame frame{};
    try {
      frame = wire::read_frame(input_.bytes, 0);
    } catch (const wire::Malformed& error) {
      report_bad_frame(0, 0, error.what());
      return 0;
    }
    const std::string_view message = input_.bytes.substr(frame.begin, frame.size);
    try {
      assembly_.storage().metadata = wire::decode_metadata(message);
      assembly_.storage().metadata_record = message;
    } catch (const wire::Malformed& error) {
      problem(ProblemKind::malformed_record, 0, frame.begin + error.offset(),
              "the metadata record holds " + std::string(error.what()) + hint_for(input_.bytes));
    }
    return frame.begin + frame.size;
  }

  EtInput input_;
  const LoadOptions& options_;
  detail::TraceAssembly assembly_;
  std::mutex mutex_;
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
