// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/trace_storage.hpp"

namespace chakra::detail {

/// Node messages of a trace's rows, one after another, without memory of its own for each.
class RecordEncoder {
 public:
  explicit RecordEncoder(const TraceStorage& storage) : storage_(storage) {}

  /// The whole message, without the length in front; valid until the next call. A record that was read and not changed
  /// is a view of the bytes that were read.
  std::string_view record(NodeIndex row);

 private:
  std::string_view built_record(NodeIndex row, std::string_view tail);

  const TraceStorage& storage_;
  std::string message_;
  std::vector<char> built_;  ///< grows to the largest record and stays so
  std::vector<NodeId> data_;
  std::vector<NodeId> ctrl_;
};

}  // namespace chakra::detail
