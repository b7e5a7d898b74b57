// SPDX-License-Identifier: MIT
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>

#include "chakra_core/errors.hpp"
#include "chakra_core/et_file.hpp"
#include "io/codec.hpp"
#include "io/json_et.hpp"
#include "io/read_ahead.hpp"
#include "io/record_frames.hpp"
#include "io/record_problems.hpp"
#include "io/record_reader.hpp"
#include "io/record_source.hpp"
#include "io/streamed_records.hpp"
#include "parallel/parallel_for.hpp"
#include "trace/trace_assembly.hpp"
#include "wire/decode.hpp"
#include "wire/old_schema.hpp"

namespace chakra {

namespace {

using detail::RecordSource;
using detail::RowBlock;

/// Reads one ET of records: those of a plain file by threads that take turns in finding a block of them and decode it;
/// those of a compressed file while it is inflated.
class EtReader {
 public:
  EtReader(std::string name, const LoadOptions& options)
      : input_{std::move(name), options.on_error}, options_(options) {
    assembly_.storage().source = input_.name;
  }

  TracePtr read(std::shared_ptr<const RecordSource> source) {
    const std::string_view bytes = source->bytes();
    plain_ = source.get();
    assembly_.storage().sources.push_back(std::move(source));
    if (options_.progress != nullptr) {
      options_.progress->total = bytes.size();
    }
    read_plain(bytes);
    return assembly_.finish(options_.on_error, options_.threads, options_.needed);
  }

  TracePtr read(std::unique_ptr<io::ReadAhead> chunks) {
    io::StreamedRecords records(std::move(chunks));
    read_streamed(records);
    records.source()->close();
    assembly_.storage().sources.push_back(records.source());
    return assembly_.finish(options_.on_error, options_.threads, options_.needed);
  }

 private:
  void problem(ProblemKind kind, std::optional<std::uint64_t> record, std::optional<std::uint64_t> offset,
               const std::string& text) {
    input_.problem(assembly_.storage().load_report, kind, record, offset, text);
  }

  void read_plain(std::string_view bytes) {
    if (bytes.empty()) {
      return problem(ProblemKind::truncated_file, 0, 0, io::empty_file);
    }
    wire::Frame first{};
    try {
      first = wire::read_frame(bytes, 0);
    } catch (const wire::Malformed& error) {
      return report_bad_frame(0, 0, error.what(), bytes.size());
    }
    const std::size_t nodes_begin = first.begin + first.size;
    if (!read_metadata(bytes.substr(first.begin, first.size), first.begin) || !check_first_node(bytes, nodes_begin)) {
      return;
    }
    if (options_.progress != nullptr) {
      options_.progress->done = nodes_begin;
    }
    io::RecordFrames frames(bytes, nodes_begin, 1);
    read_blocks(bytes, frames);
    // Only now, so that a problem in an earlier record is told first.
    if (!frames.problem().empty()) {
      report_bad_frame(frames.record(), frames.end(), frames.problem(), bytes.size() - frames.end());
    }
  }

  /// Each thread in turn finds the records of a block and then decodes it, while they are near in its cache.
  void read_blocks(std::string_view bytes, io::RecordFrames& frames) {
    struct Piece {
      io::FrameBlock frames;
      RowBlock* rows;
    };
    std::deque<Piece> pieces;
    std::mutex pieces_mutex;
    std::shared_mutex rows_may_move;
    const std::size_t begin = frames.end();
    constexpr std::size_t worth_threads = std::size_t{1} << 21;
    parallel_pull(
        bytes.size() < worth_threads ? 1 : options_.threads,
        [&](std::size_t) {
          const io::FrameBlock block = frames.next();
          if (block.count == 0) {
            return false;
          }
          if (!assembly_.has_room(block.count)) {
            const std::unique_lock nobody_writes(rows_may_move);
            assembly_.make_room(block.count +
                                likely_records(bytes.size() - frames.end(), frames.end() - begin, frames.record() - 1));
          }
          const std::lock_guard lock(pieces_mutex);
          pieces.push_back({block, &assembly_.take_block(block.count)});
          return true;
        },
        [&](std::size_t number) {
          const Piece piece = [&] {
            const std::lock_guard lock(pieces_mutex);
            return pieces[number];
          }();
          {
            const std::shared_lock stay(rows_may_move);
            read_block(bytes, piece.frames, *piece.rows);
          }
          const std::lock_guard lock(pieces_mutex);
          assembly_.close_block(*piece.rows);
        });
  }

  /// What `left` bytes hold if they go on like the `size` bytes before, which hold `count` records, and a little more.
  static std::size_t likely_records(std::size_t left, std::size_t size, std::size_t count) {
    const double likely = static_cast<double>(left) * static_cast<double>(count) / static_cast<double>(size);
    return left == 0 ? 0 : static_cast<std::size_t>(likely * 1.02) + io::block_records;
  }

  void read_block(std::string_view bytes, const io::FrameBlock& frames, RowBlock& block) {
    io::RecordReader reader(input_, block);
    // The next block is mapped in one go, rather than a few pages at each first touch.
    plain_->will_read(frames.begin + frames.size, frames.size);
    std::size_t offset = frames.begin;
    std::size_t prefetched =
        frames.begin + frames.size;  // memory rests while a block is decoded: it can bring the next
    for (std::size_t i = 0; i < frames.count; ++i) {
      prefetched = io::prefetch_ahead(bytes, prefetched, offset + frames.size);
      const wire::Frame frame = wire::read_frame(bytes, offset);
      reader.read(bytes.substr(frame.begin, frame.size), frames.first_record + i, frame.begin);
      offset = frame.begin + frame.size;
    }
    keep_mended(reader);
    if (options_.progress != nullptr) {
      options_.progress->done += frames.size;
      look_at_cancel();
    }
  }

