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

/// Writes as many rows as there is place for, and their number if it is asked for.
void copy_rows(const std::vector<NodeIndex>& from, std::uint32_t* rows, std::size_t capacity, std::size_t* count) {
  if (capacity != 0) {
    need(rows, "rows");
    std::copy_n(from.begin(), std::min(capacity, from.size()), rows);
  }
  if (count != nullptr) {
    *count = from.size();
  }
}

void check_row_of(const Feeder& feeder, std::uint32_t row) { check_row(feeder.trace(), row); }

}  // namespace

chakra_feeder_options chakra_feeder_default_options(void) {
  return {CHAKRA_BOTH, CHAKRA_ORDER_ID, nullptr, 0, nullptr, nullptr};
}

chakra_feeder* chakra_feeder_create(const chakra_trace* trace, const chakra_feeder_options* options,
                                    chakra_error** error) {
  return made(error, [&] {
    need(trace, "trace");
    const chakra_feeder_options chosen = options == nullptr ? chakra_feeder_default_options() : *options;
    return new chakra_feeder{
        Feeder(trace->trace, {.dependencies = dependency_kind(chosen.dependencies), .order = issue_order(chosen)})};
  });
}

void chakra_feeder_free(chakra_feeder* feeder) { delete feeder; }

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

uint32_t chakra_feeder_peek(const chakra_feeder* feeder) { return feeder->feeder.peek().value_or(CHAKRA_NO_ROW); }

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
    copy_rows(ready, became_ready, capacity, count);
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
    copy_rows(feeder->feeder.ready_nodes(), rows, capacity, count);
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

void chakra_feeder_reset(chakra_feeder* feeder) { feeder->feeder.reset(); }
