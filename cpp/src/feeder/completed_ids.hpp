// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "chakra_core/node_type.hpp"
#include "feeder/id_map.hpp"

namespace chakra::detail {

/// A growing set of ids in little memory: intervals, as differences of few bytes. Ids that lie side by side take next
/// to nothing, ids that are a thousand apart about 2 bytes each, random ones about 7. The newest wait in a list while
/// they ascend, the others among them in a hash table; when these are many, they become a sorted run. Runs of like size
/// are merged, so that there are few to look into.
class CompletedIds {
 public:
  /// The id must not be in the set.
  void insert(NodeId id);
  bool contains(NodeId id) const noexcept;
  void clear();
  std::size_t memory_bytes() const noexcept;

 private:
  struct Interval {
    NodeId first;
    NodeId last;
  };

  /// Ascending intervals with gaps between.
  class Run {
   public:
    /// Intervals must come in ascending order; one that goes on where the last one ends becomes part of it.
    void append(Interval interval);
    /// Call after the last append().
    void close();
    bool contains(NodeId id) const noexcept;
    std::size_t memory_bytes() const noexcept;
    std::size_t size_bytes() const noexcept { return bytes_.size(); }
    std::size_t sample_count() const noexcept { return samples_.size(); }
    void reserve(std::size_t bytes, std::size_t samples);

    /// Reads the intervals of a run one after another.
    class Reader {
     public:
      explicit Reader(const Run& run, std::size_t sample = 0) noexcept;
      /// Whether there was one more.
      bool next(Interval& interval) noexcept;

     private:
      const Run& run_;
      std::size_t offset_;
      NodeId last_;
    };

   private:
    /// Where reading may begin: every so many intervals.
    struct Sample {
      NodeId before;  ///< what the first difference counts from
      NodeId first;   ///< of the interval
      std::size_t offset;
    };

    void write(Interval interval);
    void write_varint(std::uint64_t value);

    std::vector<std::uint8_t> bytes_;
    std::vector<Sample> samples_;
    std::size_t count_ = 0;
    NodeId last_ = 0;  ///< of the last interval written
    Interval pending_{};
    bool has_pending_ = false;
  };

  std::size_t recent() const noexcept { return ascending_.size() + out_of_order_.size(); }
  void settle();
  static Run merged(const Run& one, const Run& other);

  std::vector<Interval> ascending_;
  IdMap out_of_order_;     ///< newest ids below the end of those
  std::vector<Run> runs_;  ///< the largest first
};

}  // namespace chakra::detail