  void keep_mended(const io::RecordReader& reader) {
    if (auto mended = reader.mended()) {
      const std::lock_guard lock(mutex_);
      assembly_.storage().sources.push_back(std::move(mended));
    }
  }

  void look_at_cancel() const {
    if (options_.progress->cancel) {
      throw Cancelled();
    }
  }

  void read_streamed(io::StreamedRecords& records) {
    std::uint64_t number = 0;
    try {
      const auto metadata = records.next();
      if (!metadata) {
        return problem(ProblemKind::truncated_file, 0, 0, io::empty_file);
      }
      number = 1;
      if (read_metadata(metadata->message, metadata->begin)) {
        read_streamed_nodes(records, number);
      }
    } catch (const wire::Malformed& error) {
      report_bad_frame(number, records.position(), error.what(), records.left());
    } catch (const FormatError& error) {
      if (input_.strict()) {
        throw;
      }
      assembly_.storage().load_report.add(
          {ProblemKind::truncated_file, error.what(), {}, error.location().record, error.location().offset});
      if (records.left() > 0) {
        report_bad_frame(number, records.position(), "the data ends inside this record", records.left());
      }
    }
  }

  void read_streamed_nodes(io::StreamedRecords& records, std::uint64_t& number) {
    auto record = records.next();
    if (record && !check_old_schema(record->message, record->begin, number)) {
      return;
    }
    if (!record) {
      return watch(records);
    }
    io::RecordReader reader(input_, assembly_.add_block(io::block_records));
    try {
      for (; record; record = records.next()) {
        reader.read(record->message, number, record->begin);
        if (number++ % io::block_records == 0) {
          reader.go_on_in(assembly_.add_block(io::block_records));
          watch(records);
        }
      }
    } catch (...) {
      keep_mended(reader);
      throw;
    }
    keep_mended(reader);
    watch(records);
  }

  void watch(const io::StreamedRecords& records) const {
    if (options_.progress != nullptr) {
      options_.progress->total = records.chunks().source_size();
      options_.progress->done = records.chunks().source_position();
      look_at_cancel();
    }
  }

  void report_bad_frame(std::uint64_t record, std::uint64_t offset, const std::string& what, std::uint64_t left) {
    problem(ProblemKind::truncated_file, record, offset, what + io::left_over(left));
  }

  /// Returns whether nodes may follow.
  bool read_metadata(std::string_view message, std::uint64_t begin) {
    if (!check_old_schema(message, begin, 0)) {
      return false;
    }
    try {
      assembly_.storage().metadata = wire::decode_metadata(message);
      assembly_.storage().metadata_record = message;
    } catch (const wire::Malformed& error) {
      problem(ProblemKind::malformed_record, 0, begin + error.offset(),
              "the metadata record holds " + std::string(error.what()));
    }
    return true;
  }

  bool check_first_node(std::string_view bytes, std::size_t offset) {
    if (offset == bytes.size()) {
      return true;
    }
    try {
      const wire::Frame frame = wire::read_frame(bytes, offset);
      return check_old_schema(bytes.substr(frame.begin, frame.size), frame.begin, 1);
    } catch (const wire::Malformed&) {
      return true;  // told when its turn comes
    }
  }

  /// Fields of older schemas would be read as something else, so nothing of such a file is read at all.
  bool check_old_schema(std::string_view message, std::uint64_t begin, std::uint64_t record) {
    const std::string_view known = wire::recognise_old_schema(message, record == 0);
    if (!known.empty()) {
      problem(ProblemKind::malformed_record, record, begin, io::old_schema(known));
    }
    return known.empty();
  }

  io::EtInput input_;
  const LoadOptions& options_;
  detail::TraceAssembly assembly_;
  const RecordSource* plain_ = nullptr;  ///< of a plain file
  std::mutex mutex_;
};

TracePtr read_any(const std::string& name, const LoadOptions& options, std::shared_ptr<const RecordSource> source) {
  const std::string_view bytes = source->bytes();
  const Compression compression = io::detect_compression(bytes);
  if (compression == Compression::none) {
    if (io::looks_like_json(bytes)) {
      return io::read_json_et(*io::make_memory_stream(bytes), name, options);
    }
    return EtReader(name, options).read(std::move(source));
  }
  auto chunks = std::make_unique<io::ReadAhead>(
      io::make_inflating_stream(io::make_memory_stream(bytes), compression, name), name, options.max_inflated_bytes);
  if (io::looks_like_json(chunks->peek())) {
    return io::read_json_et(*io::make_read_ahead_stream(std::move(chunks)), name, options);
  }
  return EtReader(name, options).read(std::move(chunks));
}

}  // namespace

TracePtr load(const std::filesystem::path& path, const LoadOptions& options) {
  return read_any(path.string(), options, io::open_record_source(path));
}

TracePtr load_bytes(std::span<const std::byte> bytes, const std::string& name, const LoadOptions& options,
                    std::shared_ptr<const void> owner) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  // What is compressed, or JSON, is only looked at while it is read.
  const bool used_in_place =
      owner != nullptr || io::detect_compression(text) != Compression::none || io::looks_like_json(text);
  return read_any(
      name, options,
      used_in_place ? io::make_record_source(text, std::move(owner)) : io::make_record_source(std::string(text)));
}

}  // namespace chakra
