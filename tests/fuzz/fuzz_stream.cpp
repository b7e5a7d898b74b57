// SPDX-License-Identifier: MIT
// Arbitrary bytes as an ET file, or as the plan of a graph that is made one: whatever the window, a stream gives nodes
// in the order in which a feeder over the whole trace does, and fails where that fails, with the same kind of error.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "chakra_core/errors.hpp"
#include "chakra_core/et_file.hpp"
#include "chakra_core/feeder.hpp"
#include "feeder/issue_key.hpp"
#include "io/json_et.hpp"
#include "message.hpp"
#include "require.hpp"
#include "scratch_directory.hpp"

namespace chakra {
namespace {

using namespace chakra::test;
using By = IssueOrder::By;

enum class End : std::uint8_t { all_fed, format, dependency, other };

/// Ids in the order in which they were fed, each completed before the next, and what ended that.
struct Fed {
  std::vector<NodeId> ids;
  End end = End::all_fed;
};

End kind_of_current_exception() {
  try {
    throw;
  } catch (const FormatError&) {
    return End::format;
  } catch (const DependencyError& error) {
    require(!error.nodes().empty(), "nodes of a cycle or missing parents are named");
    return End::dependency;
  } catch (const ChakraError&) {
    return End::other;
  }
}

void drain(Feeder& feeder, Fed& fed) {
  while (const auto row = feeder.pop()) {
    const FeederNode node = feeder.node(*row);
    require(node.id() == feeder.id(*row) && feeder.find(node.id()) == *row, "a node that is held is found");
    fed.ids.push_back(node.id());
    feeder.complete(*row);
  }
  require(feeder.done(), "without an error every node was fed");
}

/// Opens a feeder and runs it to its end.
template <class Open>
Fed feed(Open&& open) {
  Fed fed;
  try {
    Feeder feeder = open();
    drain(feeder, fed);
  } catch (const ChakraError&) {
    fed.end = kind_of_current_exception();
  }
  return fed;
}

/// Whatever else happens, no node comes twice.
void require_each_once(const std::vector<NodeId>& ids) {
  const std::unordered_set<NodeId> different(ids.begin(), ids.end());
  require(different.size() == ids.size(), "each node is fed once");
}

bool is_in_issue_order(const Trace& trace, const IssueOrder& order) {
  const detail::IssueKeys keys(order);
  for (NodeIndex row = 1; row < trace.size(); ++row) {
    if (keys.key(trace, row, row) < keys.key(trace, row - 1, row - 1)) {
      return false;
    }
  }
  return true;
}

void compare(const std::filesystem::path& file, const FeederOptions& options, bool in_issue_order) {
  TracePtr trace;
  const Fed whole = feed([&] {
    trace = load(file, {.threads = 1, .needed = options.dependencies});
    return Feeder(trace, options);
  });
  const bool breaks_promise = in_issue_order && (whole.end == End::all_fed || whole.end == End::dependency) && trace &&
                              options.order.by != By::file && !is_in_issue_order(*trace, options.order);
  for (const std::size_t window : {std::size_t{1}, std::size_t{2}, std::size_t{1000}}) {
    const Fed streamed = feed([&] {
      return Feeder::stream(file, options, {.window = window, .in_issue_order = in_issue_order, .threads = 1});
    });
    require_each_once(streamed.ids);
    if (breaks_promise) {
      require(streamed.end == End::format, "a broken promise is a FormatError");
      continue;
    }
    if (trace) {
      require(streamed.ids == whole.ids, "the order is that of the whole trace");
    }
    require(streamed.end == whole.end || (in_issue_order && !trace), "the end is that of the whole trace");
  }
}

/// Both feeders in step: with all in the window they agree on every state.
void compare_steps(const std::filesystem::path& file, const FeederOptions& options, std::string_view actions) {
  Feeder whole(load(file, {.threads = 1, .needed = options.dependencies}), options);
  Feeder stream = Feeder::stream(file, options, {.window = 1'000'000, .threads = 1});
  std::vector<NodeIndex> flying;
  for (const char action : actions) {
    require(whole.ready() == stream.ready() && whole.in_flight() == stream.in_flight(), "as many in each state");
    if (whole.ready() == 0 && flying.empty()) {
      break;
    }
    const auto byte = static_cast<unsigned char>(action);
    if (flying.empty() || (byte % 2 == 0 && whole.ready() > 0)) {
      require(whole.peek() == stream.peek(), "the same node comes first");
      const auto row = whole.pop();
      require(row == stream.pop(), "the same node is taken");
      flying.push_back(*row);
      continue;
    }
    std::swap(flying[byte / 4 % flying.size()], flying.back());
    if (byte % 4 == 1) {
      whole.push_back(flying.back());
      stream.push_back(flying.back());
    } else {
      std::vector<NodeIndex> one;
      std::vector<NodeIndex> other;
      whole.complete(flying.back(), one);
      stream.complete(flying.back(), other);
      require(one == other, "the same nodes become ready");
    }
    flying.pop_back();
  }
  require(whole.ready_nodes() == stream.ready_nodes(), "the same nodes are ready");
}

/// A file whose nodes, edges and keys the bytes say, four a node: parents may be absent, later, or in a circle. Some
/// nodes bring many more with them, so that the file has several blocks.
std::string make_file(std::string_view plan) {
  constexpr std::uint64_t first_of_many = 256;
  constexpr std::size_t many = 700;
  constexpr int most_times_many = 6;
  const auto parent = [](unsigned byte) -> std::uint64_t {
    return byte < 240 ? byte : first_of_many + (byte - 240) * std::uint64_t{275};
  };
  std::string bytes = record("");
  std::uint64_t next_of_many = first_of_many;
  int times_many = 0;
  for (std::size_t at = 0; at + 4 <= plan.size(); at += 4) {
    std::array<unsigned, 4> byte{};
    for (std::size_t i = 0; i < byte.size(); ++i) {
      byte[i] = static_cast<unsigned char>(plan[at + i]);
    }
    std::string node = number_field(1, byte[0] % 240);
    node += (byte[3] & 1) != 0 ? number_field(5, parent(byte[1])) : "";
    node += (byte[3] & 2) != 0 ? number_field(4, parent(byte[2])) : "";
    node += (byte[3] & 4) != 0 ? number_field(5, parent(byte[2])) : "";
    node += (byte[3] & 8) != 0 ? number_field(6, byte[2]) : "";
    node += (byte[3] & 16) != 0 ? attribute("comm_priority", number_field(9, byte[1])) : "";
    bytes += record(node);
    if ((byte[3] & 0xE0) == 0xE0 && times_many++ < most_times_many) {
      for (std::size_t i = 0; i < many; ++i) {
        bytes += record(number_field(1, next_of_many++) +
                        (byte[1] % 2 == 0 ? number_field(5, byte[0] % 240) : std::string()));
      }
    }
  }
  return bytes;
}

FeederOptions options_of(unsigned byte) {
  constexpr std::array<By, 4> orders = {By::id, By::start_time, By::file, By::attribute};
  FeederOptions options;
  options.dependencies = static_cast<DependencyKind>(byte / 4 % 3);
  options.order.by = orders[byte % 4];
  options.order.attribute = "comm_priority";
  options.order.smallest_first = byte % 2 == 0;
  return options;
}

void check(std::string_view bytes) {
  static const ScratchDirectory directory;
  const std::filesystem::path file = directory / "stream.et";
  const FeederOptions options = options_of(static_cast<unsigned char>(bytes[0]));
  const auto form = static_cast<unsigned char>(bytes[1]);
  const std::string_view rest = bytes.substr(2);
  const std::string content = form % 2 == 0 ? std::string(rest) : make_file(rest);
  write_file(file, content);
  if (io::looks_like_json(content)) {
    require(feed([&] { return Feeder::stream(file, options); }).end == End::format, "JSON is not streamed");
    return;
  }
  compare(file, options, form / 2 % 2 != 0);
  if (form / 4 % 2 != 0 && options.order.by != By::file) {
    try {
      compare_steps(file, options, rest);
    } catch (const ChakraError&) {
      // The file, or a circle: compare() looked at both.
    }
  }
}

}  // namespace
}  // namespace chakra

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 2) {
    chakra::check({reinterpret_cast<const char*>(data), size});
  }
  return 0;
}
