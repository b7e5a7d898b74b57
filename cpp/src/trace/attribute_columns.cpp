// SPDX-License-Identifier: MIT
#include "trace/attribute_columns.hpp"

#include <utility>

#include "parallel/parallel_for.hpp"

namespace chakra::detail {

namespace {

/// The parts' values of one column; each part's are freed as soon as they are copied.
template <class Value, class Get>
AttributeColumn<Value> join(const std::vector<AttributePart>& parts, Get&& get) {
  if (parts.size() == 1 && parts.front().first_row == 0) {
    return std::move(get(*parts.front().columns));
  }
  AttributeColumn<Value> whole;
  std::size_t count = 0;
  for (const AttributePart& part : parts) {
    count += get(*part.columns).count();
  }
  whole.reserve(count);
  for (const AttributePart& part : parts) {
    whole.append(part.first_row, std::exchange(get(*part.columns), {}));
  }
  return whole;
}

AttributeColumn<std::uint32_t> renumbered(AttributeColumn<std::uint32_t> column,
                                          const std::vector<std::uint32_t>* strings) {
  if (strings != nullptr) {
    column.map([&](std::uint32_t id) { return (*strings)[id]; });
  }
  return column;
}

template <class Value>
AttributeColumn<Value> kept(const AttributeColumn<Value>& column, const std::vector<bool>& keep) {
  AttributeColumn<Value> result;
  NodeIndex to = 0;
  for (std::size_t row = 0; row < keep.size(); ++row) {
    if (!keep[row]) {
      continue;
    }
    if (const auto value = column.get(static_cast<NodeIndex>(row))) {
      result.append(to, *value);
    }
    ++to;
  }
  return result;
}

}  // namespace

void AttributeColumns::shrink_to_fit() {
  is_cpu_op.shrink_to_fit();
  pg_name.shrink_to_fit();
  involved_dim.shrink_to_fit();
  for (auto& column : integers) {
    column.shrink_to_fit();
  }
}

std::size_t AttributeColumns::memory_bytes() const noexcept {
  std::size_t bytes = is_cpu_op.memory_bytes() + pg_name.memory_bytes() + involved_dim.memory_bytes();
  for (const auto& column : integers) {
    bytes += column.memory_bytes();
  }
  return bytes;
}

AttributeColumns joined(const std::vector<AttributePart>& parts, unsigned threads) {
  AttributeColumns whole;
  constexpr std::size_t others = 3;
  parallel_for(integer_attribute_count + others, threads, [&](std::size_t column) {
    if (column == 0) {
      whole.is_cpu_op = join<std::uint8_t>(
          parts, [](AttributeColumns & from) -> auto& { return from.is_cpu_op; });
    } else if (column == 1 || column == 2) {
      const auto member = column == 1 ? &AttributeColumns::pg_name : &AttributeColumns::involved_dim;
      for (const AttributePart& part : parts) {
        part.columns->*member = renumbered(std::move(part.columns->*member), part.strings);
      }
      whole.*member = join<std::uint32_t>(
          parts, [&](AttributeColumns & from) -> auto& { return from.*member; });
    } else {
      const std::size_t integer = column - others;
      whole.integers[integer] = join<std::int64_t>(
          parts, [&](AttributeColumns & from) -> auto& { return from.integers[integer]; });
    }
  });
  return whole;
}

AttributeColumns kept_rows(const AttributeColumns& columns, const std::vector<bool>& keep) {
  AttributeColumns result;
  result.is_cpu_op = kept(columns.is_cpu_op, keep);
  result.pg_name = kept(columns.pg_name, keep);
  result.involved_dim = kept(columns.involved_dim, keep);
  for (std::size_t i = 0; i < integer_attribute_count; ++i) {
    result.integers[i] = kept(columns.integers[i], keep);
  }
  return result;
}

}  // namespace chakra::detail
