// SPDX-License-Identifier: MIT
#include "feeder/completed_ids.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace chakra::detail {

namespace {

constexpr std::size_t most_recent = std::size_t{1} << 15;
constexpr std::size_t intervals_per_sample = 64;
/// Runs up to this size are merged into their neighbour whatever its size: looking into one more costs more.
constexpr std::size_t small_run_bytes = std::size_t{1} << 12;
constexpr std::uint8_t more_flag = 0x80;
constexpr std::uint8_t length_flag = 0x40;

}  // namespace

void CompletedIds::insert(NodeId id) {
  if (!ascending_.empty() && id < ascending_.back().first) {
    out_of_order_.insert(id, 0);
  } else if (!ascending_.empty() && id == ascending_.back().last + 1) {
    ascending_.back().last = id;
    return;
  } else {
    ascending_.push_back({id, id});
  }
  if (recent() >= most_recent) {
    settle();
  }
}

bool CompletedIds::contains(NodeId id) const noexcept {
  const auto after = std::upper_bound(ascending_.begin(), ascending_.end(), id,
                                      [](NodeId wanted, const Interval& one) { return wanted < one.first; });
  return (after != ascending_.begin() && id <= std::prev(after)->last) || out_of_order_.find(id) ||
         std::any_of(runs_.rbegin(), runs_.rend(), [id](const Run& run) { return run.contains(id); });
}

void CompletedIds::clear() {
  ascending_ = {};
  out_of_order_.clear();
  runs_.clear();
}

std::size_t CompletedIds::memory_bytes() const noexcept {
  std::size_t bytes = out_of_order_.memory_bytes() + ascending_.capacity() * sizeof(Interval);
  for (const Run& run : runs_) {
    bytes += run.memory_bytes();
  }
  return bytes;
}

/// Makes a run of the newest ids, and merges runs until each is more than twice as large as the next.
void CompletedIds::settle() {
  Run first;
  for (const Interval& interval : ascending_) {
    first.append(interval);
  }
  first.close();
  std::vector<NodeId> others = out_of_order_.ids();
  std::sort(others.begin(), others.end());
  Run second;
  for (const NodeId id : others) {
    second.append({id, id});
  }
  second.close();
  Run run = merged(first, second);
  ascending_.clear();
  out_of_order_.clear();
  while (!runs_.empty() &&
         (runs_.back().size_bytes() <= 2 * run.size_bytes() || runs_.back().size_bytes() <= small_run_bytes)) {
    run = merged(runs_.back(), run);
    runs_.pop_back();
  }
  runs_.push_back(std::move(run));
}

CompletedIds::Run CompletedIds::merged(const Run& one, const Run& other) {
  Run run;
  // Growing by halves would take more memory than the runs themselves.
  run.reserve(one.size_bytes() + other.size_bytes(), one.sample_count() + other.sample_count());
  Run::Reader left(one);
  Run::Reader right(other);
  Interval from_left{};
  Interval from_right{};
  bool more_left = left.next(from_left);
  bool more_right = right.next(from_right);
  while (more_left || more_right) {
    if (!more_right || (more_left && from_left.first < from_right.first)) {
      run.append(from_left);
      more_left = left.next(from_left);
    } else {
      run.append(from_right);
      more_right = right.next(from_right);
    }
  }
  run.close();
  return run;
}

void CompletedIds::Run::append(Interval interval) {
  if (has_pending_ && pending_.last + 1 == interval.first) {
    pending_.last = interval.last;
    return;
  }
  if (has_pending_) {
    write(pending_);
  }
  pending_ = interval;
  has_pending_ = true;
}

void CompletedIds::Run::close() {
  if (has_pending_) {
    write(pending_);
    has_pending_ = false;
  }
  // Giving back a little would take the memory of a copy.
  if (bytes_.capacity() > bytes_.size() + bytes_.size() / 8) {
    bytes_.shrink_to_fit();
    samples_.shrink_to_fit();
  }
}

void CompletedIds::Run::reserve(std::size_t bytes, std::size_t samples) {
  bytes_.reserve(bytes);
  samples_.reserve(samples);
}

/// An interval is the distance from the end of the last one, with a flag in its first byte: whether the length follows.
void CompletedIds::Run::write(Interval interval) {
  if (count_++ % intervals_per_sample == 0) {
    samples_.push_back({last_, interval.first, bytes_.size()});
  }
  const std::uint64_t distance = interval.first - last_;
  const std::uint64_t length = interval.last - interval.first;
  const std::uint64_t rest = distance >> 6;
  bytes_.push_back(
      static_cast<std::uint8_t>((rest > 0 ? more_flag : 0U) | (length > 0 ? length_flag : 0U) | (distance & 0x3FU)));
  if (rest > 0) {
    write_varint(rest);
  }
  if (length > 0) {
    write_varint(length);
  }
  last_ = interval.last;
}

void CompletedIds::Run::write_varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    bytes_.push_back(static_cast<std::uint8_t>(value | 0x80));
  }
  bytes_.push_back(static_cast<std::uint8_t>(value));
}

bool CompletedIds::Run::contains(NodeId id) const noexcept {
  const auto after = std::upper_bound(samples_.begin(), samples_.end(), id,
                                      [](NodeId wanted, const Sample& sample) { return wanted < sample.first; });
  if (after == samples_.begin() || id > last_) {
    return false;
  }
  Reader reader(*this, static_cast<std::size_t>(after - samples_.begin()) - 1);
  Interval interval{};
  while (reader.next(interval) && interval.first <= id) {
    if (id <= interval.last) {
      return true;
    }
  }
  return false;
}

std::size_t CompletedIds::Run::memory_bytes() const noexcept {
  return bytes_.capacity() + samples_.capacity() * sizeof(Sample);
}

CompletedIds::Run::Reader::Reader(const Run& run, std::size_t sample) noexcept
    : run_(run),
      offset_(run.samples_.empty() ? 0 : run.samples_[sample].offset),
      last_(run.samples_.empty() ? 0 : run.samples_[sample].before) {}

bool CompletedIds::Run::Reader::next(Interval& interval) noexcept {
  if (offset_ == run_.bytes_.size()) {
    return false;
  }
  const auto varint = [this] {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint8_t byte = run_.bytes_[offset_++];
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) {
        return value;
      }
    }
  };
  const std::uint8_t first = run_.bytes_[offset_++];
  std::uint64_t distance = first & 0x3FU;
  if ((first & more_flag) != 0) {
    distance |= varint() << 6;
  }
  interval.first = last_ + distance;
  interval.last = interval.first + ((first & length_flag) != 0 ? varint() : 0);
  last_ = interval.last;
  return true;
}

}  // namespace chakra::detail
