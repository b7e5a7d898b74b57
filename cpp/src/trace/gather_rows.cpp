// SPDX-License-Identifier: MIT
#include "trace/gather_rows.hpp"

#include <memory>

#include "trace/record_arena.hpp"
#include "trace/trace_assembly.hpp"
#include "wire/decode.hpp"

namespace chakra::detail {

namespace {

/// The source, if it stays in one piece and holds no memory: a mapped file.
std::shared_ptr<const RecordSource> mapped_source(const TraceStorage& storage) {
  for (const auto& source : storage.sources) {
    if (!source->bytes().empty()) {
      return source;
    }
  }
  return nullptr;
}

}  // namespace

TracePtr gather_rows(std::span<const RowOfTrace> rows) {
  TraceAssembly assembly;
  TraceStorage& to = assembly.storage();
  const auto copies = std::make_shared<RecordArena>();
  to.sources.push_back(copies);
  RowBlock& block = assembly.add_block(rows.size());
  wire::DecodedNode node{};
  for (const auto& [trace, row] : rows) {
    const TraceStorage& from = trace->storage();
    std::string_view record = from.record_bytes(row);
    if (const auto mapped = mapped_source(from); !mapped) {
      record = copies->store(record);
    } else if (to.sources.back() != mapped) {
      to.sources.push_back(mapped);
    }
    if (to.source.empty()) {
      to.source = from.source;
      to.metadata = from.metadata;
    }
    wire::decode_node(record, node);
    block.append(node, record, RecordForm::whole);
  }
  return assembly.finish_apart();
}

}  // namespace chakra::detail
