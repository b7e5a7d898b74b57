// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "feeder/issue_key.hpp"
#include "trace/trace_storage.hpp"

namespace chakra::detail {

/// What a pass over a file tells about the issue order of nodes that are not read yet, block by block.
class UnreadOrder {
 public:
  /// Reads the file once, in constant memory; for an order by id only as far into each record as its id.
  /// Throws FormatError, and ChakraError for an attribute that is not an integer.
  UnreadOrder(const std::shared_ptr<const RecordSource>& source, const std::string& name, const IssueOrder& order,
              unsigned threads);

  std::uint64_t nodes() const noexcept { return nodes_; }
  /// The first in the issue order of all nodes of this and later blocks (BlockReader::block_rows each); a key behind
  /// all others if there is none.
  IssueKey first_from(std::size_t block) const noexcept {
    return block < first_from_.size() ? first_from_[block] : behind_all;
  }
  std::size_t memory_bytes() const noexcept { return first_from_.capacity() * sizeof(IssueKey); }

  static constexpr IssueKey behind_all = {true, ~std::uint64_t{0}, ~NodeId{0}};

 private:
  void add(const IssueKey& key);
  void read_ids(const std::shared_ptr<const RecordSource>& source, const std::string& name);
  void read_blocks(const std::shared_ptr<const RecordSource>& source, const std::string& name, const IssueOrder& order,
                   unsigned threads);

  std::vector<IssueKey> first_from_;
  std::uint64_t nodes_ = 0;
};

}  // namespace chakra::detail
