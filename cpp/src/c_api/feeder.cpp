// SPDX-License-Identifier: MIT
#include "chakra_core/feeder.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "c_api/dependency_kind.hpp"
#include "c_api/handles.hpp"
#include "c_api/value.hpp"
#include "chakra_core/errors.hpp"

using namespace chakra;
using namespace chakra::c_api;

struct chakra_feeder {
  Feeder feeder;
  chakra_trace shown = {};  ///< by chakra_feeder_node()
};

namespace {

IssueOrder issue_order(const chakra_feeder_options& options) {
  IssueOrder order;
  switch (options.order) {
    case CHAKRA_ORDER_ID:
      order.by = IssueOrder::By::id;
      return order;
    case CHAKRA_ORDER_START_TIME:
      order.by = IssueOrder::By::start_time;
      return order;
    case CHAKRA_ORDER_FILE:
      order.by = IssueOrder::By::file;
      return order;
    case CHAKRA_ORDER_ATTRIBUTE:
      need(options.attribute, "attribute");
      order.by = IssueOrder::By::attribute;
      order.attribute = options.attribute;
      order.smallest_first = options.smallest_first != 0;
      return order;
    case CHAKRA_ORDER_COMPARATOR:
      if (options.before == nullptr) {
        throw Failure(CHAKRA_ERROR_ARGUMENT, "CHAKRA_ORDER_COMPARATOR needs the function `before`");
      }
      order.by = IssueOrder::By::comparator;
      order.before = [before = options.before, context = options.context](NodeIndex a, NodeIndex b) {
        return before(context, a, b) != 0;
      };
      return order;
  }
  throw Failure(CHAKRA_ERROR_ARGUMENT, "unknown order " + std::to_string(static_cast<int>(options.order)));
}

/// Runs `change` on the feeder; what it throws about a node is a wrong state.
template <class Change>
chakra_status changed(chakra_feeder* feeder, chakra_error** error, Change&& change) noexcept {
  return guarded(error, [&] {
    need(feeder, "feeder");
    try {
      change(feeder->feeder);
    } catch (const DependencyError&) {
      throw;
    } catch (const ChakraError& failure) {
      throw Failure(CHAKRA_ERROR_STATE, failure.what());
    }
    return CHAKRA_OK;
  });
}

/// Writes as many rows or ids as there is place for, and their number if it is asked for.
template <class Number>
void copy_numbers(const std::vector<Number>& from, Number* to, std::size_t capacity, std::size_t* count) {
  if (capacity != 0) {
    need(to, "the place for the result");
    std::copy_n(from.begin(), std::min(capacity, from.size()), to);
  }
  if (count != nullptr) {
    *count = from.size();
  }
}

/// A row that no state could make right. Which rows a stream will have is known to it alone.
void check_row_of(const Feeder& feeder, std::uint32_t row) {
  if (!feeder.is_stream()) {
    check_row(feeder.trace(), row);
  }
}

/// Runs `look` on the feeder; what it throws about a node is a wrong state.
template <class Look>
void look_at(const chakra_feeder* feeder, std::uint32_t row, Look&& look) {
  need(feeder, "feeder");
  check_row_of(feeder->feeder, row);
  try {
    look(feeder->feeder);
  } catch (const FormatError&) {
    throw;
  } catch (const ChakraError& failure) {
    throw Failure(CHAKRA_ERROR_STATE, failure.what());
  }
}

FeederOptions feeder_options(const chakra_feeder_options* options) {
  const chakra_feeder_options chosen = options == nullptr ? chakra_feeder_default_options() : *options;
  return {.dependencies = dependency_kind(chosen.dependencies), .order = issue_order(chosen)};
}

StreamOptions stream_options(const chakra_stream_options* reading) {
  const chakra_stream_options chosen = reading == nullptr ? chakra_stream_default_options() : *reading;
  return {.window = chosen.window, .in_issue_order = chosen.in_issue_order != 0, .threads = chosen.threads};
}

}  // namespace

chakra_feeder_options chakra_feeder_default_options(void) {
  return {CHAKRA_BOTH, CHAKRA_ORDER_ID, nullptr, 0, nullptr, nullptr};
}

chakra_feeder* chakra_feeder_create(const chakra_trace* trace, const chakra_feeder_options* options,
                                    chakra_error** error) {
  return made(error, [&] {
    need(trace, "trace");
    return new chakra_feeder{Feeder(trace->trace, feeder_options(options))};
  });
}

chakra_stream_options chakra_stream_default_options(void) {
  const StreamOptions chosen;
  return {chosen.window, chosen.in_issue_order ? 1 : 0, chosen.threads};
}

chakra_feeder* chakra_feeder_stream(const char* path, const chakra_feeder_options* options,
                                    const chakra_stream_options* reading, chakra_error** error) {
  return made(error, [&] {
    need(path, "path");
    return new chakra_feeder{Feeder::stream(path, feeder_options(options), stream_options(reading))};
  });
}

void chakra_feeder_free(chakra_feeder* feeder) { delete feeder; }

const chakra_trace* chakra_feeder_node(chakra_feeder* feeder, uint32_t row, uint32_t* row_in_trace,
                                       chakra_error** error) {
  return made(error, [&]() -> const chakra_trace* {
    need(row_in_trace, "row_in_trace");
    look_at(feeder, row, [&](const Feeder& it) {
      FeederNode node = it.node(row);
      feeder->shown.trace = std::move(node.trace);
      *row_in_trace = node.row;
    });
    return &feeder->shown;
  });
}

