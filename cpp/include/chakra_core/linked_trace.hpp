// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chakra_core/et_file.hpp"
#include "chakra_core/progress.hpp"

namespace chakra {

struct ReplayReport;

namespace pytorch {
struct LinkedModel;
}

/// What linking found, dropped, and could not explain: figures in sections, in a fixed order.
///
/// Sections: "coverage" (ops matched, device work linked), "edges" (by kind), "dropped" (edges that the record
/// contradicts), "unexplained", "communication", "readers" (what the readers mended).
class LinkReport {
 public:
  struct Figure {
    std::string name;
    std::uint64_t count = 0;
  };
  struct Section {
    std::string name;
    std::vector<Figure> figures;
  };

  void add(std::string_view section, std::string_view name, std::uint64_t count);
  void advise(std::string text) { advice_.push_back(std::move(text)); }

  const std::vector<Section>& sections() const noexcept { return sections_; }
  /// The figure, or 0 if there is none of that name.
  std::uint64_t count(std::string_view section, std::string_view name) const noexcept;
  /// What to change in the collection to get a better trace.
  const std::vector<std::string>& advice() const noexcept { return advice_; }
  /// All of it for people, several lines.
  std::string text() const;

 private:
  std::vector<Section> sections_;
  std::vector<std::string> advice_;
};

struct LinkOptions {
  OnError on_error = OnError::strict;
  std::optional<std::int64_t> rank = {};  ///< absent: the device trace's distributedInfo
  Progress* progress = nullptr;           ///< optional; counts bytes of the files as they lie on disk
  unsigned threads = 0;                   ///< 1: the two files are read one after the other instead of at the same time
};

/// A PyTorch host trace joined with the Kineto trace of the same rank: which op ran when, what it launched, and what
/// waits for what. Immutable, cheap to copy.
class LinkedTrace {
 public:
  explicit LinkedTrace(std::shared_ptr<const pytorch::LinkedModel> model);

  /// Made on first use, and kept.
  const LinkReport& report() const;
  /// How true a graph this gives: what convert() makes of it by default, played against the record. Made on first use,
  /// and kept. Says nothing without a device trace, as there is no record then.
  const ReplayReport& replay() const;
  /// report() and replay() for people, several lines.
  std::string text() const;
  std::optional<std::int64_t> rank() const noexcept;
  /// Length of the record, 0 without a device trace.
  std::uint64_t span_ns() const noexcept;
  std::size_t host_node_count() const noexcept;
  std::size_t device_event_count() const noexcept;  ///< CPU events included
  /// Ranks of each process group by name, from every source the traces have.
  std::map<std::string, std::vector<std::int64_t>> process_groups() const;

  const pytorch::LinkedModel& model() const noexcept { return *model_; }

 private:
  std::shared_ptr<const pytorch::LinkedModel> model_;
};

/// Links the traces of one rank. Either may be absent: a device trace alone gives everything but the host trace's
/// tensors and ids, a host trace alone gives a tree without durations.
/// Throws LinkError (nothing matches, ambiguous launches when strict), FormatError and ChakraError (reading),
/// Cancelled.
LinkedTrace link(const std::optional<std::filesystem::path>& host, const std::optional<std::filesystem::path>& device,
                 const LinkOptions& options = {});

/// Writes a linked trace as JSON: in the form of older linkers, whose converters read it, and beside that everything
/// that makes load_linked() give an equal trace. Compressed if the name ends in ".gz" or ".zst".
/// Throws IoError, ChakraError.
void save_linked(const LinkedTrace& linked, const std::filesystem::path& path);

/// Reads what save_linked() wrote: convert() makes the same of it as of the original. Also reads the linked JSON of
/// older linkers, which has times of nodes only; convert() then makes the layout "ops". Of the options `on_error` is
/// for damage of the file. Throws as link().
LinkedTrace load_linked(const std::filesystem::path& path, const LinkOptions& options = {});

/// How a linked trace becomes a graph.
enum class TraceLayout : std::uint8_t {
  exact,  ///< CPU time in pieces between the points that others depend on: replays the record to the ns
  ops,    ///< one node an op and a device event, durations exclusive, ids in the host trace's order
};

struct ConvertOptions {
  TraceLayout layout = TraceLayout::exact;
  /// Copies between host and device become MEM nodes with `tensor_size`: to the device MEM_LOAD, to the host MEM_STORE.
  bool memory_nodes = false;
  std::int64_t lag_min_ns = 0;  ///< exact: what no dependency explains of a start becomes a node if longer than this
  unsigned threads = 0;  ///< that make nodes; 0: as many as the machine has cores. The result does not depend on it
};

/// Makes an execution trace of a linked trace. Deterministic. Throws ChakraError for text that is not UTF-8.
TracePtr convert(const LinkedTrace& linked, const ConvertOptions& options = {});

}  // namespace chakra
