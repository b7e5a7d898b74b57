// SPDX-License-Identifier: MIT
// Whatever the bytes: strict reads or throws FormatError; recover reads whatever has the list of records, without
// throwing, the same for every window.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "chakra_core/errors.hpp"
#include "io/byte_stream.hpp"
#include "require.hpp"

namespace chakra::test {

/// What a file's fuzz target knows of its reader: read(stream, on_error, window), check(trace), same_records(a, b).
template <class Reader>
class PytorchReaderFuzz {
 public:
  static void run(const std::string& text, bool has_list) {
    const auto strict = read(text, OnError::strict, 64);
    const auto recovered = read(text, OnError::recover, 64);
    const auto wide = read(text, OnError::recover, 4096);
    require(recovered.has_value() == wide.has_value(), "recover does not depend on the window");
    if (has_list) {
      require(recovered.has_value(), "recover does not throw");
    }
    if (recovered) {
      Reader::check(*recovered);
      require(same(*recovered, *wide), "recover does not depend on the window");
    }
    if (strict) {
      Reader::check(*strict);
      require(recovered.has_value(), "recover reads what strict reads");
      if (recovered->report.entries.size() == strict->report.entries.size()) {
        require(same(*strict, *recovered), "recover leaves a sound trace as it is");
      }
    }
  }

 private:
  static auto read(const std::string& text, OnError on_error, std::size_t window)
      -> std::optional<typename Reader::Trace> {
    const auto stream = io::make_memory_stream(text);
    try {
      return Reader::read(*stream, on_error, window);
    } catch (const FormatError&) {
      return std::nullopt;
    }
  }

  static bool same(const typename Reader::Trace& a, const typename Reader::Trace& b) {
    bool equal = a.report.entries.size() == b.report.entries.size();
    for (std::size_t i = 0; equal && i < a.report.entries.size(); ++i) {
      const auto& left = a.report.entries[i];
      const auto& right = b.report.entries[i];
      equal = left.what == right.what && left.count == right.count && left.first == right.first;
    }
    return equal && Reader::same_records(a, b);
  }
};

}  // namespace chakra::test