chakra_status chakra_feeder_id(const chakra_feeder* feeder, uint32_t row, uint64_t* id, chakra_error** error) {
  return guarded(error, [&] {
    need(id, "id");
    look_at(feeder, row, [&](const Feeder& it) { *id = it.id(row); });
    return CHAKRA_OK;
  });
}

uint32_t chakra_feeder_find(const chakra_feeder* feeder, uint64_t id) {
  return feeder->feeder.find(id).value_or(CHAKRA_NO_ROW);
}

chakra_status chakra_feeder_parents(const chakra_feeder* feeder, uint32_t row, chakra_dependencies kind, uint64_t* ids,
                                    size_t capacity, size_t* count, chakra_error** error) {
  return guarded(error, [&] {
    const DependencyKind wanted = dependency_kind(kind);
    look_at(feeder, row, [&](const Feeder& it) {
      const FeederNode node = it.node(row);
      copy_numbers(node.trace->parent_ids(node.row, wanted), ids, capacity, count);
    });
    return CHAKRA_OK;
  });
}

chakra_status chakra_feeder_pop(chakra_feeder* feeder, uint32_t* row, chakra_error** error) {
  return guarded(error, [&] {
    need(feeder, "feeder");
    need(row, "row");
    const auto popped = feeder->feeder.pop();
    if (!popped) {
      return CHAKRA_ABSENT;
    }
    *row = *popped;
    return CHAKRA_OK;
  });
}

chakra_status chakra_feeder_pop_all(chakra_feeder* feeder, uint32_t* rows, size_t capacity, size_t* count,
                                    chakra_error** error) {
  return guarded(error, [&] {
    need(feeder, "feeder");
    need(count, "count");
    if (capacity != 0) {
      need(rows, "rows");
    }
    *count = 0;
    while (*count < capacity) {
      const auto popped = feeder->feeder.pop();
      if (!popped) {
        break;
      }
      rows[(*count)++] = *popped;
    }
    return *count == 0 ? CHAKRA_ABSENT : CHAKRA_OK;
  });
}

uint32_t chakra_feeder_peek(const chakra_feeder* feeder) {
  try {
    return feeder->feeder.peek().value_or(CHAKRA_NO_ROW);
  } catch (...) {
    return CHAKRA_NO_ROW;  // a stream that cannot be read on; pop() says why
  }
}

chakra_status chakra_feeder_take(chakra_feeder* feeder, uint32_t row, chakra_error** error) {
  return changed(feeder, error, [&](Feeder& it) {
    check_row_of(it, row);
    it.take(row);
  });
}

chakra_status chakra_feeder_push_back(chakra_feeder* feeder, uint32_t row, chakra_error** error) {
  return changed(feeder, error, [&](Feeder& it) {
    check_row_of(it, row);
    it.push_back(row);
  });
}

chakra_status chakra_feeder_complete(chakra_feeder* feeder, uint32_t row, chakra_error** error) {
  return changed(feeder, error, [&](Feeder& it) {
    check_row_of(it, row);
    it.complete(row);
  });
}

chakra_status chakra_feeder_complete_into(chakra_feeder* feeder, uint32_t row, uint32_t* became_ready, size_t capacity,
                                          size_t* count, chakra_error** error) {
  return changed(feeder, error, [&](Feeder& it) {
    check_row_of(it, row);
    std::vector<NodeIndex> ready;
    it.complete(row, ready);
    copy_numbers(ready, became_ready, capacity, count);
  });
}

chakra_status chakra_feeder_complete_many(chakra_feeder* feeder, const uint32_t* rows, size_t count,
                                          chakra_error** error) {
  return changed(feeder, error, [&](Feeder& it) {
    if (count != 0) {
      need(rows, "rows");
    }
    const std::span<const NodeIndex> all(rows, count);
    for (const NodeIndex row : all) {
      check_row_of(it, row);
    }
    it.complete_many(all);
  });
}

size_t chakra_feeder_ready(const chakra_feeder* feeder) { return feeder->feeder.ready(); }
size_t chakra_feeder_in_flight(const chakra_feeder* feeder) { return feeder->feeder.in_flight(); }
size_t chakra_feeder_remaining(const chakra_feeder* feeder) { return feeder->feeder.remaining(); }

chakra_status chakra_feeder_ready_rows(const chakra_feeder* feeder, uint32_t* rows, size_t capacity, size_t* count,
                                       chakra_error** error) {
  return guarded(error, [&] {
    need(feeder, "feeder");
    copy_numbers(feeder->feeder.ready_nodes(), rows, capacity, count);
    return CHAKRA_OK;
  });
}

chakra_status chakra_feeder_blocked(const chakra_feeder* feeder, size_t most, char* buffer, size_t capacity,
                                    size_t* size, int* deadlock, chakra_error** error) {
  return guarded(error, [&] {
    need(feeder, "feeder");
    const Blockage blockage = feeder->feeder.blocked(most);
    copy_text(blockage.text, buffer, capacity, size);
    if (deadlock != nullptr) {
      *deadlock = blockage.is_deadlock() ? 1 : 0;
    }
    return CHAKRA_OK;
  });
}

chakra_stream_statistics chakra_feeder_statistics(const chakra_feeder* feeder) {
  const StreamStatistics found = feeder->feeder.statistics();
  return {found.nodes_read, found.most_held, found.forward_references, found.read_on_for_dependencies,
          found.read_on_for_order};
}

chakra_status chakra_feeder_reset(chakra_feeder* feeder, chakra_error** error) {
  return guarded(error, [&] {
    need(feeder, "feeder");
    feeder->feeder.reset();
    return CHAKRA_OK;
  });
}
