// SPDX-License-Identifier: MIT
#include "trace/trace_assembly.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <utility>

#include "chakra_core/errors.hpp"
#include "parallel/parallel_for.hpp"

namespace chakra::detail {

namespace {

/// A message about missing parents names this many of them.
constexpr std::size_t most_named = 5;
/// Stands for a parent that is not there until drop_missing() takes it out.
constexpr NodeIndex missing = std::numeric_limits<NodeIndex>::max();

template <class Value>
void keep_rows(Column<Value>& column, const std::vector<bool>& keep) {
  std::size_t to = 0;
  for (std::size_t row = 0; row < keep.size(); ++row) {
    if (keep[row]) {
      column[to++] = column[row];
    }
  }
  column.resize(to);
}

void keep_rows(Column<std::uint64_t>& offsets, wire::IdList& parents, const std::vector<bool>& keep) {
  Column<std::uint64_t> new_offsets = {0};
  wire::IdList kept;
  for (std::size_t row = 0; row < keep.size(); ++row) {
    if (!keep[row]) {
      continue;
    }
    kept.append({parents.begin() + offsets[row], parents.begin() + offsets[row + 1]});
    new_offsets.push_back(kept.size());
  }
  parents = std::move(kept);
  offsets = std::move(new_offsets);
}

template <class Value>
void move_rows(Column<Value>& column, std::size_t from, std::size_t count, std::size_t to) {
  std::move(column.begin() + static_cast<std::ptrdiff_t>(from),
            column.begin() + static_cast<std::ptrdiff_t>(from + count),
            column.begin() + static_cast<std::ptrdiff_t>(to));
}

/// Takes marked parents out and makes the offsets follow.
void drop_missing(Column<std::uint64_t>& offsets, Column<NodeIndex>& parents) {
  std::uint64_t to = 0;
  std::uint64_t begin = 0;
  for (std::size_t row = 0; row + 1 < offsets.size(); ++row) {
    const std::uint64_t end = offsets[row + 1];
    for (std::uint64_t i = begin; i < end; ++i) {
      if (parents[i] != missing) {
        parents[to++] = parents[i];
      }
    }
    begin = end;
    offsets[row + 1] = to;
  }
  parents.resize(to);
  parents.shrink_to_fit();
}

/// Where memory is worth it: what was reserved and never written takes none.
void shrink_to_fit(TraceStorage& storage) {
  if (storage.ids.capacity() - storage.ids.size() <= storage.ids.size() / 8) {
    return;
  }
  storage.ids.shrink_to_fit();
  storage.types.shrink_to_fit();
  storage.name_ids.shrink_to_fit();
  storage.start_ns.shrink_to_fit();
  storage.duration_ns.shrink_to_fit();
  storage.data_offsets.shrink_to_fit();
  storage.ctrl_offsets.shrink_to_fit();
  storage.record_begin.shrink_to_fit();
  storage.record_size.shrink_to_fit();
  storage.record_form.shrink_to_fit();
}

}  // namespace

TraceAssembly::TraceAssembly() : storage_(std::make_unique<TraceStorage>()), strings_(1) { resize_rows(*storage_, 0); }

bool TraceAssembly::has_room(std::size_t rows) const noexcept { return rows <= storage_->ids.size() - rows_given_; }

void TraceAssembly::make_room(std::size_t rows) { resize_rows(*storage_, rows_given_ + rows); }

RowBlock& TraceAssembly::take_block(std::size_t rows) {
  if (idle_strings_.empty()) {
    idle_strings_.push_back(blocks_.empty() ? &strings_.front() : &strings_.emplace_back());
  }
  RowBlock& block = blocks_.emplace_back(*storage_, *idle_strings_.back(), rows_given_, rows);
  idle_strings_.pop_back();
  rows_given_ += rows;
  block.reserve();
  return block;
}

void TraceAssembly::close_block(RowBlock& block) {
  block.remember_counts();
  idle_strings_.push_back(block.strings_);
}

RowBlock& TraceAssembly::add_block(std::size_t most_rows) {
  rows_given_ = blocks_.empty() ? 0 : blocks_.back().first_row_ + blocks_.back().rows_;
  make_room(most_rows);
  return blocks_.emplace_back(*storage_, strings_.front(), rows_given_, most_rows);
}

RowBlock& TraceAssembly::growing() {
  if (blocks_.empty()) {
    blocks_.emplace_back(*storage_, strings_.front(), 0, 0);
  }
  return blocks_.front();
}

/// Blocks in which records were dropped leave rows unused at their end; moves the rows of later blocks there.
void TraceAssembly::close_gaps() {
  TraceStorage& to = *storage_;
  std::size_t next = 0;
  for (RowBlock& block : blocks_) {
    const std::size_t from = block.first_row_;
    if (from != next) {
      move_rows(to.ids, from, block.rows_, next);
      move_rows(to.types, from, block.rows_, next);
      move_rows(to.name_ids, from, block.rows_, next);
      move_rows(to.start_ns, from, block.rows_, next);
      move_rows(to.duration_ns, from, block.rows_, next);
      move_rows(to.data_offsets, from + 1, block.rows_, next + 1);
      move_rows(to.ctrl_offsets, from + 1, block.rows_, next + 1);
      move_rows(to.record_begin, from, block.rows_, next);
      move_rows(to.record_size, from, block.rows_, next);
      move_rows(to.record_form, from, block.rows_, next);
      block.first_row_ = next;
    }
    next += block.rows_;
  }
  resize_rows(to, next);
  shrink_to_fit(to);
  to.data_offsets[0] = 0;
  to.ctrl_offsets[0] = 0;
}

void TraceAssembly::merge_reports() {
  for (RowBlock& block : blocks_) {
    storage_->load_report.merge(std::exchange(block.report, {}));
  }
}

/// One pool for all blocks, ids in the order of first appearance in the file.
void TraceAssembly::join_strings(unsigned threads) {
  if (strings_.size() == 1) {
    storage_->strings = std::move(strings_.front().pool);
    return;
  }
  struct Appearance {
    NodeIndex row;
    std::uint32_t id;
    RowStrings* strings;
  };
  std::vector<Appearance> appearances;
  for (RowStrings& strings : strings_) {
    strings_ids_[&strings].resize(strings.pool.size());
    for (std::uint32_t id = 0; id < strings.pool.size(); ++id) {
      appearances.push_back({strings.first_rows[id], id, &strings});
    }
  }
  std::sort(appearances.begin(), appearances.end(), [](const Appearance& a, const Appearance& b) {
    return std::pair(a.row, a.id) < std::pair(b.row, b.id);  // a row's strings are all of one pool
  });
  for (const Appearance& first : appearances) {
    strings_ids_[first.strings][first.id] = storage_->strings.intern(first.strings->pool.view(first.id));
  }
  parallel_for(blocks_.size(), threads, [&](std::size_t number) {
    const RowBlock& block = blocks_[number];
    const auto& ids = *new_ids(block);
    for (std::size_t row = block.first_row_; row < block.first_row_ + block.rows_; ++row) {
      storage_->name_ids[row] = ids[storage_->name_ids[row]];
    }
  });
}

/// The trace's ids of a block's strings; null if they are the same.
const std::vector<std::uint32_t>* TraceAssembly::new_ids(const RowBlock& block) const {
  const auto found = strings_ids_.find(block.strings_);
  return found != strings_ids_.end() ? &found->second : nullptr;
}

/// Record 0 is the metadata. Holds until drop_duplicates() moves the rows.
std::uint64_t TraceAssembly::record_number(NodeIndex row) const {
  std::uint64_t number = std::uint64_t{row} + 1;
  for (const RowBlock& block : blocks_) {
    if (block.first_row_ + block.rows_ <= row) {
      number += block.skipped_before_.size();
    } else if (block.first_row_ <= row) {
      const auto& skipped = block.skipped_before_;
      const std::size_t local = row - block.first_row_;
      number += static_cast<std::uint64_t>(std::upper_bound(skipped.begin(), skipped.end(), local) - skipped.begin());
    }
  }
  return number;
}

std::string TraceAssembly::describe_record(NodeIndex row) const {
  std::string text = "record " + std::to_string(record_number(row));
  for (const auto& source : storage_->sources) {
    if (const auto offset = source->offset_of(storage_->record_begin[row])) {
      text += " (byte offset " + std::to_string(*offset) + ")";
      break;
    }
  }
  return text;
}

void TraceAssembly::build_index(OnError on_error) {
  TraceStorage& to = *storage_;
  const auto duplicates = to.index.build(to.ids);
  if (duplicates.empty()) {
    return;
  }
  if (on_error == OnError::strict) {
    const auto& [first, second] = duplicates.front();
    throw FormatError({to.source, record_number(second), {}}, "node id " + std::to_string(to.ids[second]) +
                                                                  " is already that of " + describe_record(first) +
                                                                  "; ids must be unique in a file");
  }
  for (const auto& [first, second] : duplicates) {
    to.load_report.add({ProblemKind::duplicate_id,
                        "node id " + std::to_string(to.ids[second]) + " of " + describe_record(first) +
                            " stands again in " + describe_record(second) + ", which was dropped",
                        {to.ids[second]},
                        record_number(second)});
  }
  collapse();
  drop_duplicates(duplicates);
  to.index.build(to.ids);
}

/// Makes one block of all. For what is too rare to be done block by block.
void TraceAssembly::collapse() {
  std::vector<AttributePart> parts;
  RowBlock whole(*storage_, strings_.front(), 0, storage_->ids.size());
  for (std::size_t number = 0; number < blocks_.size(); ++number) {
    RowBlock& block = blocks_[number];
    for (std::size_t row = block.first_row_; row < block.first_row_ + block.rows_; ++row) {
      storage_->data_offsets[row + 1] += whole.data_parent_ids.size();
      storage_->ctrl_offsets[row + 1] += whole.ctrl_parent_ids.size();
    }
    whole.data_parent_ids.append(block.data_parent_ids);
    whole.ctrl_parent_ids.append(block.ctrl_parent_ids);
    parts.push_back({static_cast<NodeIndex>(block.first_row_), &block.attributes, new_ids(block)});
    whole.rows_ += block.rows_;
  }
  whole.attributes = joined(parts, 1);
  blocks_.clear();
  blocks_.push_back(std::move(whole));
  strings_ids_.clear();
}

void TraceAssembly::drop_duplicates(const std::vector<IdIndex::Duplicate>& duplicates) {
  TraceStorage& to = *storage_;
  RowBlock& block = blocks_.front();
  std::vector<bool> keep(to.ids.size(), true);
  for (const auto& [first, second] : duplicates) {
    keep[second] = false;
  }
  keep_rows(to.ids, keep);
  keep_rows(to.types, keep);
  keep_rows(to.name_ids, keep);
  keep_rows(to.start_ns, keep);
  keep_rows(to.duration_ns, keep);
  keep_rows(to.record_begin, keep);
  keep_rows(to.record_size, keep);
  keep_rows(to.record_form, keep);
  keep_rows(to.data_offsets, block.data_parent_ids, keep);
  keep_rows(to.ctrl_offsets, block.ctrl_parent_ids, keep);
  block.attributes = kept_rows(block.attributes, keep);
  block.rows_ = to.ids.size();
}

void TraceAssembly::throw_missing_parents(DependencyKind needed) const {
  const TraceStorage& from = *storage_;
  std::vector<NodeId> absent;
  std::string named;
  std::size_t count = 0;
  const auto look = [&](std::size_t row, NodeId parent) {
    if (from.index.find(parent)) {
      return;
    }
    if (count++ < most_named) {
      named += (named.empty() ? "" : "; ") + std::string("node ") + std::to_string(from.ids[row]) +
               " depends on missing node " + std::to_string(parent);
    }
    absent.push_back(parent);
  };
  for (const RowBlock& block : blocks_) {
    std::size_t data = 0;
    std::size_t ctrl = 0;
    for (std::size_t local = 0; local < block.rows_; ++local) {
      const std::size_t row = block.first_row_ + local;
      for (; needed != DependencyKind::control && data < from.data_offsets[row + 1]; ++data) {
        look(row, block.data_parent_ids[data]);
      }
      for (; needed != DependencyKind::data && ctrl < from.ctrl_offsets[row + 1]; ++ctrl) {
        look(row, block.ctrl_parent_ids[ctrl]);
      }
    }
  }
  if (count > most_named) {
    named += "; and " + std::to_string(count - most_named) + " more";
  }
  std::sort(absent.begin(), absent.end());
  absent.erase(std::unique(absent.begin(), absent.end()), absent.end());
  throw DependencyError((from.source.empty() ? "" : from.source + ": ") + named +
                            ". Load with on_error=\"recover\" to drop such dependencies",
                        std::move(absent));
}

/// Ids to rows, into `parents` from `base` on. Returns whether all parents are there; the missing ones are marked, and
/// with recover reported. The offsets of a block count from its own first parent until rebase() has been there.
bool TraceAssembly::resolve_block(RowBlock& block, const wire::IdList& parent_ids, const Column<std::uint64_t>& offsets,
                                  NodeIndex* parents, OnError on_error) {
  TraceStorage& to = *storage_;
  if (to.index.find_all(parent_ids, parents) == parent_ids.size()) {
    return true;
  }
  if (on_error == OnError::strict) {
    return false;
  }
  std::size_t i = 0;
  for (std::size_t row = block.first_row_; row < block.first_row_ + block.rows_; ++row) {
    for (; i < offsets[row + 1]; ++i) {
      const auto parent = to.index.find(parent_ids[i]);
      parents[i] = parent.value_or(missing);
      if (parent) {
        continue;
      }
      block.report.add({ProblemKind::missing_parent,
                        "node " + std::to_string(to.ids[row]) + " depends on missing node " +
                            std::to_string(parent_ids[i]) + "; the dependency was dropped",
                        {to.ids[row], parent_ids[i]}});
      if (to.record_form[row] == RecordForm::whole) {
        to.record_form[row] = RecordForm::whole_but_deps;
      }
    }
  }
  return false;
}

bool TraceAssembly::resolve_kind(const DependencyColumns& kind, OnError on_error, unsigned threads) {
  kind.parents->resize(kind.bases.back());
  std::atomic<bool> complete = true;
  parallel_for(blocks_.size(), threads, [&](std::size_t number) {
    RowBlock& block = blocks_[number];
    if (!resolve_block(block, block.*kind.parent_ids, *kind.offsets, kind.parents->data() + kind.bases[number],
                       on_error)) {
      complete = false;
    }
  });
  return complete;
}

/// Makes the blocks' offsets count from the first parent of all.
void TraceAssembly::rebase(const DependencyColumns& kind, unsigned threads) {
  parallel_for(blocks_.size(), threads, [&](std::size_t number) {
    RowBlock& block = blocks_[number];
    for (std::size_t row = block.first_row_; row < block.first_row_ + block.rows_; ++row) {
      (*kind.offsets)[row + 1] += kind.bases[number];
    }
    block.*kind.parent_ids = {};
  });
}

void TraceAssembly::resolve(OnError on_error, unsigned threads, DependencyKind needed) {
  TraceStorage& to = *storage_;
  std::array<DependencyColumns, 2> kinds = {
      DependencyColumns{&RowBlock::data_parent_ids, &to.data_offsets, &to.data_parents, {0}},
      DependencyColumns{&RowBlock::ctrl_parent_ids, &to.ctrl_offsets, &to.ctrl_parents, {0}}};
  const std::array<OnError, 2> on_absent = {needed != DependencyKind::control ? on_error : OnError::recover,
                                            needed != DependencyKind::data ? on_error : OnError::recover};
  std::array<bool, 2> complete{};
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    for (const RowBlock& block : blocks_) {
      kinds[kind].bases.push_back(kinds[kind].bases.back() + (block.*kinds[kind].parent_ids).size());
    }
    complete[kind] = resolve_kind(kinds[kind], on_absent[kind], threads);
    if (!complete[kind] && on_absent[kind] == OnError::strict) {
      throw_missing_parents(needed);
    }
  }
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    rebase(kinds[kind], threads);
    if (!complete[kind]) {
      drop_missing(*kinds[kind].offsets, *kinds[kind].parents);
    }
  }
  merge_reports();
}

TracePtr TraceAssembly::finish(OnError on_error, unsigned threads, DependencyKind needed) {
  TraceStorage& to = *storage_;
  merge_reports();
  close_gaps();
  join_strings(threads);
  build_index(on_error);
  resolve(on_error, threads, needed);
  std::vector<AttributePart> parts;
  for (std::size_t number = 0; number < blocks_.size(); ++number) {
    parts.push_back(
        {static_cast<NodeIndex>(blocks_[number].first_row_), &blocks_[number].attributes, new_ids(blocks_[number])});
  }
  to.attributes = joined(parts, threads);
  to.attributes.shrink_to_fit();
  blocks_.clear();
  return std::make_shared<const Trace>(std::exchange(storage_, nullptr));
}

TracePtr TraceAssembly::finish_apart() {
  TraceStorage& to = *storage_;
  close_gaps();
  join_strings(1);
  to.index.build(to.ids);
  RowBlock& block = blocks_.front();
  to.apart_data = {std::exchange(to.data_offsets, {}), block.data_parent_ids.take()};
  to.apart_ctrl = {std::exchange(to.ctrl_offsets, {}), block.ctrl_parent_ids.take()};
  to.data_offsets.assign(to.ids.size() + 1, 0);
  to.ctrl_offsets.assign(to.ids.size() + 1, 0);
  to.attributes = std::move(block.attributes);
  blocks_.clear();
  return std::make_shared<const Trace>(std::exchange(storage_, nullptr));
}

}  // namespace chakra::detail
